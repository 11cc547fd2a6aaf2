"""Selectors to compare with: those that learn nothing of one controller from another, and the oracle."""

import numpy as np

from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context, Selector
from robots.errors import InvalidValueError


class ModelFree(Selector):
    """Expects of a controller what its trials showed, and of one not tried what the repertoire says."""

    @property
    def predicted(self) -> np.ndarray:
        """Means of the trials, else the repertoire's objectives, (k,)."""
        predicted = np.array(self.prior.objectives, np.float64)
        for row, mean in self.means().items():
            predicted[row] = mean
        return predicted


@register("random", "tries controllers at random")
class RandomSearch(ModelFree):
    """Tries all controllers in a random order: what any other selector must beat."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._order = np.random.default_rng(context.seed).permutation(len(context.prior))

    def _choose(self, untried: np.ndarray) -> int:
        return int(self._order[np.argmax(untried[self._order])])


@register("best-first", "tries controllers in the order of their objectives on the intact robot")
class BestFirst(ModelFree):
    """Tries controllers in the order of their objectives in the repertoire, the first of equals first."""

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self.prior.objectives, -np.inf)))


@register("oracle", "knows the truth, for reference", needs_truth=True)
class Oracle(Selector):
    """Tries the best controllers in turn: what no selector can beat, for reference.

    Args:
        context: with the truth.

    Raises:
        InvalidValueError: the truth is missing or has another shape.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._truth = np.asarray(context.truth)
        if self._truth.shape != (len(context.prior),):
            raise InvalidValueError(f"truth must have shape ({len(context.prior)},), not {self._truth.shape}")

    @property
    def predicted(self) -> np.ndarray:
        """The truth."""
        return self._truth

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self._truth, -np.inf)))

    def _satisfied(self) -> str | None:
        found = self.recommendation() == np.argmax(self._truth)
        return "it knew the best gait from the start" if found else None


@register("successive-halving", "tries the best once, the better half of them again, and so on")
class SuccessiveHalving(ModelFree):
    """Successive halving (Karnin, Koren & Somekh 2013; Jamieson & Talwalkar 2016) over whole episodes.

    The controllers that were best on the intact robot are tried once each; the better half of them, by the
    mean of their trials and rounded up, once more; and so on until one is left. It starts with as many as the
    trials allow. Published successive halving gives survivors longer and longer runs; here every run is an
    episode, and more of them take the place of longer ones. Trials that are left over, or asked for after the
    end, go to controllers not yet tried, best first.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        prior, trials = context.prior, context.trials
        n = max(n for n in range(1, min(trials, len(prior)) + 1) if _trials_needed(n) <= trials)
        self._order = np.argsort(-np.asarray(prior.objectives), kind="stable")
        self._pool = [int(row) for row in self._order[:n]]
        self._round = 1  # how often each of the pool is to be tried

    def _choose(self, untried: np.ndarray) -> int:
        row = self._waiting()
        while row is None and len(self._pool) > 1:
            self._halve()
            row = self._waiting()
        return int(self._order[np.argmax(untried[self._order])]) if row is None else row

    def _satisfied(self) -> str | None:
        if self._undecided():
            return None
        return f"one gait is left of those that were tried, after {self._round} trials of it"

    def _exhausted(self) -> bool:
        return super()._exhausted() and not self._undecided()

    def _undecided(self) -> bool:
        """Whether trials are left by which one of the pool wins."""
        return len(self._pool) > 1 or self._waiting() is not None

    def _waiting(self) -> int | None:
        """The first of the pool that is still to be tried in this round."""
        return next((row for row in self._pool if len(self._told.get(row, ())) < self._round), None)

    def _halve(self) -> None:
        """Keep the better half, and start the next round."""
        means = self.means()
        kept = sorted(self._pool, key=lambda row: -means[row])[: (len(self._pool) + 1) // 2]
        self._pool, self._round = kept, self._round + 1


def _trials_needed(n: int) -> int:
    """How many trials it takes to get from n controllers to one that was tried in the last round."""
    return 1 if n == 1 else n + _trials_needed((n + 1) // 2)
