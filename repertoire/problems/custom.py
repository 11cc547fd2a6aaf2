"""`Custom`: a problem of a user's own, whose solutions the user evaluates between `ask` and `tell`."""

from collections.abc import Callable, Sequence

import numpy as np

from repertoire.problems.problem import OBJECTIVES_AND_MEASURES, Evaluations, Problem, Request
from robots.errors import InvalidValueError


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
        InvalidValueError: the length is below 1, a range is not finite or has no extent, or the initial
            solution has another shape.
    """

    learning_rate = 0.001
    stochastic = False

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
        if solution_dim < 1:
            raise InvalidValueError(f"solution_dim must be at least 1, not {solution_dim}")
        self.name = name
        self.solution_dim = int(solution_dim)
        self.measure_ranges = tuple((float(low), float(high)) for low, high in measure_ranges)
        for low, high in self.measure_ranges:
            if not (np.isfinite([low, high]).all() and low < high):
                raise InvalidValueError(
                    f"each measure needs a finite range with its lowest value first, not {low, high}"
                )
        self.measure_names = tuple(measure_names)
        self.archive = (20,) * len(self.measure_ranges)
        self.min_objective = float(min_objective)
        self._initial = np.zeros(self.solution_dim) if initial is None else np.asarray(initial)
        if self._initial.shape != (self.solution_dim,):
            raise InvalidValueError(
                f"initial must have shape ({self.solution_dim},), not {self._initial.shape}"
            )

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """The initial solution, (n,) float32, whatever the generator."""
        return self._initial.astype(np.float32)

    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """Refuse: only the user can evaluate solutions.

        Raises:
            InvalidValueError: always.
        """
        raise InvalidValueError(f"{self.name} is evaluated by its user: call ask and tell")
