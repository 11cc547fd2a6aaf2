"""How episodes end, and what is noted of them for telling damages apart."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.robot import Robot
from robots.simulation.simulation import Simulation
from robots.simulation.slots import Slots

ONLY = np.zeros(1, np.int32)


def _with_alive(robot: Robot, **changes: object) -> Robot:
    """A robot that is alive under other conditions."""
    alive = robot.description.alive.model_copy(update=changes)
    steps = robot.description.episode_steps
    changed = robot.with_episode_steps(steps)  # a copy
    object.__setattr__(changed, "description", robot.description.model_copy(update={"alive": alive}))
    return changed


@pytest.mark.parametrize("axis", ["x", "y", "xy"])
def test_a_robot_that_leans_too_far_has_fallen(ant: Robot, axis: str) -> None:
    leaning = _with_alive(ant, max_tilt=1.0, min_height=None)
    direction = np.array([[*{"x": (1, 0), "y": (0, 1), "xy": (0.6, 0.8)}[axis], 0]])
    for angle, falls in ((0.9, False), (1.1, True), (2.5, True)):
        slots = Slots(leaning, 1)
        slots.begin(0, 0)
        slots.batch.bind("qpos")[0, 2] = 3.0  # in the air
        slots.batch.bind("qpos")[0, 3:7] = Rotation.from_rotvec(angle * direction[0]).as_quat(
            scalar_first=True
        )
        slots.advance(ONLY)
        assert bool(slots.tally.terminated[0]) == falls, angle


def test_who_forfeits_ends_with_nothing(ant: Robot) -> None:
    slots = Slots(_with_alive(ant, forfeits=True), 1)
    slots.begin(0, 0)
    total = 0.0
    for _ in range(5):
        slots.advance(ONLY)
        total += slots.tally.reward[0]
    assert total == pytest.approx(slots.tally.objective[0])
    assert total != 0
    slots.batch.bind("qpos")[0, 2] = 0.1
    slots.advance(ONLY)
    assert slots.tally.terminated[0]
    assert slots.tally.objective[0] == 0
    assert total + slots.tally.reward[0] == pytest.approx(0, abs=1e-12)


def test_an_episode_says_where_it_was_midway_and_where_it_ended(ant: Robot, controllers: np.ndarray) -> None:
    robot = ant.with_episode_steps(100)
    with Simulation(robot, threads=2) as simulation:
        episodes = simulation.evaluate(controllers, np.arange(len(controllers)))
    with Simulation(ant.with_episode_steps(40), threads=1) as simulation:
        short = simulation.evaluate(controllers, np.arange(len(controllers)))
    assert 0 < episodes.fell.sum() < len(controllers), "some fall, some do not: or this test shows nothing"
    np.testing.assert_array_equal(episodes.fell, episodes.steps < 100)
    np.testing.assert_array_equal(episodes.midway, short.distances)
    slots = Slots(robot, 1)
    for i, parameters in enumerate(controllers[:4]):
        slots.begin(0, i)
        while not slots.over(0):
            simulation.controller.act(
                parameters[None], slots.observations, slots.tally.steps, slots.actions, ONLY
            )
            slots.advance(ONLY)
        data = slots.data(0)
        torso = data.body(robot.description.torso)
        yaw = Rotation.from_quat(torso.xquat, scalar_first=True).as_euler("xyz")[2]
        assert episodes.lateral[i] == pytest.approx(torso.xpos[1])
        assert episodes.heading[i] == pytest.approx(yaw)
