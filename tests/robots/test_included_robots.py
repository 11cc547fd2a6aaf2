"""The Hexapod: the sizes of the robot that it follows, its symmetry, and the published tripod gait."""

import re

import mujoco
import numpy as np
import pytest

from robots.catalogue import robot_names
from robots.errors import InvalidRobotError
from robots.robot import Robot, load_robot, robot_from_text
from robots.stance import standing_on_floor
from tests.robots.stepping import run_episodes

# amplitude, phase and duty of each leg's coxa and femur, as published with the study of 2015
TRIPOD = np.array(
    [
        [1, coxa, 0.5, 0.25, femur, 0.5]
        for coxa, femur in zip((0, 0.5, 0, 0, 0.5, 0), (0.25, 0.75) * 3, strict=True)
    ]
)


def test_it_has_the_sizes_of_the_study(hexapod: Robot) -> None:
    assert (hexapod.observation_dim, hexapod.action_dim, hexapod.measure_dim) == (50, 18, 6)
    assert hexapod.controller.parameter_count == 36
    assert hexapod.control_step * hexapod.description.episode_steps == pytest.approx(5)
    assert hexapod.description.archive == (5,) * 6
    assert hexapod.model.body_subtreemass[0] == pytest.approx(3.16)
    stall, damping = hexapod.model.actuator_forcerange[:, 1], hexapod.model.dof_damping[6:]
    np.testing.assert_allclose(stall, 2.5)
    np.testing.assert_allclose(stall / damping, 5.8, rtol=0.01)  # [rad/s] without load
    degrees = np.rad2deg(hexapod.model.actuator_ctrlrange)
    np.testing.assert_allclose(degrees, [[-22.5, 22.5], [-45, 45], [-45, 45]] * 6, atol=1e-5)


def test_the_published_tripod_walks_straight_ahead(hexapod: Robot) -> None:
    episodes = run_episodes(hexapod, np.tile(TRIPOD.ravel(), (3, 1)))
    assert not episodes.fell.any()
    np.testing.assert_allclose(episodes.objectives, episodes.distances, atol=1e-9)
    assert np.all((episodes.objectives > 1.0) & (episodes.objectives < 2.5))  # 0.2 to 0.5 m/s
    assert np.all(np.abs(episodes.lateral) < 0.2 * episodes.objectives)
    assert episodes.objectives.std() > 0, "all trials are alike"


def test_it_has_the_published_numbers(quadruped: Robot) -> None:
    model = quadruped.model
    assert (quadruped.observation_dim, quadruped.action_dim, quadruped.measure_dim) == (43, 12, 4)
    assert quadruped.controller.parameter_count == 49
    assert quadruped.control_step * quadruped.description.episode_steps == pytest.approx(5)
    masses = [model.body(f"front_left_{part}").mass[0] for part in ("hip", "thigh", "shank")]
    assert [model.body("trunk").mass[0], *masses] == pytest.approx([5.204, 0.68, 1.009, 0.196])
    assert model.body_subtreemass[0] == pytest.approx(12.744)
    np.testing.assert_allclose(model.actuator_forcerange[:, 1], [23.7, 23.7, 35.55] * 4)
    np.testing.assert_allclose(-model.actuator_biasprm[:, 1:3], [[35, 0.5]] * 12)
    np.testing.assert_allclose(model.jnt_range[1:4], [[-0.863, 0.863], [-0.686, 4.501], [-2.818, -0.888]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("phases: {tail: 0.5}", "controller.phases names the leg 'tail', which is not among its legs: front"),
        ("phases: {front_left: 1.5}", "less than or equal to 1, not 1.5"),
        ("phases: {front_left: .nan}", "phases.front_left"),
        ("opposite: {front_left_shank: front_left_thigh}", "as many signals each, not: front_left 2, front_"),
    ],
)
def test_phases_that_cannot_be_are_refused(quadruped: Robot, line: str, message: str) -> None:
    yaml = quadruped.yaml if line.startswith("o") else re.sub("  phases: .*\n", "", quadruped.yaml)
    with pytest.raises(InvalidRobotError, match=message):
        robot_from_text(quadruped.xml, yaml.replace("  period: 0.4", f"  {line}\n  period: 0.4"), origin="q")


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_stands_on_the_floor_within_its_ranges(name: str) -> None:
    robot = load_robot(name)
    data, model = standing_on_floor(robot), robot.model
    floor = model.geom(robot.description.floor).id
    soles = [model.geom(sole).id for soles in robot.description.feet.values() for sole in soles]
    gaps = [mujoco.mj_geomDistance(model, data, floor, sole, 10.0, None) for sole in soles]
    assert min(gaps) == pytest.approx(0, abs=1e-6)
    for joint, (low, high) in zip(robot.description.joints, robot.joint_ranges, strict=True):
        assert low <= data.joint(joint).qpos[0] <= high
