"""Numbers that sum up many recoveries, and intervals for them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robots.errors import InvalidValueError

Statistic = Callable[[np.ndarray], np.ndarray]  # (..., n) to (...)
_RESAMPLES = 1000


@dataclass(frozen=True)
class Summary:
    """A statistic of recoveries and its 95% bootstrap interval."""

    value: float
    low: float
    high: float


def mean(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis."""
    return np.asarray(values.mean(axis=-1))


def interquartile_mean(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis of what is left without the lowest and the highest quarter, rounded down."""
    n = values.shape[-1]
    cut = n // 4
    ordered = np.sort(values, axis=-1)
    return np.asarray(ordered[..., cut : n - cut].mean(axis=-1))


def worst_tenth(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis of the lowest tenth of the values, rounded up: CVaR10."""
    count = math.ceil(values.shape[-1] / 10)
    return np.asarray(np.partition(values, count - 1, axis=-1)[..., :count].mean(axis=-1))


def upper_median(values: np.ndarray) -> np.ndarray:
    """Median over the last axis, the upper of two in the middle: infinite once half of the values are."""
    n = values.shape[-1]
    return np.asarray(np.partition(values, n // 2, axis=-1)[..., n // 2])


def summarise(values: np.ndarray, statistic: Statistic, *, seed: int = 0) -> Summary:
    """Return a statistic of all recoveries, and its interval by a stratified bootstrap.

    Each of the resamples draws, for every damage, as many of its recoveries as there are, with replacement
    (Agarwal et al. 2021, Section 4.3). The interval therefore speaks of further seeds with these damages, and
    not of other damages. Its ends are those of the middle 95% of the statistic over 1,000 resamples.

    Args:
        values: of each damage (rows) and seed (columns), (d, s); infinities are allowed.
        statistic: of (..., n) values, over the last axis.
        seed: of the resampling.

    Raises:
        InvalidValueError: there is no value, or one is not a number.
    """
    values = np.asarray(values, float)
    if values.ndim != 2 or not values.size or np.isnan(values).any():
        raise InvalidValueError(f"values must be numbers of shape (damages, seeds), not {values.shape}")
    d, s = values.shape
    draws = np.random.default_rng(seed).integers(s, size=(_RESAMPLES, d, s))
    resampled = np.take_along_axis(values[None], draws, axis=2).reshape(_RESAMPLES, d * s)
    found = np.sort(statistic(resampled))
    low, high = found[round(0.025 * (_RESAMPLES - 1))], found[round(0.975 * (_RESAMPLES - 1))]
    return Summary(float(statistic(values.reshape(-1))), float(low), float(high))
