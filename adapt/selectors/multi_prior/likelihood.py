"""Likelihoods: how probable a trial is under a hypothesis, with tails that forgive one surprise."""

import math

import numpy as np
from scipy.special import gammaln

from robots.compilation import compiled

_FREEDOM = 4.0  # degrees of freedom of Student's t


def log_objective(residuals: np.ndarray, variances: np.ndarray, *, surprise: float) -> np.ndarray:
    """Log density of a normalised objective: a normal one, contaminated by one that is uniform over a unit.

        log((1 - ε) N(r; 0, v) + ε)

    so that no single trial costs a hypothesis more than log ε.

    Args:
        residuals: measured minus expected, r.
        variances: v, like the residuals in shape.
        surprise: ε, from 0 (exactly normal) to 1.
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
    costs little. What the numbers say together is multiplied by min(1, channels / e).

    Args:
        residuals: measured minus expected, (h, e).
        variances: v, (h, e).
        discrepancies: δ², positive, (e,).
        channels: how many numbers' worth of weight they have together.

    Returns:
        (h,).
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
    """Log probability that a trial ended in a fall, or did not.

    Args:
        fell: 1 if it did, 0 if not; the mean of several trials of a controller.
        probabilities: of a fall, of any shape.
        doubt: share of trials that may as well go either way, from 0 to 1.
    """
    p = (1 - doubt) * probabilities + 0.5 * doubt
    return np.asarray(fell * np.log(p) + (1 - fell) * np.log1p(-p))
