"""`MapBO`: map-based Bayesian optimisation, the M-BOA of Intelligent Trial and Error (Cully et al. 2015)."""

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context, Selector

_Objective = TypeVar("_Objective", float, np.ndarray)


@dataclass(frozen=True)
class MapBOSettings:
    """Settings of map-based Bayesian optimisation; the defaults are for noisy trials.

    On the Ant, `OF_2015` stops after 6 trials with a gait of 54% of the best gait's objective, and the
    defaults after 18 with 61% (replays of 96 recoveries; the incumbent had 48%).
    """

    length_scale: float = 0.1  # ρ of the Matérn 5/2 kernel, in units of the measures
    noise_variance: float = 0.01  # of a trial's objective, in normalised units squared
    exploration: float = 0.05  # κ, the weight of the standard deviation in the choice of a trial
    enough: float = 0.9  # share of the best prediction with which the search is satisfied


OF_2015 = MapBOSettings(length_scale=0.4, noise_variance=0.001)


@register("map-bo-tuned", "map-based Bayesian optimisation with constants for noisy trials")
class MapBO(Selector):
    """Believes the repertoire P, plus a Gaussian process over the measures that is told the trials' errors.

    The belief is μ(x) = P(x) + k(x)ᵀ (K + σ² I)⁻¹ (y - P), and the next trial maximises μ + κ σ. Objectives f
    are normalised to y = (f - min_objective) / (max P - min_objective), so that neither an offset nor the
    unit of f changes what is chosen; if no controller exceeds the minimum, only that is subtracted. The
    search ends once the best mean of trials is within (1 - enough) |max μ| of max μ.
    """

    def __init__(self, context: Context, *, settings: MapBOSettings | None = None) -> None:
        super().__init__(context)
        self.settings = settings or MapBOSettings()
        prior = context.prior
        height = float(np.max(prior.objectives)) - prior.min_objective
        self._unit = height if height > 0 else 1.0
        self._map = self._normalised(np.asarray(prior.objectives, np.float64))  # (k,)
        self._measures = np.asarray(prior.measures, np.float64)
        self._error = Posterior(np.ones(len(prior)))

    @property
    def predicted(self) -> np.ndarray:
        return self.prior.min_objective + self._unit * self._belief

    @property
    def worth(self) -> np.ndarray:
        """Upper confidence bounds μ + κ σ, normalised, (k,)."""
        return np.asarray(self._belief + self.settings.exploration * np.sqrt(self._error.variance))

    @property
    def _belief(self) -> np.ndarray:
        """μ, normalised, (k,)."""
        return np.asarray(self._map + self._error.means()[0])

    def _normalised(self, objective: _Objective) -> _Objective:
        """y, see the class."""
        return (objective - self.prior.min_objective) / self._unit

    def _learn(self, row: int, outcome: Outcome) -> None:
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        covariance = matern_52(distances, length_scale=self.settings.length_scale)
        error = self._normalised(outcome.objective) - self._map[row]
        self._error.observe(row, covariance, error, self.settings.noise_variance)

    def _satisfied(self) -> str | None:
        best, hope = max(self.means().values()), float(np.max(self.predicted))
        if best < hope - (1 - self.settings.enough) * abs(hope):
            return None
        share = f"{self.settings.enough:.0%}"
        return f"the best gait tried, {best:.1f}, reached {share} of the best prediction, {hope:.1f}"


register("map-bo", "map-based Bayesian optimisation with the constants of 2015")(
    partial(MapBO, settings=OF_2015)
)
