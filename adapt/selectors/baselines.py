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
