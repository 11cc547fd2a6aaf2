"""Selectors to compare with: those that learn nothing of one controller from another."""

import numpy as np

from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context, Selector


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
        order = np.random.default_rng(context.seed).permutation(len(context.prior))
        self._worth = -np.argsort(order)

    @property
    def worth(self) -> np.ndarray:
        """The earlier a controller comes, the more."""
        return self._worth


@register("best-first", "tries controllers in the order of their objectives on the intact robot")
class BestFirst(ModelFree):
    """Tries controllers in the order of their objectives in the repertoire, the first of equals first."""

    @property
    def worth(self) -> np.ndarray:
        return self.prior.objectives
