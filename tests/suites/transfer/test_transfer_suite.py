"""Worlds that are not the model's, and the study that lets gaits walk and recover in them."""

import json

import mujoco
import numpy as np
import pytest

import suites.transfer.suite as suite_module
from adapt.damage.parts import RobotParts
from adapt.damage.text import parse_damage
from repertoire.evaluation.evaluator import Evaluator
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.motors import Motors
from robots.robot import load_robot
from suites.requests import TransferRequest
from suites.study import Study, run_trial
from suites.transfer.pybullet import PyBullet, PyBulletRobot, pybullet_is_installed
from suites.transfer.stage import legs_of
from suites.transfer.suite import TransferSuite, default_faults
from suites.transfer.worlds import WORLDS, Use
from tests.adapt.rehearsal.small import small_repertoire
from tests.robots.stepping import begun

needs_pybullet = pytest.mark.skipif(not pybullet_is_installed(), reason="PyBullet is not installed")


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire(8)


def walked(robot, steps: int = 20):
    """A robot after some control steps of the same actions."""
    stepper, rng = begun(robot, 1), np.random.default_rng(0)
    for _ in range(steps):
        stepper.step(rng.uniform(-1, 1, robot.action_dim))
    return stepper


def use_of(name: str) -> Use:
    return Use(load_robot(name), distance=2.0, speed=5.0)


@pytest.mark.parametrize("name", ["ant", "hexapod"])
@pytest.mark.parametrize("world", [name for name, world in WORLDS.items() if not world.elsewhere])
def test_every_world_changes_what_a_robot_does_and_leaves_the_robot_alone(name, world) -> None:
    use = use_of(name)
    before = walked(use.robot)
    (robot, *_) = WORLDS[world].robots(use, count=1)
    assert robot.control_step == pytest.approx(use.robot.control_step)
    after = walked(robot)
    assert np.isfinite(after.data.qpos).all()
    assert np.abs(after.data.qpos - before.data.qpos).max() > 1e-6
    assert walked(use.robot).data.qpos == pytest.approx(before.data.qpos, abs=0)
    damaged = parse_damage(f"{next(iter(use.robot.description.legs))}:dead", use.robot).apply(robot)
    assert {change.label for change in robot.modifications} < {one.label for one in damaged.modifications}
    assert np.isfinite(walked(damaged).data.qpos).all()


