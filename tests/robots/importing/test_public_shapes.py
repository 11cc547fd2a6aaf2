"""Models as others publish them: tendons, filtered actuators, slides in any order, obstacles, free bodies."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from adapt.damage.edits import fix_joint
from adapt.damage.text import parse_damage
from robots.errors import InvalidRobotError
from robots.importing.draft import draft_robot
from robots.motors import Motors
from robots.robot import load_robot, read_robot, robot_from_text
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import Threads

PULLED = Path(__file__).with_name("pulled.xml").read_text()


@pytest.fixture
def pulled(tmp_path: Path) -> Path:
    path = tmp_path / "pulled.xml"
    path.write_text(PULLED)
    return path


def test_a_robot_among_obstacles_with_joints_that_tendons_pull_is_drafted_and_walks(pulled: Path) -> None:
    draft = draft_robot(pulled)
    robot = read_robot(draft.path)
    assert any("in place of" in line or "take the place" in line for line in draft.remarks)
    assert not any("other fixed geoms" in line for line in draft.remarks)
    assert robot.description.joints[:2] == ("hip_0", "knee_0")
    assert {robot.model.body(number).name for number in range(robot.model.nbody)}.isdisjoint({"ball", "post"})
    assert robot.model.nu == 8, "a servo for each joint, none for tendons"
    assert robot.model.ntendon == 4
    most = Motors.of(robot.model, robot.description.joints).max_force[1]
    np.testing.assert_allclose(most, 0.5 * 60, err_msg="half of the tendon's 60 N")
    still = np.zeros((1, robot.controller.parameter_count), np.float32)
    episodes = Threads(1).run(ModelBatch(robot.with_episode_steps(100)), still, np.zeros(1, np.int64))
    assert not episodes.fell.any(), "its servos hold it"


def test_a_second_free_body_is_refused_in_a_sentence(pulled: Path) -> None:
    text = draft_robot(pulled).path.read_text().replace("alone: true", "alone: false")
    with pytest.raises(InvalidRobotError, match=r"only the torso 'trunk' may have a free joint, .*: ball"):
        robot_from_text(PULLED, text, origin="it")


def test_slides_have_any_order() -> None:
    walker = load_robot("walker")
    x, z = (f'<joint name="{name}"' for name in ("root_x", "root_z"))
    lines = walker.xml.splitlines()
    places = [next(i for i, line in enumerate(lines) if mark in line) for mark in (x, z)]
    lines[places[0]], lines[places[1]] = lines[places[1]], lines[places[0]]
    other = robot_from_text("\n".join(lines), walker.yaml, origin="it")
    assert other.model.joint(0).name == "root_z"
    rng, results = np.random.default_rng(0), []
    parameters = np.stack([walker.controller.initial(rng) for _ in range(3)])
    for robot in (walker, other):
        results.append(Threads(1).run(ModelBatch(robot), parameters, np.arange(3)))
    for column in ("objectives", "distances", "steps", "paths"):
        np.testing.assert_allclose(getattr(results[1], column), getattr(results[0], column), rtol=1e-6)


def test_tendons_go_on_without_a_joint_that_is_locked() -> None:
    """A coupling a + 2 b = 0 sends b to -a / 2 wherever a is stuck."""
    spec = mujoco.MjSpec.from_string(
        """<mujoco><option gravity="0 0 0"/><worldbody><body name="x"><joint name="a"/><geom size=".1"/>
        <body name="y" pos="0 0 1"><joint name="b" damping="1"/><geom size=".1"/></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
        <equality><tendon tendon1="t"/></equality></mujoco>"""
    )
    for joint, angle, left in (("a", 0.3, -0.15), ("b", 0.1, None)):
        fix_joint(spec, spec.joint(joint), angle)
        model = spec.compile()
        if left is not None:
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data, 1000)
            assert data.joint("b").qpos[0] == pytest.approx(left, abs=0.01)
    assert (model.ntendon, model.neq) == (0, 0)


def test_limits_springs_and_references_of_tendons_count_with_a_joint_that_is_locked() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body>
        <joint name="a" ref="0.1"/><geom size=".1"/><body pos="0 0 1"><joint name="b" damping="1"/>
        <geom size=".1"/></body></body></worldbody><tendon><fixed name="t" range="-1 0.5" stiffness="1">
        <joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
        <equality><tendon tendon1="t"/></equality></mujoco>"""
    )
    fix_joint(spec, spec.joint("a"), 0.3)
    model = spec.compile()
    assert model.tendon_limited.tolist() == [1]
    assert model.tendon_range[0] == pytest.approx([-1.3, 0.2])
    assert model.tendon_lengthspring[0] == pytest.approx([-0.3, -0.3])  # that of springref, 0, less 0.3
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    assert data.joint("b").qpos[0] == pytest.approx(-0.1, abs=0.01)  # a is 0.2 from its reference


def test_every_joint_of_a_robot_with_tendons_can_be_locked(pulled: Path) -> None:
    robot = read_robot(draft_robot(pulled).path)
    for damage in ("joint=hip_0:locked@0.2", "0:locked", "joint=knee_1:lost"):
        damaged = parse_damage(damage, robot).apply(robot)
        assert damaged.physics.njnt < robot.physics.njnt
        assert damaged.physics.ntendon <= robot.physics.ntendon
