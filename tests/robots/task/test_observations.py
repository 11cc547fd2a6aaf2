"""What controllers see: terms, IMU, delay and history, and the observer that computes the same."""

import mujoco
import numpy as np
import pytest

import surefoot
from robots.errors import InvalidRobotError, InvalidValueError, UnknownNameError
from robots.link.observer import Observer
from robots.robot import Faults, Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper
from robots.task.observations import TERMS
from tests.robots.stepping import begun

ALL = """{preset: proprioception, imu: imu, terms: [accelerometer, command, heading_error, contact,
  bearing, velocity, height, roll, pitch, {term: clock, period: 0.5},
  {term: joint_speed, delay: 2, history: 3, scale: 2.0},
  {term: last_action, delay: 1, scale: 0.5}]}"""
PAPER = "{preset: paper, imu: imu, terms: [accelerometer]}"


def seeing(robot: Robot, observations: str) -> Robot:
    """The robot with a site for an IMU and other observations."""
    end = robot.xml.index(">", robot.xml.index(f'<body name="{robot.description.torso}"')) + 1
    site = '<site name="imu" pos="0.05 0.02 0.03" quat="0.8 0.2 -0.4 0.4"/>'
    xml = robot.xml[:end] + site + robot.xml[end:]
    command = "command: {speed: [0.1, 0.5], turn: [-2.0, -1.0]}" * ("command" in observations)
    return robot_from_text(xml, f"{robot.yaml}\nobservations: {observations}\n{command}\n", origin="test")


def raw_readings(stepper: Stepper, action: np.ndarray) -> dict[str, np.ndarray]:
    """What the sensors read, as MuJoCo derives it from the state."""
    robot, data = stepper.robot, stepper.posed_data()
    rates = robot.description.position_rates
    joints = [(data.joint(name), rates.get(name, 1.0)) for name in robot.description.joints]
    torso, site, (velocity, turning) = data.body(robot.description.torso), data.site("imu"), np.empty((2, 6))
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, torso.id, velocity, 0)
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_SITE, site.id, turning, 1)
    orientation, axes = np.empty(4), site.xmat.reshape(3, 3)
    mujoco.mju_mat2Quat(orientation, site.xmat)
    yaw = np.arctan2(torso.xmat[3], torso.xmat[0])
    ahead, left = np.array([np.cos(yaw), np.sin(yaw), 0]), np.array([-np.sin(yaw), np.cos(yaw), 0])
    felt = stepper.data.sensor("surefoot_accelerometer").data.copy()
    return {
        "positions": np.array([joint.qpos[0] for joint, _ in joints]),
        "speeds": np.array([rate * joint.qvel[0] for joint, rate in joints]),
        "orientation": orientation,
        "rates": turning[:3],
        "acceleration": felt if felt.any() else axes.T @ -robot.model.opt.gravity,
        "contacts": stepper.state.touching,
        "velocity": np.array([velocity[3:] @ ahead, velocity[3:] @ left, velocity[5]]),
        "height": torso.xpos[2] - stepper.tally.initial_height,
        "bearing": np.arctan2(-torso.xpos[1], 1000 - torso.xpos[0]) - yaw,
        "last_action": action,
        "command": (stepper.tally.commanded_speed, stepper.tally.commanded_turn),
    }


@pytest.mark.parametrize("name", ["hexapod", "hopper"])
@pytest.mark.parametrize("observations", [PAPER, ALL])
def test_the_observer_computes_what_the_kernel_does(name: str, observations: str) -> None:
    robot = seeing(load_robot(name), observations)
    stepper, observer, rng = begun(robot, 4), Observer(robot), np.random.default_rng(3)
    action = np.zeros(robot.action_dim)
    for _ in range(12):
        computed = observer(**raw_readings(stepper, action))
        np.testing.assert_allclose(computed, stepper.state.observation, atol=2e-5)
        action = rng.uniform(-1.2, 1.2, robot.action_dim).astype(np.float32)
        stepper.step(action)
    assert len(observer.entries) == len(computed) == robot.observation_dim
    assert np.abs(computed).max() <= 5


def test_names_of_joints_say_nothing_about_what_is_seen(ant: Robot) -> None:
    texts = (text.replace("front_left_hip", "bearing_left") for text in (ant.xml, ant.yaml))
    named = seeing(robot_from_text(*texts, origin="test"), "[joint_position, joint_speed]")
    assert Observer(named).needs == ("positions", "speeds")


