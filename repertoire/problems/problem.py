"""What every problem promises: `Problem`, and the `Evaluations` it returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repertoire.problems.normaliser import NO_OBSERVATIONS, Normaliser
from robots.errors import InvalidValueError
from robots.simulation.moments import ObservationMoments


@dataclass(frozen=True)
class Evaluations:
    """What evaluating n solutions gave.

    Attributes:
        objectives: (n,), larger is better; NaN where the evaluation failed.
        measures: (n, m), about within the problem's ranges; NaN where the evaluation failed.
        failed: (n,) bool, evaluations without a result, which must not enter an archive.
        steps: (n,), what each cost, in the problem's own unit of work.
        gradients: (n, 1 + m, solution_dim) float64, of the objective and of each measure by the parameters;
            None unless asked for.
        moments: of the observations in the watched episodes; None if none were, or there are no observations.
    """

    objectives: np.ndarray
    measures: np.ndarray
    failed: np.ndarray
    steps: np.ndarray
    gradients: np.ndarray | None = None
    moments: ObservationMoments | None = None


class Problem(ABC):
    """An objective and measures of solutions.

    Attributes:
        name: as on the command line, e.g. `sphere-100`.
        solution_dim: length of a solution.
        measure_ranges: lowest and highest value of each measure.
        measure_names: what each measure is, in words, as for the axis of a plot.
        archive: default number of cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
        learning_rate: the archive learning rate α with which Tjanaka et al. 2023 ran the problem.
        differentiable: whether it knows its gradients.
        normaliser: how solutions take up statistics of what their controllers observe.
    """

    name: str
    solution_dim: int
    measure_ranges: tuple[tuple[float, float], ...]
    measure_names: tuple[str, ...]
    archive: tuple[int, ...]
    min_objective: float
    learning_rate: float
    differentiable: bool = False
    normaliser: Normaliser = NO_OBSERVATIONS

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A solution to start a search from, (solution_dim,) float32."""

    @abstractmethod
    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        gradients: bool = False,
        watched: np.ndarray | None = None,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """Evaluate solutions; the result of one is a pure function of it and its seed.

        Args:
            solutions: (n, solution_dim), finite, taken as float32.
            seeds: (n,) non-negative integers.
            gradients: whether to return gradients too.
            watched: (n,) bool, the episodes whose observations are to be summed; None for none.
            on_finished: called, from any thread, with the number of evaluations finished so far.

        Raises:
            InvalidValueError: the shapes are wrong, a value is not finite, or the problem does not know the
                gradients that are asked for.
        """

    def _gradients(self, solutions: np.ndarray) -> np.ndarray:
        """Return the gradients (n, 1 + m, solution_dim) of checked solutions, if the problem knows them.

        Raises:
            InvalidValueError: it does not.
        """
        raise InvalidValueError(f"{self.name} does not know its gradients")
