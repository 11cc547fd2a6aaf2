"""One definition of a fall: the same verdict wherever a robot is looked at."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.catalogue import robot_names
from robots.deployment.deployment import deploy
from robots.falls import has_fallen, rests_on_feet
from robots.robot import Robot, load_robot
from robots.simulation.stepper import Stepper
from tests.robots.stepping import begun, run_episodes


def turned(stepper: Stepper, angle: float) -> None:
    """Put a robot that stands in its first pose on its side by an angle about y [rad], in the air."""
    root = int(stepper.robot.physics.jnt_qposadr[stepper.robot.root_joint])
    stepper.reset(0)
    if stepper.robot.moves_freely:
        stepper.data.qpos[root + 2] += 1.0
        stepper.data.qpos[root + 3 : root + 7] = Rotation.from_euler("y", angle).as_quat(scalar_first=True)
    else:
        joints = stepper.robot.physics.jnt_axis[stepper.robot.root_joint :][:2]
        stepper.data.qpos[root + int(np.flatnonzero(joints[:, 2])[0])] += 1.0
        stepper.data.qpos[root + 2] = angle


def hang(stepper: Stepper, seconds: float) -> None:
    """Keep a robot where it is until the episode is over, or for some time."""
    placed, steps = stepper.data.qpos.copy(), round(seconds / stepper.robot.control_step)
    while not stepper.over and stepper.tally.steps < steps:
        stepper.data.qpos[:], stepper.data.qvel[:] = placed, 0
        stepper.step(np.zeros(stepper.robot.action_dim))


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_on_its_back_has_fallen_whatever_training_says(name: str) -> None:
    robot = load_robot(name)
    for angle, falls in ((0.0, False), (0.5, False), (np.pi, True)):
        stepper = Stepper(robot.until_it_falls())
        turned(stepper, angle)
        hang(stepper, 1.2)  # longer than any robot may lie before it has fallen
        assert stepper.tally.fell == falls == stepper.tally.terminated, angle
    if name == "ant":
        stepper = Stepper(robot)
        turned(stepper, np.pi)
        assert not stepper.step(np.zeros(8)), "on its back it is alive in training"
        assert stepper.tally.fell
    assert not rests_on_feet(Rotation.from_euler("x", np.pi).as_quat(scalar_first=True))


@pytest.mark.parametrize("height", [0.4, 0.6])
def test_a_robot_without_a_least_height_has_fallen_below_half_of_its_own(height: float) -> None:
    stepper = begun(load_robot("hexapod").until_it_falls())
    stepper.state.tally[0].initial_height /= height
    stepper.step(np.zeros(18))
    assert stepper.tally.terminated == (height < 0.5)


def test_a_robot_that_may_get_up_again_has_a_second_to_do_so() -> None:
    cheetah = load_robot("half_cheetah").until_it_falls()
    stepper = Stepper(cheetah)
    turned(stepper, np.pi)
    hang(stepper, 2.0)
    assert stepper.tally.down == stepper.tally.steps == round(1.0 / cheetah.control_step) + 1


@pytest.mark.parametrize("name", ["ant", "hexapod", "quadruped"])
def test_behind_a_link_the_orientation_alone_gives_the_same_verdict(name: str) -> None:
    robot = load_robot(name).until_it_falls()
    for angle in np.linspace(0, np.pi, 12):
        stepper = Stepper(robot)
        turned(stepper, angle)
        stepper.step(np.zeros(robot.action_dim))
        assert has_fallen(robot, stepper.data.qpos[3:7]) == stepper.tally.fell, angle
    assert has_fallen(robot, np.full(4, np.nan))


def test_what_runs_a_gait_and_what_counts_falls_agree(ant: Robot) -> None:
    """Without action the Ant lies on its belly; thrown onto its back it lies there."""
    gait = np.zeros(ant.controller.parameter_count)
    on_its_back = dataclasses.replace(
        ant, start={**ant.start, "root": np.array([0, 0, 0.6, 0, 1, 0, 0])}, ends_at_fall=False
    )
    for robot in (ant, on_its_back):
        telemetry = deploy(robot, gait, seconds=3, seed=0)
        episodes = run_episodes(robot.until_it_falls(), gait)
        assert telemetry.ended == "fall"
        assert episodes.fell[0]
        assert len(telemetry) == episodes.steps[0]
