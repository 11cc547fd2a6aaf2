"""Paired comparison of two selectors over the same damages: does one do better, and by how much."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from repertoire.statistics import MeanInterval, mean_interval
from robots.errors import InvalidValueError

_LEAST = 1e-12  # differences below this are rounding


@dataclass(frozen=True)
class Paired:
    """How a selector compares with a rival; its unit is the damage, and the mean over seeds its value.

    Seeds of one damage are not independent of each other, so they are averaged before anything is tested.

    Attributes:
        rival: name of the other selector.
        difference: mean of the selector's values less the rival's, with Student's 95% interval.
        hedges_g: mean difference in standard deviations of the differences, corrected for bias (Hedges 1981).
        rank_biserial: rank sum of the differences in favour less that of those against, as a share of all
            ranks (Kerby 2014): 1 where every damage is in favour, -1 where every one is against.
        better: share of damages in favour, ties counted as half.
        p: of the Wilcoxon signed-rank test, two-sided; 1 where there is no difference to test.
    """

    rival: str
    difference: MeanInterval
    hedges_g: float
    rank_biserial: float
    better: float
    p: float


def compare_paired(values: np.ndarray, rivals: Mapping[str, np.ndarray]) -> list[Paired]:
    """Compare a selector with each of its rivals; p are adjusted for their number (Holm 1979).

    Args:
        values: of the selector, one a damage, (d,).
        rivals: the same of others by name.

    Raises:
        InvalidValueError: lengths differ, or a value is not finite.
    """
    pairs = [_pair(name, np.asarray(values, float), np.asarray(rivals[name], float)) for name in rivals]
    adjusted = holm([pair.p for pair in pairs])
    return [replace(pair, p=p) for pair, p in zip(pairs, adjusted, strict=True)]


def holm(probabilities: list[float]) -> list[float]:
    """Adjust p of several tests, so that a false one among them is as unlikely as in a single test."""
    order = np.argsort(probabilities, kind="stable")
    n, adjusted, most = len(probabilities), [1.0] * len(probabilities), 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (n - rank) * probabilities[index]))
        adjusted[index] = most
    return adjusted


def _pair(rival: str, values: np.ndarray, others: np.ndarray) -> Paired:
    """One comparison, p unadjusted."""
    if values.ndim != 1 or values.shape != others.shape or not len(values):
        raise InvalidValueError(
            f"values must be as many as those of {rival}, not of shapes {values.shape} and {others.shape}"
        )
    differences = values - others
    if not np.isfinite(differences).all():
        raise InvalidValueError(f"values compared with {rival} must be finite")
    differences = np.where(np.abs(differences) < _LEAST, 0.0, differences)
    return Paired(
        rival=rival,
        difference=mean_interval(differences),
        hedges_g=_hedges_g(differences),
        rank_biserial=_rank_biserial(differences),
        better=float(np.mean((differences > 0) + 0.5 * (differences == 0))),
        p=float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0,
    )


def _hedges_g(differences: np.ndarray) -> float:
    """Mean in standard deviations, times Hedges' exact correction; nan where there is no spread."""
    df = len(differences) - 1
    spread = differences.std(ddof=1) if df else 0.0
    if df < 2 or spread < _LEAST:
        return math.nan
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(correction * differences.mean() / spread)


def _rank_biserial(differences: np.ndarray) -> float:
    """Signed rank sum of the differences that are not zero, as a share of all ranks; 0 if there are none."""
    told = differences[differences != 0]
    if not len(told):
        return 0.0
    ranks = stats.rankdata(np.abs(told))
    return float((np.sign(told) * ranks).sum() / ranks.sum())
