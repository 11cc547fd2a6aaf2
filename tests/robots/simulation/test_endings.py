"""How episodes end, and what is noted of them for telling damages apart."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.robot import Robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads


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
        stepper = Stepper(leaning)
        stepper.reset(0)
        stepper.data.qpos[2] = 3.0  # in the air
        stepper.data.qpos[3:7] = Rotation.from_rotvec(angle * direction[0]).as_quat(scalar_first=True)
        stepper.step(stepper.state.action)
        assert bool(stepper.tally.terminated) == falls, angle


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_who_forfeits_loses_what_it_gained_but_keeps_what_it_lost(ant: Robot, speed: float) -> None:
    stepper = Stepper(_with_alive(ant, forfeits=True))
    stepper.reset(0)
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
    episodes = Threads(2).run(ModelBatch(robot), controllers, np.arange(len(controllers)))
    short = Threads(1).run(ModelBatch(ant.with_episode_steps(40)), controllers, np.arange(len(controllers)))
    assert 0 < episodes.fell.sum() < len(controllers), "some fall, some do not: or this test shows nothing"
    np.testing.assert_array_equal(episodes.fell, episodes.steps < 100)
    np.testing.assert_array_equal(episodes.midway, short.distances)
    stepper = Stepper(robot)
    for i, parameters in enumerate(controllers[:4]):
        stepper.reset(i)
        while not stepper.over:
            stepper.drive(parameters)
        data = stepper.posed_data()
        torso = data.body(robot.description.torso)
        yaw = Rotation.from_quat(torso.xquat, scalar_first=True).as_euler("xyz")[2]
        assert episodes.lateral[i] == pytest.approx(torso.xpos[1])
        assert episodes.heading[i] == pytest.approx(yaw)
