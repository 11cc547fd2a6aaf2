"""The task's definitions, against an independent reading of MuJoCo's own state."""

import os
import re
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.catalogue import robot_names
from robots.errors import InvalidRobotError
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper
from robots.stance import start_positions
from tests.robots.stepping import angles_of, begun, check_whole_and_stepped, described, run_episodes

PAPERS = [name for name in robot_names() if name != "quadruped"]  # whose observations are the paper's


def _step_physics(robot: Robot, data: mujoco.MjData) -> None:
    """A physics step with Bullet's drag and its Ant's ankles, by MuJoCo's own functions alone."""
    model, k = robot.model, robot.description.drag
    if not k:
        mujoco.mj_step(model, data)
        return
    mujoco.mj_step1(model, data)
    for body in range(1, model.nbody):
        twist, turn = np.zeros(6), data.ximat[body].reshape(3, 3)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, twist, 0)
        w, v = twist[:3], twist[3:]
        force = -k * model.body_mass[body] * v * (1 + np.linalg.norm(v))
        inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
        torque = -k * inertia @ w * (1 + np.linalg.norm(w))
        mujoco.mj_applyFT(model, data, force, torque, data.xipos[body], body, data.qfrc_passive)
    mujoco.mj_step2(model, data)
    for joint, rate in robot.description.position_rates.items():
        data.joint(joint).qpos -= (1 - rate) * model.opt.timestep * data.joint(joint).qvel


