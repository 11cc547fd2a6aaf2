"""`GPUCB`: Bayesian optimisation that does not believe the repertoire."""

import numpy as np

from adapt.selectors.corrected_map import CorrectedMap
from adapt.selectors.selector import Prior

_LENGTH_SCALE = 0.2  # in units of the measures
_NOISE = 0.001  # variance, normalised
_EXPLORATION = 0.3  # weight of the standard deviation


class GPUCB(CorrectedMap):
    """Upper confidence bounds of a process with a constant mean (Srinivas et al. 2010).

    It knows the controllers' measures, and of their objectives only the mean and the unit: what map-based
    optimisation is worth without its map. The first trial is at random, since all controllers are equal then,
    and so is the choice among equals later.

    Args:
        prior: what the repertoire says.
        trials: how many trials there may be.
        seed: at least 0.
        max_falls: how many trials may end in a fall.
    """

    def __init__(self, prior: Prior, *, trials: int, seed: int, max_falls: int | None = None) -> None:
        super().__init__(
            prior,
            np.full(len(prior), np.mean(prior.objectives)),
            trials=trials,
            length_scale=_LENGTH_SCALE,
            noise=_NOISE,
            max_falls=max_falls,
        )
        self._order = np.random.default_rng(seed).permutation(len(prior))  # breaks ties

    def _choose(self, untried: np.ndarray) -> int:
        bound = np.where(untried, self._belief + _EXPLORATION * np.sqrt(self._error.variance), -np.inf)
        return int(self._order[np.argmax(bound[self._order])])

    def _satisfied(self) -> None:
        return None
