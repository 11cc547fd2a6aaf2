"""`Mixture`: the posterior over what is wrong, over how far that is from the truth, and over objectives."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.hypotheses import Expected, Hypotheses
from robots.compilation import compiled

_COMPONENTS = 64
_NEGLIGIBLE = 1e-3  # share of the heaviest weight
_LEAST_VARIANCE = 1e-12  # of evidence that never varied
_FREEDOM = 4.0  # degrees of freedom of Student's t
# (μ - b) Φ(u) + σ φ(u) = σ τ(u): τ is tabulated, and read with linear interpolation within 3e-7
_REACH = 6.0  # beyond that τ is 0 or u within 2e-10
_CELLS = 8192
_U = np.linspace(-_REACH, _REACH, _CELLS + 1)
_TAU = _U * ndtr(_U) + np.exp(-0.5 * _U**2) / np.sqrt(2 * np.pi)
_PER_UNIT = _CELLS / (2 * _REACH)
_LEAST = 1e-12  # standard deviation


@dataclass(frozen=True)
class ResidualLevel:
    """How far the truth may be from a hypothesis."""

    residual: float  # standard deviation s of the objective around the hypothesis', normalised
    length_scale: float  # ρ, over which the residual changes, in units of the measures
    evidence: float  # standard deviation around the hypothesis', as a share of the spread
    fall: float  # share of trials in which a fall is a matter of chance


@dataclass(frozen=True)
class Tolerances:
    """What a trial's measurements may be off by, whatever the hypothesis and the level."""

    noise_share: float = 0.05  # standard deviation of a trial's noise, as a share of the objective
    noise_offset: float = 0.01  # the same, of all trials, normalised
    common: float = 0.4  # share of the residual's variance that all controllers have in common
    surprise: float = 0.01  # see `log_objective`
    channels: float = 3.0  # see `log_evidence`


@dataclass(frozen=True, eq=False)
class Belief:
    """What a mixture implies for k controllers; objectives are normalised."""

    mean: np.ndarray  # expected objective, (k,)
    fall: np.ndarray  # probability of a fall, (k,)
    gain: np.ndarray  # expected improvement over the best that was tried, (k,)
    best: float  # the mean of that one, and at least 0: not to walk at all is always possible


class Mixture:
    """Components (level l, hypothesis j), each with a weight and a normal belief in the objectives.

    Under a component the objective is F_j(x) + g(x), where g is a Gaussian process with mean 0 and covariance
    s² ((1 - c) k(x, x') + c), which does not depend on j: all hypotheses of a level share one `Posterior`.
    A weight is the prior's, (l, h), times the likelihood of all trials (`docs/explanations/recovery.md`). The
    residual g is smooth over the measures, (k, m).
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
        """What it implies after trials of some rows, by the 64 heaviest components at most."""
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
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        tolerances, common = self.tolerances, self.tolerances.common
        extra = (tolerances.noise_share * objective) ** 2 + tolerances.noise_offset**2
        noise_variance = expected.noise_variance + extra
        residuals = objective - expected.objective  # (h,)
        for i, (level, posterior) in enumerate(zip(self.levels, self._posteriors, strict=True)):
            variances = posterior.variance[row] + expected.variance + extra
            self._by_objective[i] += log_objective(
                residuals - posterior.mean_at(row), variances, surprise=tolerances.surprise
            )
            matern = matern_52(distances, length_scale=level.length_scale)
            covariance = level.residual**2 * ((1 - common) * matern + common)
            posterior.observe(row, covariance, residuals, noise_variance)

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


def log_objective(residuals: np.ndarray, variances: np.ndarray, *, surprise: float) -> np.ndarray:
    """Log density of a normalised objective: a normal one, contaminated by one that is uniform over a unit.

        log((1 - ε) N(r; 0, v) + ε)

    so that no single trial costs a hypothesis more than log ε. The residuals r are measured minus expected,
    and the variances v have their shape; the surprise ε is from 0 (exactly normal) to 1.
    """
    normal = -0.5 * (residuals**2 / variances + np.log(2 * np.pi * variances))
    if surprise == 0:
        return normal
    return np.logaddexp(np.log1p(-surprise) + normal, np.log(surprise))


def log_evidence(
    residuals: np.ndarray, variances: np.ndarray, discrepancies: np.ndarray, *, channels: float
) -> np.ndarray:
    """Log density of the evidence, tempered: as if only some of its numbers were independent.

    Each number's density is Student's t with 4 degrees of freedom and scale √(v + δ²), so that an odd one
    costs little. What the numbers say together, (h,), is multiplied by min(1, channels / e). Residuals are
    measured minus expected, (h, e), variances v (h, e), and discrepancies δ² positive, (e,).
    """
    e = residuals.shape[1]
    constant = gammaln((_FREEDOM + 1) / 2) - gammaln(_FREEDOM / 2) - 0.5 * np.log(_FREEDOM * np.pi)
    return np.asarray(
        min(1.0, channels / e) * (e * constant + _sum_of_logs(residuals, variances, discrepancies))
    )


@compiled()
def _sum_of_logs(residuals: np.ndarray, variances: np.ndarray, discrepancies: np.ndarray) -> np.ndarray:
    """Logarithms of Student's densities but for the constant, summed over the numbers, (h,)."""
    h, e = residuals.shape
    sums = np.zeros(h)
    for j in range(h):
        scale, tail = 1.0, 1.0  # products of v and of 1 + r² / (4 v): logarithms take most of the time
        for c in range(e):
            v = variances[j, c] + discrepancies[c]
            scale *= v
            tail *= 1 + residuals[j, c] ** 2 / (_FREEDOM * v)
            if c == e - 1 or c % 8 == 7:  # before a product leaves the range of floats
                sums[j] -= 0.5 * math.log(scale) + 0.5 * (_FREEDOM + 1) * math.log(tail)
                scale, tail = 1.0, 1.0
    return sums


def log_fall(fell: float, probabilities: np.ndarray, *, doubt: float) -> np.ndarray:
    """Log probability of a share of trials of a controller that fell, of which some may go either way."""
    p = (1 - doubt) * probabilities + 0.5 * doubt
    return np.asarray(fell * np.log(p) + (1 - fell) * np.log1p(-p))


@compiled()
def add_expected_improvement(
    means: np.ndarray, deviations: np.ndarray, weights: np.ndarray, best: float, out: np.ndarray
) -> None:
    """Add what components of a mixture expect of every controller beyond the best so far.

    For a belief N(μ, σ²), E[max(f - b, 0)] = (μ - b) Φ(u) + σ φ(u) with u = (μ - b) / σ (Jones, Schonlau &
    Welch 1998, eq. 15); that of a mixture is the weighted sum of its components', since expectations are
    linear. Means μ are (n, k), deviations σ, which the components share, (k,), weights (n,) and out (k,).
    """
    n, k = means.shape
    for i in range(n):
        for x in range(k):
            deviation = max(deviations[x], _LEAST)
            gain = means[i, x] - best
            u = gain / deviation
            if u >= _REACH:
                out[x] += weights[i] * gain
            elif u > -_REACH:
                place = (u + _REACH) * _PER_UNIT
                cell = int(place)
                tau = _TAU[cell] + (place - cell) * (_TAU[cell + 1] - _TAU[cell])
                out[x] += weights[i] * deviation * tau
