"""What tests between groups take for granted: normal distributions, and equal variances."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from repertoire.statistics.samples import is_constant


def shapiro_p(sample: np.ndarray) -> float | None:
    """P of the Shapiro-Wilk test; None for fewer than three values, or equal ones."""
    return None if len(sample) < 3 or is_constant(sample) else float(stats.shapiro(sample).pvalue)


def levene_p(samples: Sequence[np.ndarray]) -> float | None:
    """P of Levene's test about the medians; None where it cannot be done.

    About the medians (Brown and Forsythe 1974) is scipy's default, more robust than about the means, and what
    the scripts published with the paper do.
    """
    if min(len(sample) for sample in samples) < 3:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # where values are all as far from their median
        p = float(stats.levene(*samples, center="median").pvalue)
    return None if math.isnan(p) else p
