"""`DeterministicProblem`: what the benchmarks, which need neither a simulator nor seeds, have in common."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from repertoire.problems.problem import OBJECTIVES_AND_MEASURES, Evaluations, Problem, Request
from robots.compilation import compiled
from robots.errors import InvalidValueError

MAX_DIM = 1_000_000


class DeterministicProblem(Problem):
    """A problem without chance, of which no evaluation fails.

    Its thresholds start at 0 and its archive is a 100 x 100 grid, as in Tjanaka et al. 2023. Evaluations run
    on the calling thread, without the interpreter's lock.
    """

    archive = (100, 100)
    min_objective = 0.0

    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """See `Problem.evaluate`; the seeds are ignored."""
        self._check_request(request)
        solutions = self._checked(solutions)
        slopes = self._gradients(solutions) if request.gradients else None
        objectives, measures, steps = self._evaluate(solutions)
        if on_finished:
            on_finished(len(objectives))
        failed = np.zeros(len(objectives), np.bool_)
        return Evaluations(objectives, measures, failed, steps, gradients=slopes)

    def _checked(self, solutions: np.ndarray) -> np.ndarray:
        """Bring solutions into the form that kernels use: (n, solution_dim) float32, C-contiguous."""
        solutions = np.ascontiguousarray(solutions, np.float32)
        if solutions.ndim != 2 or solutions.shape[1] != self.solution_dim:
            raise InvalidValueError(
                f"solutions must have shape (n, {self.solution_dim}) for {self.name}, not {solutions.shape}"
            )
        if not _all_finite(solutions.reshape(-1)):
            bad = np.flatnonzero(~np.isfinite(solutions).all(axis=1))
            raise InvalidValueError(f"solutions must be finite, but are not at rows {bad[:10].tolist()}")
        return solutions

    @abstractmethod
    def _evaluate(self, solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return objectives (n,), measures (n, 2) and steps (n,) of checked solutions."""

    def _gradients(self, solutions: np.ndarray) -> np.ndarray:
        """Return the gradients (n, 3, solution_dim) of checked solutions, for a problem that knows them."""
        raise NotImplementedError


def check_dim(problem: str, dim: int) -> int:
    """Return the dimension of a problem that can have any from 2 to a million.

    Args:
        problem: what to call it in the error.
        dim: to be checked.

    Raises:
        InvalidValueError: it is outside that.
    """
    if not 2 <= dim <= MAX_DIM:
        raise InvalidValueError(f"{problem} must have 2 to {MAX_DIM:,} parameters, not {dim:,}")
    return int(dim)


@compiled(fastmath={"reassoc"})
def _all_finite(values: np.ndarray) -> bool:
    """Whether values (k,) float32 are finite: 0 times anything else is NaN. Thrice as fast as NumPy."""
    zero = np.float32(0)
    total = zero
    for i in range(values.size):
        total += zero * values[i]
    return total == zero
