"""Means and their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from repertoire.statistics.samples import as_sample
from robots.errors import InvalidValueError


@dataclass(frozen=True)
class MeanInterval:
    """A mean and Student's interval for it; `low` and `high` are nan for a single value."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Distance from the mean to either end."""
        return (self.high - self.low) / 2


def mean_interval(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> MeanInterval:
    """Return the mean of values and Student's interval for it.

    Raises:
        InvalidValueError: there are no values, some are not finite, or the confidence is not within (0, 1).
    """
    if not 0 < confidence < 1:
        raise InvalidValueError(f"confidence must be between 0 and 1, not {confidence}")
    sample = as_sample("values", values)
    mean, n = float(sample.mean()), len(sample)
    if n == 1:
        return MeanInterval(mean, math.nan, math.nan)
    reach = float(stats.t.ppf((1 + confidence) / 2, n - 1) * sample.std(ddof=1) / math.sqrt(n))
    return MeanInterval(mean, mean - reach, mean + reach)
