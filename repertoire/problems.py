"""`Problem`: what is being solved. Locomotion is the one there is."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robots.robot import Robot
from robots.simulation import Simulation


@dataclass(frozen=True)
class Evaluations:
    """What evaluating n solutions gave.

    Attributes:
        objectives: (n,), larger is better; NaN where the evaluation failed.
        measures: (n, m), within the problem's ranges; NaN where the evaluation failed.
        failed: (n,) bool, evaluations without a result, which must not enter an archive.
        steps: (n,), what each cost, in the problem's own unit of work.
    """

    objectives: np.ndarray
    measures: np.ndarray
    failed: np.ndarray
    steps: np.ndarray


class Problem(ABC):
    """An objective and measures of solutions.

    Attributes:
        solution_dim: length of a solution.
        measure_ranges: lowest and highest value of each measure.
    """

    solution_dim: int
    measure_ranges: tuple[tuple[float, float], ...]

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A solution to start a search from, (solution_dim,) float32."""

    @abstractmethod
    def evaluate(
        self, solutions: np.ndarray, seeds: np.ndarray, *, on_finished: Callable[[int], None] | None = None
    ) -> Evaluations:
        """Evaluate solutions; the result of one is a pure function of it and its seed.

        Args:
            solutions: (n, solution_dim) float32.
            seeds: (n,) non-negative integers.
            on_finished: called, from any thread, with the number of evaluations finished so far.
        """


class Locomotion(Problem):
    """Walk: solutions are controllers, objectives sums of rewards, measures the feet's contact shares.

    Args:
        robot: who walks.
        threads: of the simulation; all cores by default.
    """

    def __init__(self, robot: Robot, *, threads: int | None = None) -> None:
        self.simulation = Simulation(robot, threads=threads)
        self.solution_dim = self.simulation.controller.parameter_count
        self.measure_ranges = ((0.0, 1.0),) * robot.measure_dim

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """See `Problem.initial`."""
        return self.simulation.controller.initial(rng)

    def evaluate(
        self, solutions: np.ndarray, seeds: np.ndarray, *, on_finished: Callable[[int], None] | None = None
    ) -> Evaluations:
        """See `Problem.evaluate`; steps are control steps simulated."""
        episodes = self.simulation.evaluate(solutions, seeds, on_finished=on_finished)
        return Evaluations(episodes.objectives, episodes.measures, episodes.diverged, episodes.steps)
