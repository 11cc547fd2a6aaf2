"""Metrics of recoveries: statistics with bootstrap intervals, and paired comparisons of selectors.

Recoveries are a table with a row for each, see `recoveries`. All damages of a table have the same number of
rows, one after the other: one for each seed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from robots.errors import InvalidValueError
from suites.markdown import NOTHING
from suites.statistics import mean_interval

Statistic = Callable[[np.ndarray], Any]  # (..., n) to (...)
_RESAMPLES = 1000
_SOLVED = 0.9
_MARKS = (1, 2, 3, 5, 10, 20)  # numbers of trials after which the ratio is reported
EARLY = 10  # trials in which falls are counted
_ROUNDING = 1e-12  # smaller differences are rounding errors

mean: Statistic = partial(np.mean, axis=-1)
# Without the lowest and the highest quarter of the values, rounded down
interquartile_mean: Statistic = partial(stats.trim_mean, proportiontocut=0.25, axis=-1)
# The upper of two in the middle: infinite once half of the values are
upper_median: Statistic = partial(np.quantile, q=0.5, axis=-1, method="higher")


def worst_tenth(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis of the lowest tenth of the values, rounded up: CVaR10."""
    count = math.ceil(values.shape[-1] / 10)
    return np.asarray(np.partition(values, count - 1, axis=-1)[..., :count].mean(axis=-1))


class Summary(NamedTuple):
    """A statistic of recoveries and its 95% bootstrap interval, which is nan where there is none."""

    value: float
    low: float
    high: float

    def text(self, decimals: int) -> str:
        """The statistic and its interval, e.g. `0.93 [0.91, 0.95]`, with a dash for what is not finite."""
        value, low, high = (f"{one:.{decimals}f}" if math.isfinite(one) else NOTHING for one in self)
        return value if math.isnan(self.low) else f"{value} [{low}, {high}]"


def summarise(values: np.ndarray, statistic: Statistic, *, seed: int = 0) -> Summary:
    """Return a statistic of all recoveries, and its interval by a stratified bootstrap.

    Each resample draws, for every damage, as many of its recoveries as there are, with replacement (Agarwal
    et al. 2021, Section 4.3). The interval is therefore about further seeds with the same damages, not about
    other damages. Its ends enclose the middle 95% of the statistic over 1,000 resamples; a single seed for
    each damage has no interval.

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
    value = float(statistic(values.reshape(-1)))
    if s < 2:
        return Summary(value, math.nan, math.nan)
    draws = np.random.default_rng(seed).integers(s, size=(_RESAMPLES, d, s))
    resampled = np.take_along_axis(values[None], draws, axis=2).reshape(_RESAMPLES, d * s)
    found = np.sort(statistic(resampled))
    low, high = found[round(0.025 * (_RESAMPLES - 1))], found[round(0.975 * (_RESAMPLES - 1))]
    return Summary(value, float(low), float(high))


@dataclass(frozen=True)
class Metric:
    """A number for each recovery, and a statistic of these numbers.

    Attributes:
        column: of `measured`, which holds the numbers.
        statistic: of them.
        decimals: to print.
        higher: whether higher is better.
        ranked: whether it says by itself that one selector is better than another.
    """

    column: str
    statistic: Statistic
    decimals: int = 2
    higher: bool = True
    ranked: bool = True

    def of(self, recoveries: pd.DataFrame) -> Summary:
        """The statistic of measured recoveries, of which there must be some."""
        return summarise(by_damage(recoveries, self.column), self.statistic)


def metrics(trials: int) -> dict[str, Metric]:
    """The metrics that are defined for recoveries of so many trials, by name."""
    marks = [mark for mark in _MARKS if mark <= trials]
    return {
        **{f"RR@{mark}": Metric(f"RR@{mark}", interquartile_mean) for mark in marks},
        **{name: Metric(name, upper_median, decimals=0, higher=False) for name in ("T90", "T95")},
        **{f"solved@{mark}": Metric(f"solved@{mark}", mean) for mark in marks if mark >= 5},
        "AURC": Metric("AURC", interquartile_mean),
        "CVaR10": Metric(f"rr_{trials}", worst_tenth),
        **({f"falls@{EARLY}": Metric(f"falls_{EARLY}", mean, higher=False)} if trials >= EARLY else {}),
        "stop": Metric("stop", upper_median, decimals=0, higher=False, ranked=False),
        "RR@stop": Metric("RR@stop", mean),
        **{f"mean RR@{mark}": Metric(f"RR@{mark}", mean) for mark in marks},
    }


def measured(recoveries: pd.DataFrame) -> pd.DataFrame:
    """The recoveries with a column for the numbers of each metric."""
    ratios = ratios_of(recoveries)
    marks = [mark for mark in _MARKS if mark <= ratios.shape[1]]
    stops = recoveries["stop"].to_numpy()
    columns: dict[str, np.ndarray] = {
        **{f"RR@{mark}": ratios[:, mark - 1] for mark in marks},
        **{f"solved@{mark}": (ratios[:, mark - 1] >= _SOLVED).astype(float) for mark in marks},
        "T90": first_reaching(ratios, 0.9),
        "T95": first_reaching(ratios, 0.95),
        "AURC": ratios.mean(axis=1),
        "RR@stop": ratios[np.arange(len(ratios)), stops - 1],
    }
    return recoveries.assign(**columns)


def ratios_of(recoveries: pd.DataFrame) -> np.ndarray:
    """Recovery ratio of what is recommended after each trial, (n, B)."""
    return np.ascontiguousarray(recoveries.filter(regex=r"^rr_[1-9]").to_numpy(float))


def trials_of(recoveries: pd.DataFrame) -> int:
    """Number of trials of each recovery, B."""
    return len(recoveries.filter(regex=r"^rr_[1-9]").columns)


def by_damage(recoveries: pd.DataFrame, column: str) -> np.ndarray:
    """A column of a table of one selector's recoveries, (d, s)."""
    return recoveries[column].to_numpy(float).reshape(recoveries["damage"].nunique(), -1)


