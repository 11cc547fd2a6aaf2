"""Faults of a robot's signals, a control step at a time and in compiled episodes alike."""

import numpy as np
import pytest

from robots.robot import Faults, Robot
from robots.simulation.observing import normal
from robots.simulation.stepper import Stepper, take_over
from tests.robots.stepping import begun, check_whole_and_stepped, run_episodes


def _faulty(robot: Robot, faults: Faults) -> Robot:
    return robot.modified("fault", lambda spec: None, faults)


def _watch(robot: Robot, parameters: np.ndarray, steps: int, seed: int = 3) -> np.ndarray:
    """Observations, step by step."""
    stepper = begun(robot, seed)
    seen = [stepper.state.observation.copy()]
    for _ in range(steps):
        stepper.drive(parameters)
        seen.append(stepper.state.observation.copy())
    return np.array(seen)


def test_actions_come_late(ant: Robot, controllers: np.ndarray) -> None:
    stepper = begun(_faulty(ant, Faults(delay=2)), 3)
    sent = np.random.default_rng(0).uniform(-1, 1, (9, ant.action_dim)).astype(np.float32)
    arrived = []
    for action in sent:
        stepper.step(action)
        arrived.append(stepper.state.action.copy())
    np.testing.assert_array_equal(arrived[2:], sent[:-2])
    assert not np.any(arrived[:2])
    stepper.reset(3)
    stepper.step(sent[0])
    assert not np.any(stepper.state.action), "a second episode knows nothing of the first one's actions"


def test_actions_of_single_joints_come_late_or_not_at_all(ant: Robot) -> None:
    one, other, often = ant.description.joints[:3]
    stepper = begun(_faulty(ant, Faults(late={one: 3}, dropped={other: 1.0, often: 0.5})), 3)
    sent = np.random.default_rng(0).uniform(-1, 1, (60, ant.action_dim)).astype(np.float32)
    arrived = []
    for number, action in enumerate(sent):
        if number == 30:
            stepper.carry_on(4)  # what is on its way still arrives
        stepper.step(action)
        arrived.append(stepper.state.action.copy())
    arrived = np.array(arrived)
    np.testing.assert_array_equal(arrived[3:, 0], sent[:-3, 0])
    np.testing.assert_allclose(arrived[1:30, 1], sent[0, 1], atol=1e-6)  # the first came
    same = np.isclose(arrived[1:, 2], arrived[:-1, 2], atol=1e-6)
    np.testing.assert_allclose(arrived[1:, 2][~same], sent[1:, 2][~same])
    assert 15 < same.sum() < 45
    np.testing.assert_array_equal(arrived[:, 3:], sent[:, 3:])


def test_readings_are_off_and_drop_out(ant: Robot, controllers: np.ndarray) -> None:
    off, held, often = (entry.label for entry in ant.entries[8:11])
    faults = Faults(biased={off: 0.25}, missing={held: 1.0, often: 0.5})
    seen, healthy = (
        _watch(_faulty(ant, faults), np.zeros_like(controllers[0]), 40),
        _watch(ant, controllers[0], 0),
    )
    assert seen[0, 8] - healthy[0, 8] == pytest.approx(0.25)
    assert np.ptp(seen[:, 9]) == 0
    assert seen[0, 9] == healthy[0, 9]
    assert 8 < np.sum(np.diff(seen[:, 10]) == 0) < 32
    assert np.ptp(seen[:, 11]) > 0


def test_a_frozen_reading_stays_as_it_is_in_a_robot_of_which_more_breaks(ant: Robot) -> None:
    frozen = _faulty(ant, Faults(missing={ant.entries[9].label: 1.0}))
    before, steppers = begun(ant, 3), [Stepper(frozen), Stepper(_faulty(frozen, Faults(stuck={"roll": 0.1})))]
    action = np.full(ant.action_dim, 0.5, np.float32)
    for _ in range(20):
        before.step(action)
    held = before.state.observation[9]
    for stepper in steppers:
        take_over(stepper, before)
        for _ in range(5):
            stepper.step(action)
            assert stepper.state.observation[9] == held
        before = stepper
    before.carry_on(4)
    assert before.state.observation[9] == held


def test_a_stuck_sensor_reads_one_value(ant: Robot, controllers: np.ndarray) -> None:
    name = ant.entries[10].label
    seen = _watch(_faulty(ant, Faults(stuck={name: 0.25})), controllers[0], 20)
    assert np.all(seen[:, 10] == np.float32(0.25))
    healthy = _watch(ant, controllers[0], 20)
    assert np.ptp(healthy[:, 10]) > 0.01
    np.testing.assert_array_equal(np.delete(seen[0], 10), np.delete(healthy[0], 10))


def test_a_noisy_sensor_is_off_by_numbers_of_the_seed(ant: Robot, controllers: np.ndarray) -> None:
    noisy = _faulty(ant, Faults(noisy={ant.entries[9].label: 0.5}))
    first = _watch(noisy, controllers[0], 15)
    again = _watch(noisy, controllers[0], 15)
    np.testing.assert_array_equal(first, again)
    other = _watch(noisy, controllers[0], 15, seed=4)
    assert not np.array_equal(first[:, 9], other[:, 9])
    healthy = _watch(ant, controllers[0], 15)
    assert first[0, 9] - healthy[0, 9] == pytest.approx(0.5 * normal(3, 0, 9), abs=1e-6)


def test_noise_is_normal_and_without_memory() -> None:
    numbers = np.array(
        [normal(seed, step, channel) for seed in range(20) for step in range(40) for channel in range(25)]
    )
    assert abs(numbers.mean()) < 4 / np.sqrt(len(numbers))
    assert numbers.std() == pytest.approx(1, abs=0.02)
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03
    assert len(np.unique(numbers)) == len(numbers)


def test_compiled_episodes_have_the_same_faults(ant: Robot, controllers: np.ndarray) -> None:
    names = [entry.label for entry in ant.entries]
    healthy = ant.with_episode_steps(60)
    robot = _faulty(
        healthy,
        Faults(
            delay=3,
            late={ant.description.joints[0]: 2},
            dropped=dict.fromkeys(ant.description.joints[1:3], 0.4),
            stuck={names[8]: 0.5},
            noisy={names[12]: 0.3},
            biased={names[13]: 0.1},
            missing={names[14]: 0.6},
        ),
    )
    objective = check_whole_and_stepped(robot, controllers[0])[0].tally.objective
    assert run_episodes(healthy, controllers[0], 5).objectives[0] != objective


def test_a_fixed_joint_reads_its_angle_and_a_lost_one_zero(ant: Robot) -> None:
    joint = ant.description.joints[1]

    def without(spec) -> None:
        spec.delete(next(motor for motor in spec.actuators if motor.target == joint))
        spec.delete(spec.joint(joint))

    low, high = ant.joint_ranges[1]
    fixed = ant.modified("fixed", without, Faults(fixed={joint: low + 0.75 * (high - low)}))
    lost = ant.modified("lost", without)
    for robot, expected in ((fixed, 0.5), (lost, 0.0)):
        stepper = begun(robot)
        stepper.step(stepper.state.action)
        assert stepper.state.observation[10] == pytest.approx(expected)
        assert stepper.state.observation[11] == 0


def test_faults_of_several_changes_add_up(ant: Robot) -> None:
    robot = _faulty(_faulty(ant, Faults(delay=1, stuck={"roll": 0.1})), Faults(delay=2, noisy={"pitch": 0.2}))
    assert robot.faults == Faults(delay=3, stuck={"roll": 0.1}, noisy={"pitch": 0.2})
