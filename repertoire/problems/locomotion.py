"""`Locomotion`: a robot learns to walk in as many ways as its feet can share the work."""

from collections.abc import Callable

import numpy as np

from repertoire.problems.normaliser import Normaliser
from repertoire.problems.problem import OBJECTIVES_AND_MEASURES, Evaluations, Problem, Request
from robots.description import foot_words
from robots.robot import Robot
from robots.simulation.simulation import Simulation


class Locomotion(Problem):
    """Walk: solutions are controllers, objectives sums of rewards, measures the feet's contact shares.

    Args:
        robot: who walks.
        threads: of the simulation; all cores by default.
    """

    learning_rate = 0.001

    def __init__(self, robot: Robot, *, threads: int | None = None) -> None:
        self.simulation = Simulation(robot, threads=threads)
        self.name = robot.name
        controller = self.simulation.controller
        self.solution_dim = controller.parameter_count
        self.normaliser = Normaliser(robot.observation_dim, controller.fold, controller.unfold)
        self.measure_ranges = robot.measure_ranges
        self.measure_names = tuple(
            f"{foot_words(foot)}: share of time on the ground" for foot in robot.description.measures
        )
        self.archive = robot.description.archive
        self.min_objective = robot.description.min_objective.value

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """See `Problem.initial`."""
        return self.simulation.controller.initial(rng)

    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """See `Problem.evaluate`; steps are control steps simulated."""
        self._check_request(request)
        episodes = self.simulation.evaluate(
            solutions, seeds, watched=request.observed, on_finished=on_finished
        )
        return Evaluations(
            episodes.objectives,
            episodes.measures,
            episodes.diverged,
            episodes.steps,
            moments=episodes.moments,
        )
