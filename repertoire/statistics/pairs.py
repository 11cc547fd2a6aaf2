"""Pairs of groups: whether and how much two differ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special, stats

Sign = Literal["<", "-", ">"]
MIRRORED: dict[Sign, Sign] = {"<": ">", "-": "-", ">": "<"}


@dataclass(frozen=True)
class Pair:
    """Whether and how much two groups differ.

    Attributes:
        first: name of a group.
        second: name of another.
        difference: mean of the first - mean of the second.
        low: end of the difference's interval, simultaneous for all pairs, of confidence 1 - alpha.
        high: its other end.
        p: adjusted for the number of groups.
        hedges_g: difference in pooled standard deviations, corrected for bias (Hedges 1981, exact).
        sign: "<" or ">" between first and second where p <= alpha, else "-".
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    hedges_g: float
    sign: Sign


def compare_pairs(samples: Mapping[str, np.ndarray], equal: bool, alpha: float) -> tuple[Pair, ...]:
    """Test every two groups.

    Args:
        samples: by name of the group, each of at least two values that are not all equal.
        equal: whether variances may be taken as equal: then it is Tukey's test, else Games-Howell's.
        alpha: level of significance.
    """
    test = stats.tukey_hsd(*samples.values(), equal_var=equal)
    interval = test.confidence_interval(1 - alpha)
    names, pairs = list(samples), []
    for i, j in combinations(range(len(names)), 2):
        difference, p = float(test.statistic[i, j]), float(np.clip(test.pvalue[i, j], 0, 1))
        sign: Sign = "-" if p > alpha else "<" if difference < 0 else ">"
        low, high = float(interval.low[i, j]), float(interval.high[i, j])
        g = _hedges_g(samples[names[i]], samples[names[j]])
        pairs.append(Pair(names[i], names[j], difference, low=low, high=high, p=p, hedges_g=g, sign=sign))
    return tuple(pairs)


def _hedges_g(first: np.ndarray, second: np.ndarray) -> float:
    """Difference of means in pooled standard deviations, times Hedges' exact correction."""
    df = len(first) + len(second) - 2
    squares = np.sum((first - first.mean()) ** 2) + np.sum((second - second.mean()) ** 2)
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(correction * (first.mean() - second.mean()) / np.sqrt(squares / df))
