"""Analysis of variance: whether any groups differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Anova:
    """Whether any groups differ.

    Attributes:
        method: which test, by whether variances may be taken as equal.
        statistic: F.
        df_between: degrees of freedom of the numerator.
        df_within: of the denominator; not whole for Welch's test.
        p: probability of such an F if all means were equal.
        eta_squared: sum of squares between groups as a fraction of the total.
        omega_squared: the same fraction estimated for the population from F; negative where F < 1.
    """

    method: Literal["one-way", "Welch"]
    statistic: float
    df_between: int
    df_within: float
    p: float
    eta_squared: float
    omega_squared: float


def analyse_variance(samples: Sequence[np.ndarray], equal: bool) -> Anova:
    """Test all groups at once.

    Args:
        samples: of the groups, each of at least two values that are not all equal.
        equal: whether variances may be taken as equal: then it is the one-way test, else Welch's.
    """
    sizes = np.array([len(sample) for sample in samples])
    means = np.array([sample.mean() for sample in samples])
    variances = np.array([sample.var(ddof=1) for sample in samples])
    total, k = int(sizes.sum()), len(samples)
    between = np.sum(sizes * (means - np.concatenate(samples).mean()) ** 2)
    within = np.sum((sizes - 1) * variances)
    weights = sizes / variances
    spread = np.sum((1 - weights / weights.sum()) ** 2 / (sizes - 1))  # the sum in Welch 1951
    test = stats.f_oneway(*samples, equal_var=equal)
    f = float(test.statistic)
    return Anova(
        method="one-way" if equal else "Welch",
        statistic=f,
        df_between=k - 1,
        df_within=float(total - k if equal else (k**2 - 1) / (3 * spread)),
        p=float(test.pvalue),
        eta_squared=float(between / (between + within)),
        omega_squared=(k - 1) * (f - 1) / ((k - 1) * (f - 1) + total),
    )
