"""Gains are what the YAML and `surefoot robots` say: an explicit PD in plain MuJoCo walks alike with them."""

import re
import runpy
from pathlib import Path

import mujoco
import numpy as np
import pytest

import surefoot
from robots.deployment.deployment import deploy
from robots.description import Randomization
from robots.errors import InvalidRobotError
from robots.facts import actuation_words
from robots.motors import Motors
from robots.randomization import draw_models
from robots.robot import Robot, load_robot, read_robot, robot_from_text
from robots.simulation.trace import TraceColumns
from tests.robots.importing.dogs import draft_example
from tests.robots.stepping import run_episodes

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = 2
LIMITED = '<joint actuatorfrcrange="-0.2 0.2" '


def drafted(name: str, folder: Path, *changes: tuple[str, str]) -> Robot:
    """A draft with open-loop gaits: reflexes would make random gaits, which turn, sensitive."""
    path = draft_example(name, folder, *changes).path
    head, _, rest = path.read_text().partition("  reflexes:")
    path.write_text(head + rest[rest.index("#") :])
    return read_robot(path)


def with_gains(robot: Robot, **gains: float) -> Robot:
    """The robot whose YAML gives all servos these gains."""
    more = "".join(f", {name}: {value}" for name, value in gains.items())
    before, servos, after = robot.yaml.partition("\nservos:")
    part, joints, rest = after.partition("\n\n")
    part = re.sub(rf", ({'|'.join(gains)}): [^,}}]+", "", part).replace("}", f"{more}}}")
    return robot_from_text(robot.xml, before + servos + part + joints + rest, origin="r")


def best_of_random(robot: Robot) -> np.ndarray:
    """The gait that gets furthest of 20 random ones."""
    rng = np.random.default_rng(0)
    gaits = np.stack([robot.controller.initial(rng) for _ in range(20)])
    episodes = run_episodes(robot, gaits, 0)
    return gaits[np.argmax(np.where(episodes.fell, -np.inf, episodes.distances))]


@pytest.mark.parametrize("name", ["hexapod", "lizard with lag and gains"])
def test_an_explicit_pd_in_plain_mujoco_walks_alike(name: str, tmp_path: Path) -> None:
    if name == "hexapod":
        gaits = surefoot.load(name)
        robot, gait = gaits.robot, gaits.elites.solutions[gaits.best()]
    else:
        robot = drafted(name.split()[0], tmp_path, ("<position ", '<position timeconst="0.3" '))
        assert "lag 0.3 s: left_yaw_0" in " ".join(actuation_words(robot))
        robot = with_gains(robot, stiffness=10.0, damping=0.3, torque=2.5)
        gait = best_of_random(robot)
    episodes = run_episodes(robot, np.repeat(gait[None], SEEDS, axis=0))
    walk = runpy.run_path(str(EXAMPLES / "explicit_pd.py"))["walk"]
    distances, falls = zip(*(walk(robot, gait, seed) for seed in range(SEEDS)), strict=True)
    assert episodes.distances.min() > 0.2, "a robot that stands tells nothing"
    # a fast gait of the lizard makes a sixth more in plain MuJoCo, whose physics steps are shorter
    np.testing.assert_allclose(np.mean(distances), episodes.distances.mean(), rtol=0.25)
    assert list(falls) == episodes.fell.tolist()


@pytest.mark.parametrize("change", [("<position ", '<position timeconst="0.1" '), ("<joint ", LIMITED)])
def test_torques_of_traces_are_those_of_mujoco(change: tuple[str, str], tmp_path: Path) -> None:
    robot = read_robot(draft_example("lizard", tmp_path, change).path)
    gait, columns = robot.controller.initial(np.random.default_rng(0)), TraceColumns.of(robot)
    episodes = run_episodes(robot, gait, 3, traces=True)
    known = deploy(robot, gait, seconds=1.0, seed=3).torques
    torques = episodes.traces[0][: len(known), columns.torque : columns.torque + known.shape[1]]
    np.testing.assert_allclose(torques, known, atol=1e-4)
    greatest = Motors.of(robot.physics, robot.description.joints).greatest
    assert (abs(known) <= greatest + 1e-9).all()
    assert (change[1] == LIMITED) == (greatest.max() <= 0.2)


