"""Periodic controllers: what their signals look like, and that they are played in closed loop as they are."""

import re

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from robots.controllers.periodic import Periodic, PeriodicDescription
from robots.errors import InvalidValueError
from robots.robot import Robot

FINE = 10_000


def _reference(amplitude: float, phase: float, duty: float, samples: int) -> np.ndarray:
    """A square wave smoothed by SciPy on a fine grid, and sampled."""
    square = np.where((np.arange(FINE) + 0.5) / FINE < duty, 1.0, -1.0)
    smooth = gaussian_filter1d(square, 0.03 * FINE, mode="wrap", truncate=8)
    at = (np.arange(samples) / samples + phase) % 1
    return amplitude * np.interp(at, (np.arange(FINE) + 0.5) / FINE, smooth, period=1)


@pytest.mark.parametrize(
    ("amplitude", "phase", "duty"), [(1, 0, 0.5), (0.6, 0.3, 0.2), (0.4, 0.95, 0.9), (1, 0.1, 0), (0.5, 0, 1)]
)
def test_a_signal_is_a_smoothed_square_wave(amplitude: float, phase: float, duty: float) -> None:
    controller = Periodic(observation_dim=0, signals=(0,), signs=(1,), samples=50)
    table = np.zeros((50, 1), np.float32)
    controller.prepare(np.array([amplitude, phase, duty], np.float32), table)
    np.testing.assert_allclose(table[:, 0], _reference(amplitude, phase, duty, 50), atol=2e-3)


def test_parameters_need_no_bounds() -> None:
    controller = Periodic(observation_dim=0, signals=(0,), signs=(1,), samples=40)
    inside, outside = np.zeros((40, 1), np.float32), np.zeros((40, 1), np.float32)
    controller.prepare(np.array([1, 0.25, 0], np.float32), inside)
    controller.prepare(np.array([7, -2.75, -3], np.float32), outside)
    np.testing.assert_array_equal(inside, outside)


def test_joints_follow_their_signal_or_another_joints_reversed(ant: Robot) -> None:
    joints = ant.description.joints
    shape = PeriodicDescription(period=0.33, opposite={joints[1]: joints[0]})
    controller = ant.with_controller(shape).controller
    assert controller.parameter_count == 3 * (len(joints) - 1)
    _, table = controller.arguments()
    controller.prepare(controller.initial(np.random.default_rng(0)), table)
    np.testing.assert_array_equal(table[:, 1], -table[:, 0])
    assert not np.array_equal(table[:, 2], table[:, 0])


@pytest.mark.parametrize("period", [0.1, 1e-5, 0.0165 * 10_001, 1e308])
def test_a_period_must_be_whole_control_steps(ant: Robot, period: float) -> None:
    robot = ant.with_controller(PeriodicDescription(period=period))
    message = f"whole number of control steps of 0.0165 s, at most 10,000, not {re.escape(f'{period:g}')} s"
    with pytest.raises(InvalidValueError, match=message):
        _ = robot.controller


def test_a_robot_takes_the_controllers_of_a_name_that_fits(ant: Robot) -> None:
    assert ant.with_controller("mlp-28-128-128-8") is ant
    assert ant.with_controller("mlp-28-16-8").controller.shape == "mlp-28-16-8"
    for name in ("mlp-28-8", "mlp-27-16-8", "periodic-36", "mlp-28-0-8", "mlp", ""):
        with pytest.raises(InvalidValueError, match="'mlp-28-128-128-8'"):
            ant.with_controller(name)
