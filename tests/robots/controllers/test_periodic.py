"""Periodic controllers: what their signals look like, and that they are played in closed loop as they are."""

import re

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from robots.controllers.periodic import Periodic, PeriodicDescription, Reflexes
from robots.errors import InvalidRobotError, InvalidValueError
from robots.robot import Robot, robot_from_text

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
    (bounded,) = controller.bounded(np.array([[7, -2.75, -3]], np.float32))
    np.testing.assert_array_equal(bounded, [1, -2.75, 0])


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
    with pytest.raises(InvalidValueError, match="names the joint 'tail', which is not among its joints"):
        ant.with_controller(PeriodicDescription(period=1.0, mirrored=("tail",)))


def _reacting(hexapod: Robot, *offsets: str) -> Robot:
    """The Hexapod with reflexes, which sees the paper's observation."""
    description = hexapod.description
    left, right = (tuple(leg for leg in description.legs if side in leg) for side in ("left", "right"))
    reflexes = Reflexes(left=left, right=right, offsets=offsets)
    return hexapod.with_controller(description.controller.model_copy(update={"reflexes": reflexes}))


def test_reflexes_change_strides_and_offsets_in_proportion_to_errors(hexapod: Robot) -> None:
    controller, plain = _reacting(hexapod, "pitch", "yaw").controller, hexapod.controller
    assert (controller.parameter_count, plain.parameter_count) == (36 + 1 + 2 * 12, 36)
    parameters = np.random.default_rng(0).uniform(0, 0.4, controller.parameter_count).astype(np.float32)
    yaw, pitch = 0.2, -0.1
    observation = np.zeros(hexapod.observation_dim, np.float32)
    observation[[1, 2, 7]] = np.sin(-yaw), np.cos(yaw), pitch
    signal, action = (
        some.act(p, observation, 7) for some, p in ((plain, parameters[:36]), (controller, parameters))
    )
    side = np.array([1] * 9 + [-1] * 9)
    # the tibia of each leg plays the signal of its femur reversed
    of_joint = np.array([[2 * leg, 2 * leg + 1, 2 * leg + 1] for leg in range(6)]).ravel()
    signs = np.tile([1, 1, -1], 6)
    pitching, turning = (parameters[37 + 12 * k : 49 + 12 * k][of_joint] * signs for k in range(2))
    expected = signal * (1 + 4 * parameters[36] * side * np.sin(yaw))
    expected += 2 * pitching * pitch + 2 * turning * np.sin(yaw)
    np.testing.assert_allclose(action, np.clip(expected, -1, 1), atol=1e-5)
    assert np.array_equal(controller.act(parameters, 0 * observation, 7), signal), "plain"
    parameters[36:] = 0.0
    assert np.array_equal(controller.act(parameters, observation, 7), signal), "without gains"


@pytest.mark.parametrize(
    ("reflexes", "message", "scale"),
    [
        ("{left: [left_front], right: [nowhere]}", "controller.reflexes names the leg 'nowhere'", 1.0),
        ("{left: [left_front], right: [left_front]}", "names the leg 'left_front' twice", 1.0),
        ("{offsets: [heading]}", "offsets", 1.0),
        ("{offsets: [pitch]}", "react to pitch, so observations must have pitch or gravity", 1.0),
        ("{offsets: [yaw]}", "the scale of the observation heading must not be 0", 0.0),
    ],
)
def test_reflexes_that_cannot_be_are_refused(
    hexapod: Robot, reflexes: str, message: str, scale: float
) -> None:
    yaml = hexapod.yaml.replace("  period: 1.0", f"  reflexes: {reflexes}\n  period: 1.0")
    with pytest.raises(InvalidRobotError, match=message):
        robot_from_text(
            hexapod.xml, f"{yaml}\nobservations: [{{term: heading, scale: {scale}}}]\n", origin="it"
        )
