"""`MapBO`: map-based Bayesian optimisation, the M-BOA of Intelligent Trial and Error (Cully et al. 2015).

`GPUCB` and `Thompson` are relatives of it.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.selector import Context, Selector

_Objective = TypeVar("_Objective", float, np.ndarray)
_WAVES = 256  # random ones, of which a sample of the prior process is made


@dataclass(frozen=True)
class MapBOSettings:
    """Settings of map-based Bayesian optimisation; `MapBO` says where the defaults come from.

    Attributes:
        length_scale: ρ of the Matérn 5/2 kernel, in units of the measures.
        noise_variance: of a trial's objective, in normalised units squared.
        exploration: κ, the weight of the standard deviation in the choice of a trial.
        enough: share of the best prediction with which the search is satisfied.
    """

    length_scale: float = 0.1
    noise_variance: float = 0.01
    exploration: float = 0.05
    enough: float = 0.9


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
        self._error.observe(row, covariance, error, self.settings.noise_variance)

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


OF_2015 = MapBOSettings(length_scale=0.4, noise_variance=0.001, exploration=0.05)
_WITHOUT_MAP = MapBOSettings(length_scale=0.2, noise_variance=0.001, exploration=0.3)


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
        super().__init__(context, flat, _WITHOUT_MAP)
        self._order = np.random.default_rng(context.seed).permutation(len(prior))  # breaks ties

    def _choose(self, untried: np.ndarray) -> int:
        bound = np.where(untried, self._bound, -np.inf)
        return int(self._order[np.argmax(bound[self._order])])


@register("thompson", "tries the best in a random draw from the posterior of map-bo-tuned")
class Thompson(CorrectedMap):
    """Thompson sampling: the next trial is the best in one sample of the posterior whose mean is `MapBO`'s.

    A joint sample at k points would take O(k³) time. A sample of the prior process is therefore a sum of n
    random waves, √(2/n) Σ w_i cos(ω_iᵀ x + b_i), with standard normal w and ω from the kernel's spectrum
    (Rahimi & Recht 2007), which for Matérn 5/2 is a multivariate t of 5 degrees of freedom over ρ; and it is
    turned into one of the posterior by adding what the trials say of its error (Wilson et al. 2020, eq. 13;
    Matheron's rule):

        sample(x) = s(x) + k(x)ᵀ (K + σ² I)⁻¹ (y - s - ε),  ε ~ N(0, σ² I)

    Args:
        context: what is known.
        settings: of the posterior; exploration and enough are not used.
    """

    def __init__(self, context: Context, *, settings: MapBOSettings | None = None) -> None:
        super().__init__(context, context.prior.objectives, settings)
        self._rng = np.random.default_rng(context.seed)
        self._features = self._waves()
        self._proposal: tuple[int, int] | None = None  # for how many trials told, and the row

    def sample(self) -> np.ndarray:
        """A sample of the belief in every controller's objective, (k,), in units of the objective."""
        s = self._features @ self._rng.standard_normal(_WAVES)
        y = np.array([self._normalised(objective) for objective in self.objectives]) - self._map[self.rows]
        noise = np.sqrt(self.settings.noise_variance) * self._rng.standard_normal(len(self.rows))
        sample = self._map + s + self._error.mean_given(y - s[self.rows] - noise)
        return np.asarray(self.prior.min_objective + self._unit * sample)

    def _choose(self, untried: np.ndarray) -> int:
        told = len(self.rows)
        if self._proposal is None or self._proposal[0] != told:  # the same until the next trial is told
            self._proposal = told, int(np.argmax(np.where(untried, self.sample(), -np.inf)))
        return self._proposal[1]

    def _waves(self) -> np.ndarray:
        """The waves at every controller, (k, n)."""
        measures = np.asarray(self.prior.measures, np.float64)
        directions = self._rng.standard_normal((measures.shape[1], _WAVES))
        frequencies = directions * np.sqrt(5 / self._rng.chisquare(5, _WAVES)) / self.settings.length_scale
        phases = self._rng.uniform(0, 2 * np.pi, _WAVES)
        return np.sqrt(2 / _WAVES) * np.cos(measures @ frequencies + phases)
