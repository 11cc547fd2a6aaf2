"""`Locomotion`: a robot learns to walk in as many ways as its feet can share the work."""

from collections.abc import Callable

import numpy as np

from repertoire.problems.problem import OBJECTIVES_AND_MEASURES, Evaluations, Normaliser, Problem, Request
from repertoire.problems.record import ProblemRecord
from robots.robot import Robot
from robots.simulation.simulation import Simulation
from robots.words import foot_words

_SHORT_STEPS = 2  # of an episode that only compiles the simulation


class Locomotion(Problem):
    """Walk: solutions are controllers, objectives sums of rewards, measures the feet's contact shares.

    Args:
        robot: the robot that walks.
        threads: of the simulation; all cores by default.
    """

    learning_rate = 0.001

    def __init__(self, robot: Robot, *, threads: int | None = None) -> None:
        self.simulation = Simulation(robot, threads=threads)
        controller = self.simulation.controller
        vars(self).update(vars(walking_record(robot)))
        self.normaliser = Normaliser(robot.observation_dim, controller.fold, controller.unfold)
        self.sigma0 = controller.sigma0
        self.archive = robot.description.archive
        self.min_objective = robot.description.min_objective.value

    def shortened(self) -> Problem:
        """The same robot, for episodes of two control steps."""
        short = self.simulation.robot.with_episode_steps(_SHORT_STEPS)
        return Locomotion(short, threads=self.simulation.threads)

    def close(self) -> None:
        """See `Problem.close`."""
        self.simulation.close()

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


def walking_record(robot: Robot) -> ProblemRecord:
    """The facts of the problem to walk with a robot, in episodes as long as its description says."""
    controller = robot.controller
    return ProblemRecord(
        name=robot.name,
        solution_dim=controller.parameter_count,
        measure_ranges=robot.measure_ranges,
        measure_names=tuple(foot_words(foot) for foot in robot.description.measures),
        measure_meaning="share of time on the ground",
        objective_name=f"sum of rewards in up to {robot.description.episode_steps:,} control steps",
        robot=robot,
        controller=controller.shape,
    )
