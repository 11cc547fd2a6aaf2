"""What every evolution strategy promises: ask, tell, converged, restart, state."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from repertoire.state import select
from repertoire.strategies.generator import check_generator, generator_state, restore_generator
from repertoire.strategies.noise import Noise
from robots.compilation import compiled
from robots.errors import InvalidValueError

# the improvements of a batch that differ by less than this give no ranking to learn from
_FLAT = 1e-12
# far beyond any use of a parameter, and far from where float32 numbers end
_MAX_STEP = 1e20


# every reason to stop, in the order in which a history numbers them from 1; the last is an emitter's own
STOPS = (
    "flat values",
    "step size too small",
    "step size too large",
    "condition number too large",
    "step too small",
    "archive unchanged",
)


class Strategy(ABC):
    """A search distribution over solutions, updated from rankings: `ask`, then `tell`, in turn.

    Which x the update uses: samples are defined in float64, from the float64 state; `ask` hands out their
    rounding to float32, because archives and controllers hold that, and `tell` updates with the samples
    themselves. The update is thus exactly the published one. Updating with the rounded solutions instead
    would feed the rounding errors, divided by the step size, into the covariance matrix, where they dominate
    once the step size nears the spacing of float32 numbers. What was evaluated differs from the sample by at
    most half that spacing.

    Args:
        mean: (n,), the mean to start from.
        sigma0: initial standard deviation of every parameter, in units of the parameters.
        batch_size: solutions a generation; at least 2.
        rng: the only source of randomness: it gives the key of the noise, and an emitter draws its restarts
            from it, so that one generator's state resumes both. Must be driven by `numpy.random.SFC64`.

    Attributes:
        initial: (n,) float64, the mean that the strategy was constructed with.
        solution_dim: n.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    def __init__(self, mean: np.ndarray, *, sigma0: float, batch_size: int, rng: np.random.Generator) -> None:
        self.solution_dim = np.size(mean)
        self.initial = self._vector("mean", mean)
        if self.solution_dim < 1:
            raise InvalidValueError("mean must have at least 1 parameter")
        if not 0 < sigma0 < math.inf:
            raise InvalidValueError(f"sigma0 must be positive and finite, got {sigma0}")
        if batch_size < 2:
            raise InvalidValueError(f"batch_size must be at least 2, got {batch_size}")
        check_generator(rng)
        self.sigma0 = float(sigma0)
        self.batch_size = int(batch_size)
        self.rng = rng
        self._random = Noise(rng)
        self._asked = False

    @property
    @abstractmethod
    def sigma(self) -> float:
        """The step size, in units of the parameters."""

    @property
    @abstractmethod
    def condition_number(self) -> float:
        """Of the covariance matrix; nan for a strategy that does not know it."""

    def ask(self) -> np.ndarray:
        """Return new solutions, (batch_size, n) float32, which are the caller's to keep.

        Raises:
            RuntimeError: if the ranking of the previous ones was not told.
        """
        solutions = np.empty((self.batch_size, self.solution_dim), np.float32)
        for task in self.tasks(solutions):
            task()
        return solutions

    def tasks(self, solutions: np.ndarray) -> list[Callable[[], None]]:
        """Ask in pieces, for a caller with several threads.

        The pieces are the same however they are run, so the solutions do not depend on it.

        Args:
            solutions: (batch_size, n) float32, contiguous, to be filled.

        Returns:
            What is to be called, in any order and by any threads, before `tell`.

        Raises:
            RuntimeError: if the ranking of the previous ones was not told.
        """
        if self._asked:
            raise RuntimeError("ask was called twice: tell the ranking of the solutions asked before")
        self._asked = True
        draw = self._random.next_draw()
        return [partial(self._sample, solutions, rows, draw) for rows in self._parts()]

    def tell(self, ranking: np.ndarray) -> None:
        """Learn from how the solutions of the last `ask` rank.

        Args:
            ranking: (batch_size,) indices of these solutions, best first.

        Raises:
            InvalidValueError: if it is not a permutation of all of them.
            RuntimeError: if there was no `ask`, or its ranking was told already.
        """
        if not self._asked:
            raise RuntimeError("tell was called before ask: there are no solutions to rank")
        ranking = np.asarray(ranking)
        order = np.ascontiguousarray(ranking, np.int64)
        if ranking.shape != (self.batch_size,) or not _is_permutation(order):
            raise InvalidValueError(
                f"ranking must be a permutation of 0 to {self.batch_size - 1} with shape "
                f"({self.batch_size},), got shape {ranking.shape}: {ranking}"
            )
        self._update(order)
        self._asked = False

    def converged(self, values: np.ndarray) -> str | None:
        """Return why the search cannot go on, one of `STOPS`, or None if it can; to be asked after `tell`.

        Args:
            values: (batch_size,), what the solutions were ranked by, sorted.
        """
        reason = self._degenerate() if self.sigma < _MAX_STEP else "step size too large"
        # equality first: where every evaluation failed, all values are -inf and have no difference
        if reason is None and (values[0] == values[-1] or abs(values[0] - values[-1]) < _FLAT):
            reason = "flat values"
        return reason

    def restart(self, mean: np.ndarray) -> None:
        """Start afresh from a mean (n,); solutions asked but not told are forgotten.

        Raises:
            InvalidValueError: if its shape is wrong, or it is not finite.
        """
        self._reset(self._vector("mean", mean))
        self._asked = False

    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold, copied; every value is an array, a scalar one of shape ().

        Raises:
            RuntimeError: between ask and tell, when samples are under way that a checkpoint does not hold.
        """
        if self._asked:
            raise RuntimeError("the state was asked for between ask and tell: tell the ranking first")
        noise = {f"noise/{name}": value for name, value in self._random.state().items()}
        return {**self._search_state(), **noise, "generator": generator_state(self.rng)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the strategy that `state` was taken from, its generator included.

        Args:
            state: what `state()` returned, of a strategy constructed with the same arguments.

        Raises:
            InvalidValueError: if something is missing or has the wrong shape.
        """
        missing = {*self._search_state(), "noise/key", "noise/draws", "generator"} - state.keys()
        if missing:
            raise InvalidValueError(f"the strategy state lacks {', '.join(sorted(missing))}")
        self._restore_search(state)
        self._random.restore(select(state, "noise/"))
        restore_generator(self.rng, state["generator"])
        self._asked = False

    def _vector(self, name: str, value: np.ndarray) -> np.ndarray:
        """Return a float64 copy of a finite vector over the parameters, (n,)."""
        return self._array(name, value, (self.solution_dim,))

    @staticmethod
    def _array(name: str, value: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return a float64 copy of a finite array of a shape."""
        array = np.array(value, np.float64)
        if array.shape != shape:
            raise InvalidValueError(f"{name} must have shape {shape}, got {array.shape}")
        if not np.isfinite(array).all():
            raise InvalidValueError(f"{name} must be finite")
        return array

    @classmethod
    def _size(cls, name: str, state: Mapping[str, np.ndarray]) -> float:
        """Return a positive number of a state."""
        value = float(cls._array(name, state[name], ()))
        if value <= 0:
            raise InvalidValueError(f"{name} must be positive, got {value}")
        return value

    @classmethod
    def _count(cls, name: str, state: Mapping[str, np.ndarray]) -> int:
        """Return a number of a state that counts something."""
        value = float(cls._array(name, state[name], ()))
        if value < 0 or value != int(value):
            raise InvalidValueError(f"{name} must be a whole number, got {value}")
        return int(value)

    def _parts(self) -> list[slice]:
        """The rows of a batch in two halves, each of an even number of rows if the batch is."""
        half = self.batch_size // 4 * 2
        return [rows for rows in (slice(0, half), slice(half, self.batch_size)) if rows.start < rows.stop]

    @abstractmethod
    def _sample(self, solutions: np.ndarray, rows: slice, draw: int) -> None:
        """Fill some rows of a batch, and remember what `_update` needs of them: a piece of `ask`.

        Args:
            solutions: (batch_size, n) float32, of the whole batch.
            rows: which to fill; `rows.start` is also the stream of the noise to fill them with.
            draw: of the noise.
        """

    @abstractmethod
    def _update(self, ranking: np.ndarray) -> None:
        """Learn from a permutation (batch_size,) int64 of the batch drawn last: `tell` after its checks."""

    @abstractmethod
    def _degenerate(self) -> str | None:
        """Return why the search distribution is of no more use, or None."""

    @abstractmethod
    def _reset(self, mean: np.ndarray) -> None:
        """Make everything but the generator as new, with a mean that may be kept."""

    @abstractmethod
    def _search_state(self) -> dict[str, np.ndarray]:
        """Return copies of everything that changes, but for the generator."""

    @abstractmethod
    def _restore_search(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `_search_state` returned, checking shapes."""


@compiled()
def _is_permutation(ranking: np.ndarray) -> bool:
    seen = np.zeros(ranking.size, np.bool_)
    for i in ranking:
        if i < 0 or i >= ranking.size or seen[i]:
            return False
        seen[i] = True
    return True
