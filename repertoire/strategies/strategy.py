"""What every evolution strategy promises: ask, tell, converged, restart, state."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from repertoire.state import select
from repertoire.strategies.noise import Noise, check_generator, generator_state, restore_generator
from robots.compilation import compiled
from robots.errors import InvalidValueError
from robots.records import Kind

BatchSize = Annotated[int, Field(ge=2, le=10_000, strict=True)]
StepSize = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]

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


class StrategySettings(Kind, ABC):
    """Settings of a strategy; the defaults are those of Tjanaka et al. 2023.

    Attributes:
        summary: what it is, in a line.
        batch_size: solutions a generation.
        sigma0: initial standard deviation of every parameter, in units of the parameters.
    """

    summary: ClassVar[str]
    batch_size: BatchSize = 40
    sigma0: StepSize = 0.02

    @abstractmethod
    def make(self, mean: np.ndarray, rng: np.random.Generator) -> "Strategy":
        """Make a strategy.

        Args:
            mean: (n,), finite, the mean to start from.
            rng: its only source of randomness; driven by `numpy.random.SFC64`.

        Raises:
            InvalidValueError: a setting does not suit the strategy or the mean.
        """

    def memory(self, n: int) -> int:
        """Return the bytes that it takes in addition to a few batches, for n parameters."""
        return 0

    def remark(self, n: int) -> str | None:
        """Return what a user should know of these settings for n parameters, if anything."""
        return None


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

    def ask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return new solutions, (batch_size, n) float32.

        Args:
            out: (batch_size, n) float32, contiguous, to be filled and returned; a new array by default.

        Raises:
            RuntimeError: if the ranking of the previous ones was not told.
        """
        if self._asked:
            raise RuntimeError("ask was called twice: tell the ranking of the solutions asked before")
        self._asked = True
        solutions = np.empty((self.batch_size, self.solution_dim), np.float32) if out is None else out
        self._sample(solutions)
        return solutions

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
            RuntimeError: between ask and tell, since a checkpoint does not hold samples.
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

    def _draw(self, noise: np.ndarray) -> None:
        """Fill an array of as many rows as the batch, or half as many, with standard normal numbers.

        Each half of the rows comes from a stream of its own, whose number is the first row of the batch that
        it is for.
        """
        draw, half = self._random.next_draw(), self.batch_size // 4 * 2
        split = half * len(noise) // self.batch_size
        self._random.fill(noise[:split], draw=draw, stream=0)
        self._random.fill(noise[split:], draw=draw, stream=half)

    @abstractmethod
    def _sample(self, solutions: np.ndarray) -> None:
        """Fill (batch_size, n) float32, and remember what `_update` needs: `ask` after its checks."""

    @abstractmethod
    def _update(self, ranking: np.ndarray) -> None:
        """Learn from a permutation (batch_size,) int64 of the batch drawn last: `tell` after its checks."""

    @abstractmethod
    def _degenerate(self) -> str | None:
        """Return why the search distribution can no longer be used, or None if it can."""

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
