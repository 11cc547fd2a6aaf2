"""The Quadruped: its numbers, how it stands, and gaits that start as trots."""

import numpy as np
import pytest

from robots.errors import InvalidRobotError
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper


@pytest.fixture(scope="module")
def quadruped() -> Robot:
    return load_robot("quadruped")


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


def test_it_stands_where_its_servos_hold_it(quadruped: Robot) -> None:
    stepper = Stepper(quadruped)
    stepper.reset(1)
    while not stepper.step(np.zeros(12)):
        pass
    assert stepper.tally.steps == quadruped.description.episode_steps
    assert 0.22 < stepper.data.qpos[2] < 0.29
    assert abs(stepper.progress) < 0.3


def test_its_searches_start_with_trots(quadruped: Robot) -> None:
    """Legs across each other have the same signals, the others those of half a period later."""
    controller = quadruped.controller
    period = controller.period(controller.initial(np.random.default_rng(1))).reshape(20, 4, 3)
    np.testing.assert_allclose(period[:, 0], period[:, 3], atol=1e-6)
    np.testing.assert_allclose(period[:, 1], period[:, 2], atol=1e-6)
    np.testing.assert_allclose(period[:, 0], np.roll(period[:, 1], 10, axis=0), atol=1e-5)
    assert np.ptp(period[:, 0], axis=0).min() > 0.01


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ("{tail: 0.5}", "controller.phases names the leg 'tail', which is not among its legs: front_left"),
        ("{front_left: 1.5}", "less than or equal to 1, not 1.5"),
        ("{front_left: .nan}", "phases.front_left"),
    ],
)
def test_phases_that_cannot_be_are_refused(quadruped: Robot, phases: str, message: str) -> None:
    before, after = quadruped.yaml.split("  phases: ")
    with pytest.raises(InvalidRobotError, match=message):
        robot_from_text(
            quadruped.xml, f"{before}  phases: {phases}\n{after.partition(chr(10))[2]}", origin="q"
        )


def test_legs_that_start_alike_need_as_many_signals(quadruped: Robot) -> None:
    yaml = quadruped.yaml.replace(
        "  period: 0.4", "  opposite: {front_left_shank: front_left_thigh}\n  period: 0.4"
    )
    with pytest.raises(InvalidRobotError, match="as many signals each, not: front_left 2, front_right 3"):
        robot_from_text(quadruped.xml, yaml, origin="q")