def first_reaching(ratios: np.ndarray, level: float) -> np.ndarray:
    """Number of trials after which ratios, (..., B), first reach a level; infinity where they never do."""
    reached = ratios >= level
    return np.where(reached.any(axis=-1), 1.0 + reached.argmax(axis=-1), np.inf)


def compare_paired(values: pd.DataFrame, subject: str) -> pd.DataFrame:
    """Compare a selector with each of its rivals over the same damages.

    Recoveries from one damage are not independent of each other: the unit is a damage, and its value the mean
    over its seeds.

    Args:
        values: a row for each damage, a column for each selector.
        subject: name of the selector.

    Returns:
        A row for each rival. `difference` is the mean of the subject's values minus the rival's, from `low`
        to `high` its Student's 95% interval; `hedges_g` that mean in standard deviations of the differences,
        corrected for bias (Hedges 1981), nan where they are equal; `rank_biserial` the rank sum of the
        differences in favour minus that of those against, as a share of all ranks (Kerby 2014): 1 where every
        damage is in favour, -1 where every one is against; `better` the share of damages in favour, ties
        counted as half; `p` that of the two-sided Wilcoxon signed-rank test, 1 where all differences are 0,
        adjusted so that the error rate holds for all rivals together (Holm 1979).
    """
    rivals = values.drop(columns=subject)
    compared = [_compare((values[subject] - rivals[name]).to_numpy()) for name in rivals]
    found = pd.DataFrame(compared, index=rivals.columns)
    p = found["p"].sort_values(kind="stable")
    return found.assign(p=(p * np.arange(len(p), 0, -1)).clip(upper=1).cummax())


def _compare(differences: np.ndarray) -> dict[str, Any]:
    """Compare with one rival; p is not adjusted."""
    differences = np.where(np.abs(differences) < _ROUNDING, 0.0, differences)
    interval, nonzero = mean_interval(differences), differences[differences != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    return {
        "difference": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "hedges_g": _hedges_g(differences),
        "rank_biserial": float((np.sign(nonzero) * ranks).sum() / ranks.sum()) if len(nonzero) else 0.0,
        "better": float(np.mean((differences > 0) + 0.5 * (differences == 0))),
        "p": float(stats.wilcoxon(differences).pvalue) if len(nonzero) else 1.0,
    }


def _hedges_g(differences: np.ndarray) -> float:
    """Mean in standard deviations, with Hedges' exact correction; nan where the differences are equal."""
    df = len(differences) - 1
    std = differences.std(ddof=1) if df else 0.0
    if df < 2 or std < _ROUNDING:
        return math.nan
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(correction * differences.mean() / std)
