"""What every evolution strategy promises: ask, tell, converged, restart, state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from robots.errors import InvalidValueError

# the improvements of a batch that differ by less than this give no ranking to learn from
_FLAT = 1e-12


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
        batch_size: solutions a generation; at least 2.
        rng: the only source of randomness; an emitter also draws its restarts from it, so that one
            generator's state resumes both. Must be driven by `numpy.random.SFC64`.

    Attributes:
        initial: (n,) float64, the mean that the strategy was constructed with.
        solution_dim: n.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    def __init__(self, mean: np.ndarray, *, batch_size: int, rng: np.random.Generator) -> None:
        self.solution_dim = np.size(mean)
        self.initial = self._vector("mean", mean)
        if self.solution_dim < 1:
            raise InvalidValueError("mean must have at least 1 parameter")
        if batch_size < 2:
            raise InvalidValueError(f"batch_size must be at least 2, got {batch_size}")
        if not isinstance(rng.bit_generator, np.random.SFC64):
            kind = type(rng.bit_generator).__name__
            raise InvalidValueError(f"rng must be driven by SFC64, got {kind}")
        self.batch_size = int(batch_size)
        self.rng = rng
        self._asked = False

    def ask(self) -> np.ndarray:
        """Return new solutions, (batch_size, n) float32, which are the caller's to keep.

        Raises:
            RuntimeError: if the ranking of the previous ones was not told.
        """
        if self._asked:
            raise RuntimeError("ask was called twice: tell the ranking of the solutions asked before")
        self._asked = True
        return self._sample()

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
        ranking = np.ascontiguousarray(ranking)
        if not np.array_equal(np.sort(ranking, axis=None), np.arange(self.batch_size)) or ranking.ndim != 1:
            raise InvalidValueError(
                f"ranking must be a permutation of 0 to {self.batch_size - 1} with shape "
                f"({self.batch_size},), got shape {ranking.shape}: {ranking}"
            )
        self._update(ranking.astype(np.int64, copy=False))
        self._asked = False

    def converged(self, values: np.ndarray) -> str | None:
        """Return why the search cannot go on, in words, or None if it can; to be asked after `tell`.

        Args:
            values: (batch_size,), what the solutions were ranked by, sorted.
        """
        reason = self._degenerate()
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
        return {**self._search_state(), "generator": _generator_state(self.rng)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the strategy that `state` was taken from, its generator included.

        Args:
            state: what `state()` returned, of a strategy constructed with the same arguments.

        Raises:
            InvalidValueError: if something is missing or has the wrong shape.
        """
        missing = {*self._search_state(), "generator"} - state.keys()
        if missing:
            raise InvalidValueError(f"the strategy state lacks {', '.join(sorted(missing))}")
        self._restore_search(state)
        _restore_generator(self.rng, state["generator"])
        self._asked = False

    def _vector(self, name: str, value: np.ndarray) -> np.ndarray:
        """Return a float64 copy of a finite vector over the parameters, (n,)."""
        vector = np.array(value, np.float64)
        if vector.shape != (self.solution_dim,):
            raise InvalidValueError(f"{name} must have shape ({self.solution_dim},), got {vector.shape}")
        if not np.isfinite(vector).all():
            raise InvalidValueError(f"{name} must be finite")
        return vector

    @abstractmethod
    def _sample(self) -> np.ndarray:
        """Draw a batch and remember it: `ask` after its checks."""

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


def _generator_state(rng: np.random.Generator) -> np.ndarray:
    """Return SFC64's four words, then the half word that it keeps for 32-bit draws, as (6,) uint64."""
    state = rng.bit_generator.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], np.uint64)


def _restore_generator(rng: np.random.Generator, words: np.ndarray) -> None:
    words = np.asarray(words, np.uint64)
    if words.shape != (6,):
        raise InvalidValueError(f"generator must have shape (6,), got {words.shape}")
    rng.bit_generator.state = {
        "bit_generator": "SFC64",
        "state": {"state": words[:4]},
        "has_uint32": int(words[4]),
        "uinteger": int(words[5]),
    }
