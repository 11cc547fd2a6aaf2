"""`GPUCB`: Bayesian optimisation that does not believe the repertoire."""

import numpy as np

from adapt.selectors.catalogue import register
from adapt.selectors.map_bo import CorrectedMap, MapBOSettings
from adapt.selectors.selector import Context

_CONSTANTS = MapBOSettings(length_scale=0.2, noise=0.001, exploration=0.3)


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
        super().__init__(context, flat, _CONSTANTS)
        self._order = np.random.default_rng(context.seed).permutation(len(prior))  # breaks ties

    def _choose(self, untried: np.ndarray) -> int:
        bound = np.where(untried, self._bound, -np.inf)
        return int(self._order[np.argmax(bound[self._order])])