def test_declared_gains_are_those_of_the_model(tmp_path: Path) -> None:
    drawn = drafted("mule", tmp_path)
    assert len(set(Motors.of(drawn.physics, drawn.description.joints).damping)) > 1  # critical, of each
    robot = with_gains(drawn, damping=12.0, torque=70.0)
    motors = Motors.of(robot.physics, robot.description.joints)
    assert set(motors.damping) == {12.0}
    assert set(motors.greatest) == {70.0}
    assert "kd 12, at most 70: " in " ".join(actuation_words(robot))
    for gains, words in (
        ({"damping": -1.0}, "damping: input should be greater than or equal to 0, not -1.0"),
        ({"torque": 0.0}, "torque: input should be greater than 0, not 0.0"),
    ):
        with pytest.raises(InvalidRobotError, match=re.escape(words)):
            with_gains(drawn, **gains)


def test_actions_command_the_range_that_is_declared(tmp_path: Path) -> None:
    servo = '<general joint="left_yaw" biastype="affine" gainprm="15" biasprm="3 -15 -0.4" ctrlrange="-1 1"/>'
    robot = read_robot(draft_example("lizard", tmp_path, ('<position joint="left_yaw"/>', servo)).path)
    motors = Motors.of(robot.physics, robot.description.joints)
    for action, column in ((-1.0, 0), (1.0, 1)):
        declared = [robot.description.servos[name].range[column] for name in robot.description.joints]
        np.testing.assert_allclose(motors.targets(action), declared, atol=1e-9)


def test_critically_damped_servos_are_weaker_in_every_state_whatever_the_masses(tmp_path: Path) -> None:
    robot = drafted("mule", tmp_path)
    light, weak = Randomization(mass=(0.5, 0.5), models=1), Randomization(strength=(0.25, 0.25), models=1)
    whole = Motors.of(robot.physics, robot.description.joints)
    for randomization, share in ((light, 1.0), (weak, 0.25)):
        (changed,) = draw_models(robot, randomization)
        motors = Motors.of(changed.physics, changed.description.joints)
        np.testing.assert_allclose(motors.damping, share * whole.damping)
        np.testing.assert_allclose(motors.stiffness, share * whole.stiffness)


def test_the_greatest_torque_of_a_servo_is_its_limit_whatever_its_targets() -> None:
    robot = load_robot("quadruped")
    motors, model = Motors.of(robot.physics, robot.description.joints), robot.physics
    assert motors.greatest.tolist() == model.actuator_forcerange[:, 1].tolist()
    assert set(motors.greatest) == {23.7, 35.55}
    data = mujoco.MjData(model)
    data.qpos[7:] = -3.0  # far from any target
    data.ctrl[:] = model.actuator_ctrlrange[:, 1]
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.actuator_force, motors.greatest)


@pytest.mark.parametrize(
    ("actuator", "greatest"),
    [
        ('motor gear="2" ctrlrange="-3 5"', 10.0),
        ('motor gear="2" ctrlrange="-3 5" forcerange="-4 4"', 8.0),
        ('position kp="7" ctrlrange="1 3"', 14.0),
        ('velocity kv="2" ctrlrange="3 5"', 4.0),
        ('velocity kv="2" ctrlrange="3 5" forcerange="-9 1"', 9.0),
    ],
)
def test_without_a_limit_the_greatest_torque_is_that_of_the_largest_error(actuator: str, greatest) -> None:
    text = f'<joint name="j"/><geom size="1"/></body></worldbody><actuator><{actuator} joint="j"/></actuator>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body>{text}</mujoco>")
    assert Motors.of(model, ["j"]).greatest.tolist() == [greatest]
