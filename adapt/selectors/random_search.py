"""`RandomSearch`: tries controllers at random."""

import numpy as np

from adapt.selectors.model_free import ModelFree
from adapt.selectors.selector import Prior


class RandomSearch(ModelFree):
    """Tries all controllers in a random order: what any other selector must beat.

    Args:
        prior: what the repertoire says.
        trials: how many trials there may be.
        seed: at least 0.
        max_falls: how many trials may end in a fall.
    """

    def __init__(self, prior: Prior, *, trials: int, seed: int, max_falls: int | None = None) -> None:
        super().__init__(prior, trials=trials, max_falls=max_falls)
        self._order = np.random.default_rng(seed).permutation(len(prior))

    def _choose(self, untried: np.ndarray) -> int:
        return int(self._order[np.argmax(untried[self._order])])

    def _satisfied(self) -> None:
        return None