@pytest.mark.parametrize("name", ["ant", "hexapod", "quadruped"])
def test_an_actuator_that_lags_gets_there_and_a_servo_starts_from_the_first_pose(name) -> None:
    use = use_of(name)
    (robot,) = WORLDS["lag"].robots(use)
    parts, model = RobotParts(use.robot), robot.physics
    rest = np.array([parts.rest(joint) for joint in robot.description.joints])
    plain, lagging = (Motors.of(one.physics, one.description.joints) for one in (use.robot, robot))
    if plain.servos.any():  # with an activation of 0 it holds the joint where it starts
        assert lagging.bias + lagging.gear * lagging.bias_length * rest == pytest.approx(0, abs=1e-9)
    assert lagging.torques(np.full(len(rest), 0.5), rest) == pytest.approx(
        plain.torques(np.full(len(rest), 0.5), rest)
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = model.actuator_ctrlrange[:, 1]
    for _ in range(round(0.02 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    elapsed = round(0.02 / model.opt.timestep) * model.opt.timestep
    assert data.act / data.ctrl == pytest.approx(1 - np.exp(-elapsed / 0.02), rel=1e-6)


def test_together_all_that_other_simulators_may_have_differs() -> None:
    use = use_of("ant")
    (robot,) = WORLDS["together"].robots(use)
    model, joint = robot.physics, robot.physics.joint("front_left_hip")
    assert model.opt.timestep == use.robot.physics.opt.timestep / 2
    damping = model.dof_damping - use.robot.physics.dof_damping
    assert damping[joint.dofadr[0]] * 2 * use.speed == pytest.approx(250), "no torque then"
    size = model.hfield_size[0]
    assert size[0] > use.distance
    assert size[2] == pytest.approx(0.01, rel=0.05)
    joints = robot.action_dim
    angles = walked(robot).state.readings[8 : 8 + 2 * joints : 2] * np.diff(robot.joint_ranges)[:, 0] / 2
    steps = angles / (2 * np.pi / 1024)
    assert steps == pytest.approx(np.rint(steps), abs=1e-3)
    assert np.abs(steps).max() > 1


def test_parts_of_a_diagnosis_are_legs() -> None:
    parts = RobotParts(load_robot("ant"))
    assert legs_of("front_left:dead", parts) == legs_of("joint=front_left_hip:weak", parts) == {"front_left"}
    assert legs_of("foot=front_left:slip@0.2+floor:friction@0.5", parts) == {"front_left", "floor"}
    assert legs_of("unknown", parts) == legs_of("", parts) == set()


def make_suite(repertoire, *worlds: str, **changes) -> TransferSuite:
    asked = {"trials": 2, "think_episodes": 20, "selector": "random", "gaits": 3} | changes
    return TransferSuite(repertoires={"small": repertoire}, request=TransferRequest(worlds=worlds, **asked))


@pytest.mark.slow
def test_a_study_lets_gaits_walk_and_recovers(repertoire, tmp_path) -> None:
    suite = make_suite(repertoire, "gap", "lag", "together")
    study = Study(suite, tmp_path)
    keys = [trial.key for trial in study.trials]
    assert keys[:3] == [(f"small-{name}", "gaits", 0) for name in ("gap", "lag", "together")]
    assert keys[3:] == [(f"small-{name}", "random", n) for n in range(3) for name in ("gap", "together")]
    for trial in study.trials:
        run_trial(suite, tmp_path, trial, lambda _: None)
    results = {one.key: one for one in study.results()}
    again = make_suite(repertoire, "gap", "lag", "together").run(study.trials[3], tmp_path, lambda _: None)
    assert again.figures == results[keys[3]].figures
    walks = results[keys[0]].figures
    assert walks["worst tenth"] <= walks["mean"]
    assert np.isfinite(walks["together"])
    assert 0 <= walks["upright"] <= 1
    for key in keys[3:]:
        figures = results[key].figures
        assert figures["recovered"] == figures["after 2"]
        assert figures["after 1"] == figures["old gait"]
        assert figures["recovered"] <= 1 + 1e-9
        assert figures["old gait"] <= 1 + 1e-9
    paths = study.report(study.results())
    report = paths[-1].read_text()
    assert [path.name for path in paths] == ["gaits.csv", "recoveries.csv", "report.md"]
    for path, columns, count in ((paths[0], "case,nominal,mean", 3), (paths[1], "case,damage,best", 6)):
        lines = path.read_text().splitlines()
        assert (lines[0].startswith(columns), len(lines)) == (True, 1 + count)
    assert f"| lag | {results[keys[1]].figures['mean']:.2f} |" in report
    shares = [results[key].figures["recovered"] for key in keys if key[:2] == ("small-gap", "random")]
    assert f"{np.mean(shares):.2f}" in next(line for line in report.splitlines()[::-1] if "| gap |" in line)


def test_a_self_model_recovers_in_another_world(repertoire, tmp_path) -> None:
    suite = make_suite(
        repertoire, "lag", "gap", selector="self-model", damages=("front_left:dead",), trials=2, refine=20
    )
    trial = suite.plan()[-1]
    assert trial.method == "self-model"
    figures = suite.run(trial, tmp_path, lambda _: None).figures
    assert figures["damage"] == "front_left:dead"
    assert isinstance(figures["right part"], bool)
    assert 0 <= figures["explained"] <= 1
    assert 0 <= figures["falls"] <= 1
    assert 0 <= figures["falls in trials"] <= 2
    assert "up to three searches (small for 20 episodes)" in "".join(suite._notes())


def test_damaged_files_are_refused(repertoire, tmp_path) -> None:
    suite, path = make_suite(repertoire, "together", damages=("front_left:dead",)), tmp_path / "x.json"
    sound = {"case": "small-together", "method": "random", "number": 0, "seed": 1, "took": 1.0}
    figures = dict.fromkeys(("best", "old gait", "recovered", "old gait falls", "falls", "explained"), 1.0)
    figures |= {"right part": True, "damage": "front_left:dead", "diagnosis": ""}
    for record, message in (
        ({"case": "small-lag", "method": "gaits"}, "holds no trial of this study"),
        (sound | {"figures": figures | {"best": "much"}}, '"best" must be a number'),
        (sound | {"figures": figures | {"diagnosis": 1.0}}, '"diagnosis" must be a text'),
        (sound | {"figures": figures | {"damage": "back_left:lost"}}, "not of front_left:dead"),
    ):
        path.write_text(json.dumps(record))
        with pytest.raises(InvalidFileError, match=message):
            suite.read(path)
    path.write_text(json.dumps(sound | {"figures": figures}))
    suite.read(path)


def test_impossible_studies_are_refused(repertoire, monkeypatch) -> None:
    monkeypatch.setattr(suite_module, "pybullet_is_installed", lambda: True)
    for world, changes, message in (
        ("lag", {"selector": "rehearsed"}, "needs more than gaits"),
        ("lag", {"gaits": 9}, "only 8 gaits"),
        ("lag", {"damages": ("front_left:gone",)}, "gone"),
        ("pybullet", {"damages": ("front_left:lost",)}, "in PyBullet can be dead, locked, weak"),
    ):
        with pytest.raises((InvalidValueError, UnknownNameError), match=message):
            make_suite(repertoire, world, **changes).check()
    make_suite(repertoire, "pybullet", damages=("front_left:dead",)).check()
    assert default_faults(load_robot("walker")) == ()


@needs_pybullet
def test_motors_fail_in_pybullet_as_here() -> None:
    ant = load_robot("ant")
    damage = parse_damage("front_left:dead+back_left:weak@0.3+joint=front_right_hip:locked@0.2", ant)
    robot = PyBulletRobot(ant, damage)
    robot.reset(3)
    for _ in range(30):
        observation, _, _ = robot.step(np.ones(8))
    angles = robot.state()[0][7:]
    assert angles[6] == pytest.approx(0.2, abs=0.02)
    assert observation[8 + 12] == pytest.approx(0.2 / np.diff(ant.joint_ranges)[6, 0] * 2, abs=0.05)
    assert np.abs(robot.state()[0][7:11]).max() < np.pi
    assert robot._strength == pytest.approx([0, 0, 0.3, 0.3, 1, 1, 0, 1])
    with pytest.raises(InvalidValueError, match="not front_left:lost"):
        PyBulletRobot(ant, parse_damage("front_left:lost", ant))


@needs_pybullet
def test_a_trace_from_pybullet_reads_as_ours(repertoire) -> None:
    """Both robots fall from the same pose and hardly move: what their sensors read is nearly the same."""
    walk = PyBulletRobot(repertoire.robot).walk(np.zeros_like(repertoire.gaits.solutions[0]), 5)
    stepper = begun(repertoire.robot, 5)
    trace = np.zeros_like(walk.trace)
    for row in trace:
        stepper.step(np.zeros(8))
        stepper.read(row)
    assert np.abs(trace - walk.trace)[:8].max() < 0.3


@needs_pybullet
def test_a_refined_gait_runs_in_pybullet_after_those_of_the_repertoire(repertoire) -> None:
    count, gait = len(repertoire), repertoire.gaits.solutions[1]
    there = Evaluator(repertoire, {"": repertoire.robot}, backend=PyBullet(repertoire.robot, None))
    there.add(gait[None])
    episodes = there.run(np.array([1, count]), np.array([4, 4]))
    assert episodes.objectives[0] == episodes.objectives[1] != 0
