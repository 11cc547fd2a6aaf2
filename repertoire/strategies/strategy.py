"""What every evolution strategy promises: ask, tell, converged, restart, state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from repertoire.state import checked_floats, nested, select
from repertoire.strategies.noise import Noise, generator_state, restore_generator
from robots.errors import InvalidValueError
from robots.files.records import Kind

BatchSize = Annotated[int, Field(ge=2, le=10_000, strict=True)]
StepSize = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]

# the improvements of a batch that differ by less than this give no ranking to learn from
_FLAT = 1e-12
# a step size or parameter: far beyond any use of it, and far from where float32 numbers end
FARTHEST = 1e20


# every reason to stop, in the order in which a history numbers them from 1; the last is an emitter's own
STOPS = (
    "flat values",
    "step size too small",
    "step size too large",
    "condition number too large",
    "step too small",
    "archive unchanged",
)


class StrategySettings(Kind):
    """Settings of a strategy; the defaults are those of Tjanaka et al. 2023.

    Attributes:
        summary: what it is, in a line.
        strategy: what is made of it.
        batch_size: solutions a generation.
        sigma0: initial standard deviation of every parameter, in units of the parameters.
    """

    summary: ClassVar[str]
    strategy: ClassVar[type["Strategy"]]
    batch_size: BatchSize = 40
    sigma0: StepSize = 0.02

    def make(self, mean: np.ndarray, rng: np.random.Generator) -> "Strategy":
        """Make a strategy; see `Strategy` for the arguments and errors."""
        return self.strategy(self, mean, rng)

    def memory(self, n: int) -> int:
        """Return the bytes that it takes in addition to a few batches, for n parameters."""
        return 0


class Strategy(ABC):
    """A search distribution over solutions, updated from rankings: `ask`, then `tell`, in turn.

    Samples are float64. `ask` hands out their rounding to float32, which archives and controllers hold;
    `tell` updates with the samples themselves. Rounding errors, divided by a step size that nears the
    spacing of float32 numbers, would else dominate the covariance matrix.

    Everything that changes is in the float64 arrays of `_search`, a named tuple that `_reset` makes anew, and
    in the attributes that `_numbers` names.

    Args:
        settings: of the strategy.
        mean: (n,), finite, the mean to start from.
        rng: the only source of randomness: it gives the key of the noise, and an emitter draws its restarts
            from it, so that one generator's state resumes both. Must be driven by `numpy.random.SFC64`.

    Attributes:
        selective: whether it learns from the best of a batch alone, its parents.
        initial: (n,) float64, the mean that the strategy was constructed with.
        solution_dim: n.

    Raises:
        InvalidValueError: an argument is not as said here, or a setting does not suit the strategy.
    """

    selective: ClassVar[bool] = True
    _search: Any
    _numbers: ClassVar[tuple[str, ...]] = ("sigma", "generation")

    def __init__(self, settings: StrategySettings, mean: np.ndarray, rng: np.random.Generator) -> None:
        self.solution_dim = np.size(mean)
        self.initial = checked_floats("mean", mean, (self.solution_dim,))
        if self.solution_dim < 1:
            raise InvalidValueError("mean must have at least 1 parameter")
        self.sigma0 = settings.sigma0
        self.batch_size = settings.batch_size
        self.rng = rng
        self._random = Noise(rng)
        self._sigma = self.sigma0
        self._generation = 0

    @property
    def sigma(self) -> float:
        """The step size, in units of the parameters."""
        return self._sigma

    @property
    def mean(self) -> np.ndarray:
        """A copy of the mean, (n,) float64."""
        copy: np.ndarray = self._search.mean.copy()
        return copy

    @property
    def condition_number(self) -> float:
        """Of the covariance matrix; nan for a strategy that does not know it."""
        return np.nan

    def ask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return new solutions, (batch_size, n) float32, in `out` if it is given."""
        solutions = np.empty((self.batch_size, self.solution_dim), np.float32) if out is None else out
        self._sample(solutions)
        return solutions

    def tell(self, ranking: np.ndarray, *, parents: int | None = None) -> None:
        """Learn from how the solutions of the last `ask` rank.

        Args:
            ranking: (batch_size,) indices of these solutions, best first.
            parents: how many of the best to learn from, at least 1; half of the batch, rounded down, by
                default. A strategy that learns from every solution by its rank has no parents to be chosen.

        Raises:
            InvalidValueError: if it is not a permutation of all of them, or parents cannot be chosen.
        """
        order = np.asarray(ranking, np.int64)
        if not (order.ndim == 1 and np.array_equal(np.sort(order), np.arange(self.batch_size))):
            raise InvalidValueError(
                f"ranking must be a permutation of 0 to {self.batch_size - 1} with shape "
                f"({self.batch_size},), got shape {np.shape(ranking)}: {ranking}"
            )
        if parents is not None and not (self.selective and 1 <= parents <= self.batch_size):
            raise InvalidValueError(f"{type(self).__name__} cannot learn from {parents} parents")
        self._update(order, self.batch_size if parents is None else 2 * parents)

    def converged(self, values: np.ndarray) -> str | None:
        """Return why the search cannot go on, one of `STOPS`, or None if it can; to be asked after `tell`.

        The values, (batch_size,), are what the solutions were ranked by, sorted.
        """
        reason = self._degenerate() if self.sigma < FARTHEST else "step size too large"
        # equality first: where every evaluation failed, all values are -inf and have no difference
        if reason is None and (values[0] == values[-1] or abs(values[0] - values[-1]) < _FLAT):
            reason = "flat values"
        return reason

    def restart(self, mean: np.ndarray) -> None:
        """Start afresh from a mean (n,); solutions asked but not told are forgotten."""
        mean = checked_floats("mean", mean, (self.solution_dim,))
        self._sigma = self.sigma0
        self._generation = 0
        self._reset(mean)

    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold, copied; every value is an array, a scalar one of shape ().

        It does not hold samples: a state is asked for before `ask` or after `tell`, not between them.
        """
        arrays = {name: array.copy(order="K") for name, array in self._search._asdict().items()}
        numbers = {name: np.array(getattr(self, f"_{name}")) for name in self._numbers}
        noise = nested(noise=self._random.state())
        return {**arrays, **numbers, **noise, "generator": generator_state(self.rng)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the strategy that `state` was taken from, constructed with the same arguments."""
        for name, array in self._search._asdict().items():
            array[...] = state[name]
        for name in self._numbers:
            setattr(self, f"_{name}", state[name].item())
        self._random.restore(select(state, "noise/"))
        restore_generator(self.rng, state["generator"])

    def _draw(self, noise: np.ndarray) -> None:
        """Fill an array of as many rows as the batch, or half as many, with standard normal numbers.

        Each half of the rows comes from a stream of its own, whose number is the first row of the batch that
        it is for.
        """
        half = self.batch_size // 4 * 2
        self._random.draw(noise, split=half * len(noise) // self.batch_size, stream=half)

    @abstractmethod
    def _sample(self, solutions: np.ndarray) -> None:
        """Fill (batch_size, n) float32, and remember what `_update` needs."""

    @abstractmethod
    def _update(self, ranking: np.ndarray, population: int) -> None:
        """Learn from a permutation (batch_size,) int64 of the batch drawn last.

        Parents are as many, and weigh as much, as if they were the better half of a batch of `population`.
        """

    @abstractmethod
    def _degenerate(self) -> str | None:
        """Return why the search distribution can no longer be used, or None if it can."""

    @abstractmethod
    def _reset(self, mean: np.ndarray) -> None:
        """Make `_search` anew, with a mean that may be kept."""
