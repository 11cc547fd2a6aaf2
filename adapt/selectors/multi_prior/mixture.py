"""`Mixture`: the posterior over what is wrong, over how far that is from the truth, and over objectives."""

from dataclasses import dataclass

import numpy as np

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.multi_prior.expected_improvement import add_expected_improvement
from adapt.selectors.multi_prior.hypotheses import Expected, Hypotheses
from adapt.selectors.multi_prior.likelihood import log_evidence, log_fall, log_objective
from adapt.selectors.multi_prior.settings import ResidualLevel, Tolerances

_COMPONENTS = 64
_NEGLIGIBLE = 1e-3  # share of the heaviest weight
_LEAST_VARIANCE = 1e-12  # of evidence that never varied


@dataclass(frozen=True, eq=False)
class Belief:
    """What a mixture implies for k controllers; objectives are normalised.

    Attributes:
        mean: expected objective, (k,).
        fall: probability of a fall, (k,).
        gain: expected improvement over the best that was tried, (k,).
        best: the mean of that one, and at least 0: not to walk at all is always possible.
    """

    mean: np.ndarray
    fall: np.ndarray
    gain: np.ndarray
    best: float


class Mixture:
    """Components (level l, hypothesis j), each with a weight and a normal belief in the objectives.

    Under a component the objective is F_j(x) + g(x), where g is a Gaussian process with mean 0 and covariance
    s² ((1 - c) k(x, x') + c). The covariance does not depend on j, so that all hypotheses of a level share
    one `Posterior`: with y_j = y - F_j at the trials, the belief's mean is F_j + Vᵀ z_j and its variance the
    same for all j. A weight is the prior's times the likelihood of all trials
    (`docs/explanations/recovery.md`).

    Args:
        hypotheses: h of them.
        prior: probabilities of levels and hypotheses before the first trial, (l, h).
        levels: how far the truth may be from a hypothesis, l of them.
        measures: over which the residual is smooth, (k, m).
        tolerances: see there.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        *,
        prior: np.ndarray,
        levels: tuple[ResidualLevel, ...],
        measures: np.ndarray,
        tolerances: Tolerances,
    ) -> None:
        self.hypotheses = hypotheses
        self.levels = levels
        self.tolerances = tolerances
        self._measures = measures
        k, h = len(measures), len(hypotheses)
        self._posteriors = [Posterior(np.full(k, level.residual**2), series=h) for level in levels]
        self._log_prior = np.log(prior)  # (l, h)
        self._by_objective = np.zeros((len(levels), h))
        self._by_rest: dict[int, np.ndarray] = {}  # of evidence and falls, by row, (l, h)
        self._outcomes: dict[int, list[Outcome]] = {}  # by row

    @property
    def weights(self) -> np.ndarray:
        """Posterior probabilities of the components, (l, h)."""
        logs = self._log_prior + self._by_objective + sum(self._by_rest.values())
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def belief(self, tried: list[int]) -> Belief:
        """What it implies after trials of some rows.

        Of the components count the 64 heaviest at most, without those of less than a thousandth of the
        heaviest's weight.
        """
        weights = self.weights
        heavy = np.flatnonzero(weights >= _NEGLIGIBLE * weights.max())
        heavy = heavy[np.argsort(-weights.flat[heavy], kind="stable")[:_COMPONENTS]]
        levels, which = np.unravel_index(heavy, weights.shape)
        weight = weights.flat[heavy] / weights.flat[heavy].sum()
        involved, places = np.unique(which, return_inverse=True)
        expected = self.hypotheses.objectives(involved)  # (n, k)
        mean, share, parts = np.zeros(expected.shape[1]), np.zeros(len(involved)), []
        for level in np.unique(levels):
            own, posterior = levels == level, self._posteriors[level]
            means = expected[places[own]] + posterior.means(which[own])
            mean += weight[own] @ means
            share[places[own]] += weight[own]
            parts.append((means, np.sqrt(posterior.variance), weight[own]))
        best = max(0.0, float(mean[tried].max())) if tried else 0.0
        gain = np.zeros_like(mean)
        for means, deviations, own in parts:
            add_expected_improvement(means, deviations, own, best, gain)
        return Belief(mean, share @ self.hypotheses.falls(involved), gain, best)

    def learn(self, row: int, objective: float, outcome: Outcome) -> None:
        """Take in a trial of a controller, whose normalised objective is given."""
        expected = self.hypotheses.at(row)
        outcomes = self._outcomes.setdefault(row, [])
        outcomes.append(outcome)
        self._by_rest[row] = self._log_rest(expected, outcomes)
        self._learn_objective(row, objective, expected)

    def _learn_objective(self, row: int, objective: float, expected: Expected) -> None:
        """Weigh the components by a normalised objective, and correct them."""
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        tolerances, common = self.tolerances, self.tolerances.common
        extra = (tolerances.noise_share * objective) ** 2 + tolerances.noise_offset**2
        noise = expected.noise + extra
        residuals = objective - expected.objective  # (h,)
        for i, (level, posterior) in enumerate(zip(self.levels, self._posteriors, strict=True)):
            variances = posterior.variance[row] + expected.variance + extra
            self._by_objective[i] += log_objective(
                residuals - posterior.mean_at(row), variances, surprise=tolerances.surprise
            )
            matern = matern_52(distances, length_scale=level.length_scale)
            covariance = level.residual**2 * ((1 - common) * matern + common)
            posterior.observe(row, covariance, residuals, noise)

    def _log_rest(self, expected: Expected, outcomes: list[Outcome]) -> np.ndarray:
        """Log likelihood of what else the trials of one controller showed, (l, h).

        What a hypothesis is off by is the same in all trials of a controller: they count as one trial, of
        their mean.
        """
        shown = [outcome.evidence for outcome in outcomes if len(outcome.evidence)]
        fell = float(np.mean([outcome.fell for outcome in outcomes]))
        logs = np.array([log_fall(fell, expected.fall, doubt=level.fall) for level in self.levels])
        if shown:
            residuals, variances = np.mean(shown, axis=0) - expected.evidence, expected.evidence_variance
            by_tolerance = {
                tolerance: log_evidence(
                    residuals,
                    variances / len(shown),
                    (tolerance * self.hypotheses.spread) ** 2 + _LEAST_VARIANCE,
                    channels=self.tolerances.channels,
                )
                for tolerance in {level.evidence for level in self.levels}
            }
            logs += [by_tolerance[level.evidence] for level in self.levels]
        return logs
