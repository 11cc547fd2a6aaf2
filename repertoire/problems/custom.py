"""`Custom`: a problem of a user's own, whose solutions the user evaluates between `ask` and `tell`."""

from collections.abc import Sequence

import numpy as np

from repertoire.archives.archive import checked_ranges
from repertoire.problems.problem import Problem
from repertoire.problems.record import ProblemRecord
from repertoire.state import checked_floats
from robots.arrays import whole_number
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations

_MOST_DIM = 100_000_000  # of which a batch of 200 solutions takes 80 GB


class Custom(Problem):
    """Solutions of a known length with known ranges of their measures; everything else is the user's.

    Args:
        solution_dim: length of a solution, n.
        measure_ranges: lowest and highest value of each measure.
        min_objective: floor of every threshold and offset of the QD score; worse objectives do not count.
        name: of the problem, as in files and pictures.
        measure_names: of each measure; `measure 1` and so on by default.
        initial: solution from which the search starts, (n,); all zeros by default.

    Raises:
        InvalidValueError: the length is below 1 or too large, a range is not finite or has no extent, the
            initial solution has another shape, or a name or number is not fit for a file.
    """

    learning_rate = 0.001
    stochastic = False
    differentiable = True  # as far as the user tells gradients

    def __init__(
        self,
        solution_dim: int,
        measure_ranges: Sequence[tuple[float, float]],
        *,
        min_objective: float,
        name: str = "custom",
        measure_names: Sequence[str] = (),
        initial: np.ndarray | None = None,
    ) -> None:
        solution_dim = whole_number("solution_dim", solution_dim, 1, _MOST_DIM)
        ranges = tuple((low, high) for low, high in checked_ranges(measure_ranges).tolist())
        self.record = ProblemRecord(str(name), solution_dim, ranges, tuple(map(str, measure_names)))
        self.archive = (20,) * len(ranges)
        self.min_objective = float(checked_floats("min_objective", min_objective, ()))
        start = np.zeros(self.solution_dim) if initial is None else initial
        self._initial = checked_floats("initial", start, (self.solution_dim,)).astype(np.float32)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """The initial solution, (n,) float32, whatever the generator."""
        return self._initial.copy()

    def evaluate(self, *_: object, **__: object) -> Evaluations:
        """Refuse: only the user can evaluate solutions.

        Raises:
            InvalidValueError: always.
        """
        raise InvalidValueError(f"{self.name} is evaluated by its user: call ask and tell")
