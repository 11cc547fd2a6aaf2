"""`MapBO`: map-based Bayesian optimisation (Cully, Clune, Tarapore & Mouret 2015, Nature 521)."""

from dataclasses import dataclass

import numpy as np

from adapt.selectors.corrected_map import CorrectedMap
from adapt.selectors.selector import Prior


@dataclass(frozen=True)
class MapBOSettings:
    """Settings of map-based Bayesian optimisation; `MapBO` says where the defaults come from.

    Attributes:
        length_scale: ρ of the Matérn 5/2 kernel, in units of the measures.
        noise: variance of a trial's objective, in normalised units squared.
        exploration: κ, the weight of the standard deviation in the choice of a trial.
        enough: share of the best prediction with which the search is satisfied.
    """

    length_scale: float = 0.1
    noise: float = 0.01
    exploration: float = 0.05
    enough: float = 0.9


OF_2015 = MapBOSettings(length_scale=0.4, noise=0.001, exploration=0.05)


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
    the gait in use before had 48%.

    Args:
        prior: what the repertoire says.
        trials: how many trials there may be.
        settings: see `MapBOSettings`.
        max_falls: how many trials may end in a fall.

    Raises:
        InvalidValueError: `trials` or `max_falls` is less than 1, or the length scale or the noise is not
            positive.
    """

    def __init__(
        self,
        prior: Prior,
        *,
        trials: int,
        settings: MapBOSettings | None = None,
        max_falls: int | None = None,
    ) -> None:
        self.settings = settings or MapBOSettings()
        super().__init__(
            prior,
            prior.objectives,
            trials=trials,
            length_scale=self.settings.length_scale,
            noise=self.settings.noise,
            max_falls=max_falls,
        )

    def _choose(self, untried: np.ndarray) -> int:
        bound = self._belief + self.settings.exploration * np.sqrt(self._error.variance)
        return int(np.argmax(np.where(untried, bound, -np.inf)))

    def _satisfied(self) -> str | None:
        best, hope = max(self.means().values()), float(np.max(self.predicted))
        if best < hope - (1 - self.settings.enough) * abs(hope):
            return None
        share = f"{self.settings.enough:.0%}"
        return f"the best gait tried, {best:.1f}, reached {share} of the best prediction, {hope:.1f}"
