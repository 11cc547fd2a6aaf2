"""Steppers and episodes, as tests of many kinds need them."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from robots.evaluations import Request
from robots.robot import Robot
from robots.simulation.backend import ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads


def described(robot: Robot, **changes: object) -> Robot:
    """The robot with other values in its description."""
    return replace(robot, description=robot.description.model_copy(update=changes))


def begun(robot: Robot, seed: int = 0) -> Stepper:
    """A stepper at the start of an episode."""
    stepper = Stepper(robot)
    stepper.reset(seed)
    return stepper


def run_episodes(robot: Robot, gaits: np.ndarray, seed: int | None = None, **request: bool) -> Episodes:
    """Episodes of one gait or more, all of one seed, or of the seeds 0, 1, 2 and so on."""
    gaits = np.atleast_2d(gaits)
    seeds = np.arange(len(gaits)) if seed is None else np.full(len(gaits), seed)
    return Threads(1).run(ModelBatch(robot), gaits, seeds, request=Request(**request))


def angles_of(body) -> np.ndarray:
    """Roll, pitch and yaw of a body, as SciPy reads them off MuJoCo's state."""
    return Rotation.from_matrix(body.xmat.reshape(3, 3)).as_euler("xyz")


def check_whole_and_stepped(robot: Robot, parameters: np.ndarray) -> tuple[Stepper, Stepper]:
    """Check that an episode in compiled code is that of single steps, and return who made either."""
    whole, single = Stepper(robot), begun(robot, 5)
    whole.run(parameters, 5)
    while not single.drive(parameters):
        pass
    assert whole.tally == single.tally
    np.testing.assert_array_equal(whole.state.observation, single.state.observation)
    return whole, single
