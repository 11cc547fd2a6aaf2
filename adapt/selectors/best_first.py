"""`BestFirst`: tries what was best on the intact robot."""

import numpy as np

from adapt.selectors.model_free import ModelFree


class BestFirst(ModelFree):
    """Tries controllers in the order of their objectives in the repertoire, the first of equals first."""

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self.prior.objectives, -np.inf)))

    def _satisfied(self) -> None:
        return None
