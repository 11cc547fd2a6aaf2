"""`MapBO`: map-based Bayesian optimisation, the M-BOA of Intelligent Trial and Error (Cully et al. 2015)."""

from typing import TypeVar

import numpy as np
from pydantic.dataclasses import dataclass

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context, Selector
from robots.files.records import NotNegative, Positive

_Objective = TypeVar("_Objective", float, np.ndarray)


@dataclass(frozen=True)
class MapBOSettings:
    """Settings of map-based Bayesian optimisation; `MapBO` says where the defaults come from.

    Attributes:
        length_scale: ρ of the Matérn 5/2 kernel, in units of the measures.
        noise: variance of a trial's objective, in normalised units squared.
        exploration: κ, the weight of the standard deviation in the choice of a trial.
        enough: share of the best prediction with which the search is satisfied.
    """

    length_scale: Positive = 0.1
    noise: Positive = 0.01
    exploration: NotNegative = 0.05
    enough: Positive = 0.9


class CorrectedMap(Selector):
    """Believes a map, plus a Gaussian process over the measures that was told how far the trials were off.

    The belief is μ(x) = P(x) + k(x)ᵀ (K + σ² I)⁻¹ (f - P), so that a trial also speaks for gaits that use the
    feet alike.

    Units. Objectives are normalised to

        y = (f - min_objective) / (max prior - min_objective)

    which is 1 for the repertoire's best on the intact robot and 0 for the worst objective that counts; where
    no controller exceeds the minimum, only the minimum is subtracted. Neither an offset nor a change of unit
    of the objective then changes what is chosen.

    Args:
        context: whose prior gives the units.
        believed: P, objectives before the first trial, (k,).
        settings: of the process, whose variance is 1; by default those for noisy trials.
    """

    def __init__(self, context: Context, believed: np.ndarray, settings: MapBOSettings | None = None) -> None:
        super().__init__(context)
        self.settings = settings or MapBOSettings()
        prior = context.prior
        height = float(np.max(prior.objectives)) - prior.min_objective
        self._unit = height if height > 0 else 1.0
        self._map = self._normalised(np.asarray(believed, np.float64))  # (k,)
        self._measures = np.asarray(prior.measures, np.float64)
        self._error = Posterior(np.ones(len(prior)))

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector.predicted`."""
        return self.prior.min_objective + self._unit * self._belief

    def _learn(self, row: int, outcome: Outcome) -> None:
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        covariance = matern_52(distances, length_scale=self.settings.length_scale)
        error = self._normalised(outcome.objective) - self._map[row]
        self._error.observe(row, covariance, error, self.settings.noise)

    @property
    def _belief(self) -> np.ndarray:
        """μ, normalised, (k,)."""
        return np.asarray(self._map + self._error.means()[0])

    @property
    def _bound(self) -> np.ndarray:
        """Upper confidence bounds μ + κ σ, normalised, (k,)."""
        return np.asarray(self._belief + self.settings.exploration * np.sqrt(self._error.variance))

    def _normalised(self, objective: _Objective) -> _Objective:
        """y, see the class."""
        return (objective - self.prior.min_objective) / self._unit


OF_2015 = MapBOSettings(length_scale=0.4, noise=0.001, exploration=0.05)


@register("map-bo", "map-based Bayesian optimisation with the constants of 2015", settings=OF_2015)
@register("map-bo-tuned", "map-based Bayesian optimisation with constants for noisy trials")
class MapBO(CorrectedMap):
    """Believes the repertoire, and corrects it where trials disagree.

    The belief μ in the controllers' objectives is the repertoire's, corrected as `CorrectedMap` says. The
    next trial maximises μ + κ σ over all controllers not yet tried. The search is over once the best gait
    tried, by the mean of its trials, reaches 90% of the largest μ.

    Units. The constants of 2015 are for metres walked in 5 s: the signal has a standard deviation of 1 m
    where the best gait walks about 2 m and 0 m is the worst. A sum of rewards has neither that size nor that
    zero, so objectives are normalised. The 90% are of the objective itself; where the best prediction is
    below zero, of which 90% would be more than the whole, "enough" is a tenth of |max μ| below max μ.

    Constants. The hexapod's of 2015, `OF_2015`, were ρ = 0.4, σ² = 0.001 and κ = 0.05 m. On the Ant, whose
    single trials are noisy and whose measures are four, they give up early: in replays of 96 recoveries from
    tables of true outcomes (8 damages, a repertoire of 341 gaits) they stopped after 6 trials with a gait of
    54% of the best gait's true objective, where ρ = 0.1 and σ² = 0.01, the defaults here, reached 61% in 18;
    the incumbent had 48%.

    Args:
        context: what is known.
        settings: by default those for noisy trials.
    """

    def __init__(self, context: Context, *, settings: MapBOSettings | None = None) -> None:
        super().__init__(context, context.prior.objectives, settings)

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self._bound, -np.inf)))

    def _satisfied(self) -> str | None:
        best, hope = max(self.means().values()), float(np.max(self.predicted))
        if best < hope - (1 - self.settings.enough) * abs(hope):
            return None
        share = f"{self.settings.enough:.0%}"
        return f"the best gait tried, {best:.1f}, reached {share} of the best prediction, {hope:.1f}"
