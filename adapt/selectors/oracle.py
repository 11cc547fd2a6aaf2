"""`Oracle`: knows what every controller does on the damaged robot."""

from typing import ClassVar

import numpy as np

from adapt.records import Outcome
from adapt.selectors.selector import Prior, Selector
from robots.errors import InvalidValueError


class Oracle(Selector):
    """Tries the best controllers in turn: what no selector can beat, for reference.

    Args:
        prior: what the repertoire says.
        trials: how many trials there may be.
        truth: objectives on the damaged robot, (k,).
        max_falls: how many trials may end in a fall.

    Raises:
        InvalidValueError: `truth` has another shape.
    """

    confirmations: ClassVar[int] = 1

    def __init__(self, prior: Prior, *, trials: int, truth: np.ndarray, max_falls: int | None = None) -> None:
        super().__init__(prior, trials=trials, max_falls=max_falls)
        if np.shape(truth) != (len(prior),):
            raise InvalidValueError(f"truth must have shape ({len(prior)},), not {np.shape(truth)}")
        self._truth = np.asarray(truth)

    @property
    def predicted(self) -> np.ndarray:
        """The truth."""
        return self._truth

    def recommendation(self) -> int:
        """Row that is best of those that were tried."""
        return max(self._told, key=lambda row: self._truth[row])

    def diagnosis(self) -> list[tuple[str, float]]:
        """Nothing: it does not ask what is wrong."""
        return []

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self._truth, -np.inf)))

    def _learn(self, row: int, outcome: Outcome) -> None:
        pass

    def _satisfied(self) -> str | None:
        found = self.recommendation() == np.argmax(self._truth)
        return "it knew the best gait from the start" if found else None