def _speeds(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """How fast the positions of the joints change, (j,)."""
    rates = robot.description.position_rates
    return np.array([rates.get(name, 1) * data.joint(name).qvel[0] for name in robot.description.joints])


def _walk(robot: Robot, steps: int = 100):
    """Drive a robot with random actions, and mirror every substep in plain MuJoCo."""
    stepper, data = begun(robot, 3), mujoco.MjData(robot.model)
    data.qpos[:] = stepper.data.qpos
    rng, span = np.random.default_rng(3), robot.model.actuator_ctrlrange
    for _ in range(steps):
        action = rng.uniform(-1.5, 1.5, robot.action_dim).astype(np.float32)
        before = data.qpos.copy()
        data.ctrl[:] = span.mean(axis=1) + np.ptp(span, axis=1) / 2 * np.clip(action, -1, 1)
        for _ in range(robot.description.substeps):
            _step_physics(robot, data)
        stepper.step(action)
        yield stepper, data, before, np.clip(action, -1, 1).astype(float)


def _torso(robot: Robot, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The torso's position, roll, pitch and yaw, and velocity, as MuJoCo derives them from a state."""
    data, velocity = mujoco.MjData(robot.model), np.empty(6)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(robot.model, data)
    torso = data.body(robot.description.torso)
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, torso.id, velocity, 0)
    return torso.xpos.copy(), angles_of(torso), velocity[3:]


def _position(robot: Robot, qpos: np.ndarray) -> np.ndarray:
    """Where the robot is: the mean of its points, each turned with its body, or the torso's place, (3,)."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(robot.model, data)
    position = robot.description.position or {robot.description.torso: [(0.0, 0.0, 0.0)]}
    points = [
        data.body(body).xpos + data.body(body).xmat.reshape(3, 3) @ np.array(point)
        for body, points in position.items()
        for point in points
    ]
    return np.mean(points, axis=0)


def _floor_contacts(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """Which feet touch the floor, from MuJoCo's contact list."""
    floor = robot.model.geom("floor").id
    touching = {g for c in data.contact for g in (c.geom1, c.geom2) if floor in (c.geom1, c.geom2)}
    feet = robot.description.feet.values()
    return np.array([any(robot.model.geom(g).id in touching for g in soles) for soles in feet])


def _rescaled(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    joints = [robot.model.joint(name) for name in robot.description.joints]
    return np.array([2 * (data.joint(j.name).qpos[0] - j.range.mean()) / np.ptp(j.range) for j in joints])


def _alive(robot: Robot, position: np.ndarray, angles: np.ndarray, contacts: np.ndarray) -> bool:
    """The facts of each robot, in other words than the package's."""
    height, pitch = position[2], abs(angles[1])
    if robot.name == "ant":
        return bool(height > 0.26)
    if robot.name == "half_cheetah":
        return bool(pitch < 1 and not any(contacts[[1, 2, 4, 5]]))
    if robot.name == "hexapod":
        return bool(np.arccos(Rotation.from_euler("xyz", angles).as_matrix()[2, 2]) < 1.25)
    return bool(height > 0.8 and pitch < 1)


def test_physics_is_mujocos_bit_for_bit(robot: Robot) -> None:
    for stepper, data, *_ in _walk(robot):
        if robot.description.drag:  # which adds up in another order, and errors grow
            np.testing.assert_allclose(stepper.data.qpos, data.qpos, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(stepper.data.qvel, data.qvel, rtol=1e-4, atol=1e-3)
        else:
            assert np.array_equal(stepper.data.qpos, data.qpos)
            assert np.array_equal(stepper.data.qvel, data.qvel)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('integrator="implicitfast"', 'integrator="Euler"'),
        ('integrator="implicitfast"', 'integrator="RK4"'),
        ('integrator="implicitfast"', 'integrator="discrete"'),
        ('island="disable"', 'sleep="enable"'),
    ],
)
def test_other_physics_are_mujocos_too(old: str, new: str, ant: Robot) -> None:
    without_drag = re.sub(r"drag: .*|position_rates:\n( .*\n)+", "", ant.yaml)
    robot = robot_from_text(ant.xml.replace(old, new), without_drag, origin=new).with_episode_steps(60)
    assert robot.xml != ant.xml
    for stepper, data, *_ in _walk(robot, steps=40):
        assert np.array_equal(stepper.data.qpos, data.qpos)
    whole, single = check_whole_and_stepped(robot, robot.controller.initial(np.random.default_rng(1)))
    assert np.array_equal(whole.data.qpos, single.data.qpos)


@pytest.mark.parametrize("robot", PAPERS, indirect=True)
def test_observation_and_measures_are_as_defined(robot: Robot) -> None:
    feet, start = list(robot.description.feet), None
    touched = np.zeros(len(feet))
    for steps, (stepper, data, before, _) in enumerate(_walk(robot), start=1):
        start = _torso(robot, before, np.zeros_like(data.qvel))[0] if start is None else start
        (_, _, z), (roll, pitch, yaw), velocity = _torso(robot, data.qpos, data.qvel)
        x, y, _ = _position(robot, data.qpos)
        bearing = np.arctan2(0 - y, 1000 - x) - yaw
        velocity = Rotation.from_euler("z", -yaw).apply(velocity)
        contacts = _floor_contacts(robot, data)
        expected = [z - start[2], np.sin(bearing), np.cos(bearing), *(0.3 * velocity), roll, pitch]
        expected += [
            v for pair in zip(_rescaled(robot, data), 0.1 * _speeds(robot, data), strict=True) for v in pair
        ]
        expected = np.clip([*expected, *contacts], -5, 5)
        np.testing.assert_allclose(stepper.state.observation, expected, atol=1e-5)
        touched += contacts
        shares = dict(zip(feet, touched / steps, strict=True))
        assert stepper.measures.tolist() == [shares[foot] for foot in robot.description.measures]
        assert stepper.tally.steps == steps
    assert touched.sum() > 10, "the walk never touched the ground: contacts went untested"


@pytest.mark.parametrize("robot", PAPERS, indirect=True)
def test_reward_is_as_defined_and_adds_up(robot: Robot) -> None:
    total, at_limit_ever, states = 0.0, 0, set()
    for stepper, data, before, action in _walk(robot):
        at_limit = np.count_nonzero(np.abs(_rescaled(robot, data)) > 0.99)
        torso, angles, _ = _torso(robot, data.qpos, data.qvel)
        (x0, y0, _), (x, y, _) = _position(robot, before), _position(robot, data.qpos)
        alive = _alive(robot, torso, angles, _floor_contacts(robot, data))
        approach = np.hypot(1000 - x0, y0) - np.hypot(1000 - x, y)
        if robot.name == "hexapod":
            expected = approach  # in metres, and nothing else
        else:
            expected = 1.0 if alive else -1.0
            expected += approach / 0.0165
            expected += (
                -2.0 * np.abs(action * 0.1 * _speeds(robot, data)).mean() - 0.1 * np.square(action).mean()
            )
            expected += -0.1 * at_limit
        assert stepper.tally.reward == pytest.approx(expected, abs=1e-6)
        ends = not alive and robot.name != "half_cheetah"
        assert stepper.over == ends
        total += stepper.tally.reward
        at_limit_ever += at_limit
        states.add(alive)
    assert stepper.tally.objective == pytest.approx(total, abs=1e-9)
    assert at_limit_ever > 0 or robot.name == "hexapod"  # whose servos are told no such positions
    assert True in states
    # which have tests of their own
    assert False in states or robot.name in ("ant", "half_cheetah", "hexapod")


@pytest.mark.parametrize(
    "change", [('integrator="implicitfast"', 'integrator="RK4"'), ('island="disable"', 'sleep="enable"')]
)
def test_drag_needs_steps_in_halves(change: tuple[str, str], ant: Robot) -> None:
    with pytest.raises(InvalidRobotError, match="drag and position_rates need the integrator"):
        robot_from_text(ant.xml.replace(*change), ant.yaml, origin="my.yaml")


def test_parts_that_are_lost_do_not_count_for_the_position() -> None:
    robot = load_robot("ant")

    def lose_a_leg(spec: mujoco.MjSpec) -> None:
        spec.delete(spec.body("front_left_thigh"))

    for one, points in ((robot, 22), (robot.modified("three legs", lose_a_leg), 18)):
        stepper = begun(one, 1)
        stepper.data.qpos[0] += 1.0
        stepper.step(np.zeros(8))
        assert stepper.progress == pytest.approx((points - 1) / points, abs=0.01)


def test_reset_noise_is_within_bounds_and_depends_on_the_seed(robot: Robot) -> None:
    stepper, starts = Stepper(robot), []
    for seed in range(40):
        stepper.reset(seed)
        starts.append((stepper.data.qpos.copy(), stepper.data.qvel.copy()))
    qpos, qvel = map(np.array, zip(*starts, strict=True))
    columns = [robot.model.joint(name).qposadr[0] for name in robot.description.joints]
    first, noise = start_positions(robot), robot.description.reset_joint_noise
    angles = qpos[:, columns] - first[columns]
    assert np.all(np.abs(angles) <= noise)
    assert angles.std() == pytest.approx(noise / np.sqrt(3), rel=0.1)
    assert len(np.unique(angles)) == angles.size
    assert np.all(qvel == 0)
    others = np.delete(np.arange(robot.model.nq), columns)
    np.testing.assert_array_equal(qpos[:, others], np.tile(first[others], (40, 1)))


def test_a_planar_robot_upside_down_looks_back() -> None:
    hopper = load_robot("hopper")
    stepper = begun(hopper)
    stepper.data.qpos[:3] = [2.0, 3.0, 2.5]
    stepper.data.qvel[0] = 4.0
    stepper.step(stepper.state.action)
    data = stepper.posed_data()
    _, (roll, pitch, yaw), velocity = _torso(hopper, data.qpos, data.qvel)
    assert abs(yaw) == pytest.approx(np.pi)
    assert stepper.state.observation[2] == pytest.approx(-1)  # the target is behind
    assert stepper.state.observation[3] == pytest.approx(-0.3 * velocity[0], abs=1e-5)
    assert stepper.state.observation[6] == pytest.approx(abs(roll))
    assert stepper.state.observation[7] == pytest.approx(pitch, abs=1e-6)


def test_a_half_cheetah_lives_on_after_falling() -> None:
    stepper = begun(load_robot("half_cheetah").with_episode_steps(120))
    stepper.data.qpos[2] = 1.4  # its nose down
    rewards = []
    while not stepper.over:
        stepper.step(stepper.state.action)
        rewards.append(stepper.tally.reward)
    assert stepper.tally.steps == 120
    assert min(rewards) < -0.5
    assert not stepper.tally.terminated


def test_a_half_cheetah_must_not_touch_the_floor_with_its_shins() -> None:
    cheetah = load_robot("half_cheetah")
    high, low = begun(cheetah), begun(cheetah)
    for stepper, height in ((high, 0.0), (low, -0.42)):
        stepper.data.qpos[1] = height
        stepper.step(np.zeros(6))
    assert not high.state.touching.any()
    assert low.state.touching[[1, 4]].any()
    assert abs(low.state.observation[7]) < 1
    assert high.tally.reward - low.tally.reward > 1.5


@pytest.mark.parametrize(("column", "value"), [(0, np.nan), (9, np.inf), (20, 1e12), (20, np.nan)])
def test_a_diverged_state_ends_the_episode(ant: Robot, column: int, value: float, capfd) -> None:
    stepper = begun(ant)
    assert (stepper.data.qpos.size, stepper.data.qvel.size) == (15, 14)
    part, index = (stepper.data.qpos, column) if column < 15 else (stepper.data.qvel, column - 15)
    part[index] = value
    assert stepper.step(np.zeros(8))
    assert stepper.tally.diverged
    assert stepper.over
    assert capfd.readouterr().err == "", "MuJoCo's warning reached the terminal"
    fresh = Stepper(ant)
    for either in (stepper, fresh):
        either.reset(7)
        either.step(np.full(8, 0.3))
    assert np.array_equal(stepper.state.row, fresh.state.row)


def test_kernels_agree_with_their_python() -> None:
    """The same short episode, compiled and with compilation switched off."""
    code = (
        "import numpy as np; from robots.robot import load_robot\n"
        "from robots.simulation.stepper import Stepper\n"
        "robot = load_robot('ant').with_controller('mlp-28-4-8').with_episode_steps(6)\n"
        "stepper = Stepper(robot)\n"
        "stepper.run(robot.controller.initial(np.random.default_rng(0)), 3)\n"
        "found = [stepper.tally.objective, *stepper.measures, stepper.tally.energy, stepper.progress]\n"
    )
    compiled: dict[str, list[float]] = {}
    exec(code, compiled)
    plain = subprocess.run(
        [sys.executable, "-c", f"{code}print(*found)"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    np.testing.assert_allclose(np.array(plain.split(), float), compiled["found"], rtol=1e-3, atol=1e-3)


def _with_alive(robot: Robot, **changes: object) -> Robot:
    """A robot that is alive under other conditions."""
    return described(robot, alive=robot.description.alive.model_copy(update=changes))


@pytest.mark.parametrize("axis", ["x", "y", "xy"])
def test_a_robot_that_leans_too_far_has_fallen(ant: Robot, axis: str) -> None:
    leaning = _with_alive(ant, max_tilt=1.0, min_height=None)
    direction = np.array([[*{"x": (1, 0), "y": (0, 1), "xy": (0.6, 0.8)}[axis], 0]])
    for angle, falls in ((0.9, False), (1.1, True), (2.5, True)):
        stepper = begun(leaning)
        stepper.data.qpos[2] = 3.0  # in the air
        stepper.data.qpos[3:7] = Rotation.from_rotvec(angle * direction[0]).as_quat(scalar_first=True)
        stepper.step(stepper.state.action)
        assert bool(stepper.tally.terminated) == falls, angle


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_who_forfeits_loses_what_it_gained_but_keeps_what_it_lost(ant: Robot, speed: float) -> None:
    stepper = begun(_with_alive(ant, forfeits=True))
    total = 0.0
    for _ in range(5):
        stepper.data.qpos[0] += speed
        stepper.step(stepper.state.action)
        total += stepper.tally.reward
    assert total == pytest.approx(stepper.tally.objective)
    assert np.sign(total) == np.sign(speed)
    stepper.data.qpos[2] = 0.1
    stepper.step(stepper.state.action)
    assert stepper.tally.terminated
    assert total + stepper.tally.reward == pytest.approx(stepper.tally.objective, abs=1e-9)
    assert (stepper.tally.objective == 0) == (speed > 0)


def test_an_episode_says_where_it_was_midway_and_where_it_ended(ant: Robot, controllers: np.ndarray) -> None:
    robot = ant.with_episode_steps(100)
    controllers = np.concatenate([0 * controllers[:2], controllers[:4]])  # without action it falls at once
    episodes = run_episodes(robot, controllers)
    short = run_episodes(ant.with_episode_steps(40), controllers)
    assert 0 < episodes.fell.sum() < len(controllers), "some fall, some do not: or this test shows nothing"
    np.testing.assert_array_equal(episodes.fell, episodes.steps < 100)
    np.testing.assert_array_equal(episodes.midway, short.distances)
    for i, parameters in enumerate(controllers[:4]):
        stepper = begun(robot, i)
        while not stepper.over:
            stepper.drive(parameters)
        data = stepper.posed_data()
        torso = data.body(robot.description.torso)
        assert episodes.lateral[i] == pytest.approx(torso.xpos[1])
        assert episodes.heading[i] == pytest.approx(angles_of(torso)[2])


def test_targets_of_servos_change_no_faster_than_the_robot_declares() -> None:
    known, most = load_robot("hexapod"), 3.0  # [rad/s]
    robot = robot_from_text(known.xml, f"{known.yaml}\ntarget_rate: {most}\n", origin="it")
    stepper, rng, told = begun(robot, 3), np.random.default_rng(3), []
    for number in range(50):
        asked = rng.uniform(-1, 1, robot.action_dim)
        stepper.step(asked.astype(np.float32))
        span = robot.model.actuator_ctrlrange
        wanted = span.mean(axis=1) + np.ptp(span, axis=1) / 2 * asked
        allowed = np.inf if number == 0 else most * robot.control_step
        expected = told[-1] + np.clip(wanted - told[-1], -allowed, allowed) if told else wanted
        told.append(stepper.data.ctrl.copy())
        np.testing.assert_allclose(told[-1], expected, atol=1e-5)
    assert np.ptp(told, axis=0).max() > 2 * most * robot.control_step