def test_entries_say_what_is_seen_and_how_long_ago() -> None:
    robot = seeing(
        load_robot("hexapod"), "[{term: joint_position, scale: 2.0, delay: 1, history: 2}, gyroscope]"
    )
    first, nineteenth, last = robot.entries[0], robot.entries[18], robot.entries[-1]
    assert first[:6] == ("left_front_coxa position", "rad", "joint_position", 2, 0, 1)
    assert (nineteenth.name, nineteenth.lag) == (first.name, 2)
    assert (last.name, last.unit, last.scale, last.lag) == ("gyroscope z", "rad/s", 0.25, 0)
    stepper, angles = begun(robot, 1), []
    for _ in range(5):
        angles.append(stepper.data.joint("left_front_coxa").qpos[0])
        stepper.step(np.ones(18, np.float32))
        seen = stepper.state.observation
        assert seen[[0, 18]] == pytest.approx([2 * angles[-1], 2 * angles[max(0, len(angles) - 2)]], abs=1e-6)


def test_the_paper_is_the_default_and_proprioception_needs_encoders_and_imu_alone(ant: Robot) -> None:
    named = seeing(ant, "paper")
    assert [entry.label for entry in named.entries] == [entry.label for entry in ant.entries]
    assert ant.observation_dim == 28
    assert Observer("ant").needs == (
        "positions", "speeds", "orientation", "contacts", "velocity", "height", "bearing",
    )  # fmt: skip
    blind = seeing(ant, "proprioception")
    assert Observer(blind).needs == ("positions", "speeds", "orientation", "rates", "last_action")
    assert blind.observation_dim == 3 + 3 + 1 + 3 * 8


def test_noise_is_of_the_seed_and_faults_of_sensors_are_seen(ant: Robot) -> None:
    def first(robot: Robot, seed: int) -> np.ndarray:
        return begun(robot, seed).state.observation

    quiet, noisy = seeing(ant, "[joint_speed]"), seeing(ant, "[{term: joint_speed, noise: 2.0}]")
    off = np.concatenate([first(noisy, seed) - first(quiet, seed) for seed in range(50)])
    assert off.std() == pytest.approx(2.0 * TERMS["joint_speed"][1], rel=0.1)
    assert np.array_equal(first(noisy, 1), first(noisy, 1))
    stuck = seeing(ant, "[joint_position]").modified("", faults=Faults(stuck={"back_left_hip position": 0.5}))
    low, high = ant.joint_ranges[2]
    assert first(stuck, 0)[2] == pytest.approx((low + high) / 2 + 0.25 * (high - low))


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        ("[gyroskope]", "unknown term of the observations 'gyroskope' .did you mean 'gyroscope'"),
        ("proprioceptive", "did you mean 'proprioception'"),
        ("[]", "must name a preset or a term"),
        ("[{term: gravity, history: 99, delay: 2}]", "may reach back over 100 control steps at most"),
        ("[{term: gravity, scale: .inf}]", "scale.*finite"),
        ("[{term: gravity, noise: -1.0}]", "greater than or equal to 0"),
        ("[clock]", "needs a period"),
        ("[roll, roll]", "the observations have 'roll' twice"),
        ("{preset: paper, imu: nose}", "no site 'nose' for the IMU; available: imu"),
    ],
)
def test_bad_observations_are_refused_in_one_sentence(ant: Robot, observations: str, expected: str) -> None:
    with pytest.raises(InvalidRobotError, match=expected):
        seeing(ant, observations)


def test_readings_that_are_missing_or_wrong_are_refused_and_a_dead_sensor_is_passed_on(ant: Robot) -> None:
    observer = surefoot.Observer(seeing(ant, "[gravity, joint_speed]"))
    with pytest.raises(InvalidValueError, match="need speeds, orientation; missing: orientation"):
        observer(speeds=np.zeros(8))
    with pytest.raises(InvalidValueError, match=r"speeds must have shape \(8,\), not \(7,\)"):
        observer(speeds=np.zeros(7), orientation=[1, 0, 0, 0])
    with pytest.raises(UnknownNameError, match="did you mean 'speeds'"):
        observer(speed=np.zeros(8))
    dead = observer(speeds=np.full(8, np.nan), orientation=[1, 0, 0, 0])
    assert dead[:3].tolist() == [0, 0, -1]
    assert np.isnan(dead[3:]).all()
