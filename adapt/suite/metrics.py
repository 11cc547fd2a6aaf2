"""Metrics of recoveries: statistics with bootstrap intervals, and paired comparisons of selectors."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from adapt.suite.results import Runs
from repertoire.statistics import MeanInterval, mean_interval
from robots.errors import InvalidValueError

Statistic = Callable[[np.ndarray], np.ndarray]  # (..., n) to (...)
_RESAMPLES = 1000
_SOLVED = 0.9
_MARKS = (1, 3, 5, 10, 20)  # numbers of trials after which the ratio is reported
_FALLS = 10  # trials in which falls are counted
_ROUNDING = 1e-12  # smaller differences are rounding errors


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
    """Mean over the last axis without the lowest and the highest quarter of the values, rounded down."""
    n = values.shape[-1]
    cut = n // 4
    return np.asarray(np.sort(values, axis=-1)[..., cut : n - cut].mean(axis=-1))


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

    Each resample draws, for every damage, as many of its recoveries as there are, with replacement (Agarwal
    et al. 2021, Section 4.3). The interval is therefore about further seeds with the same damages, not about
    other damages. Its ends enclose the middle 95% of the statistic over 1,000 resamples.

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


@dataclass(frozen=True)
class Metric:
    """A number for each recovery, and a statistic of these numbers.

    Attributes:
        name: in tables, e.g. `RR@10`.
        values: of each recovery, (d, s).
        statistic: of the values.
        decimals: to print.
        needs: number of trials without which it is not defined.
        higher: whether higher is better.
        ranked: whether it says by itself that one selector is better than another.
    """

    name: str
    values: Callable[[Runs], np.ndarray]
    statistic: Statistic
    decimals: int = 2
    needs: int = 1
    higher: bool = True
    ranked: bool = True

    def of(self, runs: Runs) -> Summary:
        """The statistic of recoveries, of which there must be some."""
        return summarise(self.values(runs), self.statistic)


def metrics(trials: int) -> Mapping[str, Metric]:
    """The metrics that are defined for recoveries of so many trials, by name, in the order of the tables."""
    known = [
        *(_ratio("RR", mark, interquartile_mean) for mark in _MARKS),
        _first(0.9),
        _first(0.95),
        *(_solved(mark) for mark in (5, 10, 20)),
        Metric("AURC", lambda runs: runs.ratios.mean(axis=-1), interquartile_mean),
        Metric("CVaR10", lambda runs: runs.ratios[..., -1], worst_tenth),
        Metric(f"falls@{_FALLS}", _falls, mean, needs=_FALLS, higher=False),
        Metric("stop", lambda runs: runs.stops, upper_median, decimals=0, higher=False, ranked=False),
        Metric("RR@stop", at_stop, mean),
        *(_ratio("mean RR", mark, mean) for mark in _MARKS),
    ]
    return {metric.name: metric for metric in known if metric.needs <= trials}


def first_reaching(ratios: np.ndarray, level: float) -> np.ndarray:
    """Number of trials after which ratios, (..., B), first reach a level; infinity where they never do."""
    reached = ratios >= level
    return np.where(reached.any(axis=-1), 1.0 + reached.argmax(axis=-1), np.inf)


def at_stop(runs: Runs) -> np.ndarray:
    """Ratio of the controller that is recommended when the selector itself would stop, (d, s)."""
    return np.take_along_axis(runs.ratios, runs.stops[..., None] - 1, axis=2)[..., 0]


def _ratio(name: str, mark: int, statistic: Statistic) -> Metric:
    """The ratio after some trials."""
    return Metric(f"{name}@{mark}", lambda runs: runs.ratios[..., mark - 1], statistic, needs=mark)


def _solved(mark: int) -> Metric:
    """The share of recoveries with a sufficient ratio after some trials."""

    def solved(runs: Runs) -> np.ndarray:
        return (runs.ratios[..., mark - 1] >= _SOLVED).astype(float)

    return Metric(f"solved@{mark}", solved, mean, needs=mark)


def _first(level: float) -> Metric:
    """Trials until a ratio is reached."""

    def first(runs: Runs) -> np.ndarray:
        return first_reaching(runs.ratios, level)

    return Metric(f"T{100 * level:.0f}", first, upper_median, decimals=0, higher=False)


def _falls(runs: Runs) -> np.ndarray:
    """Number of falls in the first trials."""
    return np.asarray(runs.falls[..., :_FALLS].sum(axis=-1))


@dataclass(frozen=True)
class Paired:
    """How a selector compares with a rival over the same damages.

    Recoveries from one damage are not independent of each other: the unit is a damage, and its value the mean
    over its seeds.

    Attributes:
        rival: name of the other selector.
        difference: mean of the selector's values minus the rival's, with Student's 95% interval.
        hedges_g: mean difference in standard deviations of the differences, corrected for bias (Hedges 1981).
        rank_biserial: rank sum of the differences in favour minus that of those against, as a share of all
            ranks (Kerby 2014): 1 where every damage is in favour, -1 where every one is against.
        better: share of damages in favour, ties counted as half.
        p: of the Wilcoxon signed-rank test, two-sided; 1 where all differences are 0.
    """

    rival: str
    difference: MeanInterval
    hedges_g: float
    rank_biserial: float
    better: float
    p: float


def compare_paired(values: np.ndarray, rivals: Mapping[str, np.ndarray]) -> list[Paired]:
    """Compare a selector with each of its rivals; p are adjusted for their number, see `holm`.

    Args:
        values: of the selector, one for each damage, (d,).
        rivals: the same of others by name.

    Raises:
        InvalidValueError: lengths differ, or a value is not finite.
    """
    pairs = [_pair(name, np.asarray(values, float), np.asarray(rivals[name], float)) for name in rivals]
    adjusted = holm([pair.p for pair in pairs])
    return [replace(pair, p=p) for pair, p in zip(pairs, adjusted, strict=True)]


def holm(probabilities: list[float]) -> list[float]:
    """Adjust the p of several tests so that the error rate holds for all of them together (Holm 1979)."""
    p = np.asarray(probabilities, float)
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1.0, np.arange(len(p), 0, -1) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(scaled)
    return [float(value) for value in adjusted]


def _pair(rival: str, values: np.ndarray, others: np.ndarray) -> Paired:
    """Compare with one rival; p is not adjusted."""
    if values.ndim != 1 or values.shape != others.shape or not len(values):
        raise InvalidValueError(
            f"values must be as many as those of {rival}, not of shapes {values.shape} and {others.shape}"
        )
    differences = values - others
    if not np.isfinite(differences).all():
        raise InvalidValueError(f"values compared with {rival} must be finite")
    differences = np.where(np.abs(differences) < _ROUNDING, 0.0, differences)
    return Paired(
        rival=rival,
        difference=mean_interval(differences),
        hedges_g=_hedges_g(differences),
        rank_biserial=_rank_biserial(differences),
        better=float(np.mean((differences > 0) + 0.5 * (differences == 0))),
        p=float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0,
    )


def _hedges_g(differences: np.ndarray) -> float:
    """Mean in standard deviations, with Hedges' exact correction; nan where the differences are equal."""
    df = len(differences) - 1
    std = differences.std(ddof=1) if df else 0.0
    if df < 2 or std < _ROUNDING:
        return math.nan
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(correction * differences.mean() / std)


def _rank_biserial(differences: np.ndarray) -> float:
    """Signed rank sum of the differences other than zero, as a share of all ranks; 0 if there are none."""
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 0.0
    ranks = stats.rankdata(np.abs(nonzero))
    return float((np.sign(nonzero) * ranks).sum() / ranks.sum())
