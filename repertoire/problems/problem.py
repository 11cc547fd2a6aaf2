"""What every problem promises: `Problem`, and the `Evaluations` it returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Evaluations:
    """What evaluating n solutions gave.

    Attributes:
        objectives: (n,), larger is better; NaN where the evaluation failed.
        measures: (n, m), about within the problem's ranges; NaN where the evaluation failed.
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
        name: as on the command line, e.g. `sphere-100`.
        solution_dim: length of a solution.
        measure_ranges: lowest and highest value of each measure.
        measure_names: what each measure is, in words, as for the axis of a plot.
        archive: default number of cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
        learning_rate: the archive learning rate α with which Tjanaka et al. 2023 ran the problem.
    """

    name: str
    solution_dim: int
    measure_ranges: tuple[tuple[float, float], ...]
    measure_names: tuple[str, ...]
    archive: tuple[int, ...]
    min_objective: float
    learning_rate: float

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A solution to start a search from, (solution_dim,) float32."""

    @abstractmethod
    def evaluate(
        self, solutions: np.ndarray, seeds: np.ndarray, *, on_finished: Callable[[int], None] | None = None
    ) -> Evaluations:
        """Evaluate solutions; the result of one is a pure function of it and its seed.

        Args:
            solutions: (n, solution_dim), finite, taken as float32.
            seeds: (n,) non-negative integers.
            on_finished: called, from any thread, with the number of evaluations finished so far.

        Raises:
            InvalidValueError: the shapes are wrong, or a value is not finite.
        """
