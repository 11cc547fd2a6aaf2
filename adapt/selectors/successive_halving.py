"""`SuccessiveHalving`: tries many once, the better half again, and so on."""

import numpy as np

from adapt.selectors.baselines import ModelFree
from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context


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
