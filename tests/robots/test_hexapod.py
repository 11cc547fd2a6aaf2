"""The Hexapod: the sizes of the robot that it follows, its symmetry, and the published tripod gait."""

import numpy as np
import pytest

from robots.robot import Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import Threads
from robots.stance import standing_on_floor

# amplitude, phase and duty of each leg's coxa and femur, as published with the study of 2015
TRIPOD = np.array(
    [
        [1, coxa, 0.5, 0.25, femur, 0.5]
        for coxa, femur in zip((0, 0.5, 0, 0, 0.5, 0), (0.25, 0.75) * 3, strict=True)
    ]
)


@pytest.fixture(scope="module")
def hexapod() -> Robot:
    return load_robot("hexapod")


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


def test_it_stands_level_on_six_feet(hexapod: Robot) -> None:
    data = standing_on_floor(hexapod)
    feet = [data.body(f"{leg}_tibia") for leg in hexapod.description.legs]
    soles = np.array([foot.xpos + foot.xmat.reshape(3, 3) @ [0, 0, -0.145] for foot in feet])
    np.testing.assert_allclose(soles[:, 2], 0.015, atol=1e-6)
    assert data.body("torso").xpos[2] == pytest.approx(0.16)
    np.testing.assert_allclose(soles[:3] * [1, -1, 1], soles[3:], atol=1e-6)
    assert np.all(soles[:3, 1] > 0.18)
    assert np.all(np.diff(soles[:3, 0]) < -0.15)


def test_the_published_tripod_walks_straight_ahead(hexapod: Robot) -> None:
    episodes = Threads(2).run(ModelBatch(hexapod), np.tile(TRIPOD.ravel(), (8, 1)), np.arange(8))
    assert not episodes.fell.any()
    np.testing.assert_allclose(episodes.objectives, episodes.distances, atol=1e-9)
    assert np.all((episodes.objectives > 1.0) & (episodes.objectives < 2.5))  # 0.2 to 0.5 m/s
    assert np.all(np.abs(episodes.lateral) < 0.2 * episodes.objectives)
    assert episodes.objectives.std() > 0, "all trials are alike"
