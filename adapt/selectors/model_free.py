"""`ModelFree`: what selectors share that learn nothing of one controller from another."""

from abc import abstractmethod

import numpy as np

from adapt.records import Outcome
from adapt.selectors.selector import Selector


class ModelFree(Selector):
    """Expects of every controller what the repertoire says, and recommends the one with the best trials."""

    @property
    def predicted(self) -> np.ndarray:
        """The repertoire's objectives, (k,)."""
        return np.asarray(self.prior.objectives)

    def recommendation(self) -> int:
        """Row with the highest mean of its trials."""
        return self.leader()

    def diagnosis(self) -> list[tuple[str, float]]:
        """Nothing: it does not ask what is wrong."""
        return []

    def _learn(self, row: int, outcome: Outcome) -> None:
        pass

    @abstractmethod
    def _choose(self, untried: np.ndarray) -> int:
        """See `Selector`."""

    @abstractmethod
    def _satisfied(self) -> str | None:
        """See `Selector`."""
