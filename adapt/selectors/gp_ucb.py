"""`GPUCB`: Bayesian optimisation that does not believe the repertoire."""

import numpy as np

from adapt.selectors.catalogue import register
from adapt.selectors.map_bo import CorrectedMap
from adapt.selectors.selector import Context

_LENGTH_SCALE = 0.2  # in units of the measures
_NOISE = 0.001  # variance, normalised
_EXPLORATION = 0.3  # weight of the standard deviation


@register("gp-ucb", "Bayesian optimisation over the measures, without the repertoire's objectives")
class GPUCB(CorrectedMap):
    """Upper confidence bounds of a process with a constant mean (Srinivas et al. 2010).

    It knows the controllers' measures, and of their objectives only the mean and the unit: what map-based
    optimisation is worth without its map. The first trial is at random, since all controllers are equal then,
    and so is the choice among equals later.
    """

    def __init__(self, context: Context) -> None:
        prior = context.prior
        flat = np.full(len(prior), np.mean(prior.objectives))
        super().__init__(context, flat, length_scale=_LENGTH_SCALE, noise=_NOISE)
        self._order = np.random.default_rng(context.seed).permutation(len(prior))  # breaks ties

    def _choose(self, untried: np.ndarray) -> int:
        bound = np.where(untried, self._belief + _EXPLORATION * np.sqrt(self._error.variance), -np.inf)
        return int(self._order[np.argmax(bound[self._order])])

    def _satisfied(self) -> None:
        return None
