import numpy as np
import pytest

import surefoot
from robots.catalogue import robot_names
from robots.robot import Robot, load_robot


@pytest.fixture(scope="session")
def ant() -> Robot:
    return load_robot("ant")


@pytest.fixture(scope="session")
def hexapod() -> Robot:
    return load_robot("hexapod")


@pytest.fixture(scope="session")
def quadruped() -> Robot:
    return load_robot("quadruped")


@pytest.fixture(scope="session")
def gait() -> tuple[Robot, np.ndarray]:
    """The hexapod, and the best gait of its repertoire."""
    repertoire = surefoot.load("hexapod")
    return repertoire.robot, repertoire.gaits.solutions[repertoire.find("best")]


@pytest.fixture(scope="session", params=robot_names())
def robot(request: pytest.FixtureRequest) -> Robot:
    """Every robot that comes with the package."""
    return load_robot(request.param)


@pytest.fixture(scope="session")
def controllers(ant: Robot) -> np.ndarray:
    """Random controllers, (12, p): some fall soon, some shuffle on."""
    rng = np.random.default_rng(0)
    return np.stack([np.float32(2) * ant.controller.initial(rng) for _ in range(12)])
