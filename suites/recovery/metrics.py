"""Metrics of recoveries: statistics with bootstrap intervals, and paired comparisons of selectors.

Recoveries are a table with a row for each, see `Results`. All damages of a table have the same number of
rows, one after the other: one for each seed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

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


def solved(values: np.ndarray) -> np.ndarray:
    """Share of the values over the last axis that are at least 0.9."""
    return np.asarray((values >= _SOLVED).mean(axis=-1))


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


def summarise(values: np.ndarray, statistic: Statistic) -> Summary:
    """Return a statistic of all recoveries, and its interval by a stratified bootstrap.

    Each of 1,000 resamples draws, for every damage, as many of its recoveries as there are, with replacement
    (Agarwal et al. 2021, Section 4.3): the interval, the middle 95%, is about further seeds with the same
    damages. Where each damage has a single recovery, damages are drawn instead. The values of damages and
    seeds are (d, s), and may be infinite.
    """
    values = np.asarray(values, float)
    value = float(statistic(values.reshape(-1)))
    if values.size < 2:
        return Summary(value, math.nan, math.nan)
    d, s = (values if values.shape[1] > 1 else values.T).shape
    values = values.reshape(d, s)
    draws = np.random.default_rng(0).integers(s, size=(_RESAMPLES, d, s))
    resampled = np.take_along_axis(values[None], draws, axis=2).reshape(_RESAMPLES, d * s)
    found = np.sort(statistic(resampled))
    low, high = found[round(0.025 * (_RESAMPLES - 1))], found[round(0.975 * (_RESAMPLES - 1))]
    return Summary(value, float(low), float(high))


@dataclass(frozen=True)
class RecoveryMetric:
    """A statistic of a column of measured recoveries, see `measured`."""

    column: str  # its name
    statistic: Statistic  # of its numbers
    decimals: int = 2  # to print
    # whether higher is better; None where it says nothing by itself about which selector is better
    higher: bool | None = True

    def of(self, recoveries: pd.DataFrame) -> Summary:
        """The statistic of measured recoveries, of which there must be some."""
        values = recoveries[self.column].to_numpy(float)
        return summarise(values.reshape(recoveries["damage"].nunique(), -1), self.statistic)


def marks_of(trials: int) -> list[int]:
    """Numbers of trials after which the ratio is reported, of recoveries of so many trials."""
    return [mark for mark in _MARKS if mark <= trials]


def metrics(trials: int) -> dict[str, RecoveryMetric]:
    """The metrics that are defined for recoveries of so many trials, by name."""
    marks = marks_of(trials)
    return {
        **{f"RR@{mark}": RecoveryMetric(f"rr_{mark}", interquartile_mean) for mark in marks},
        "AURC": RecoveryMetric("AURC", interquartile_mean),
        "mean": RecoveryMetric(f"rr_{trials}", mean),
        "CVaR10": RecoveryMetric(f"rr_{trials}", worst_tenth),
        **{name: RecoveryMetric(name, upper_median, decimals=0, higher=False) for name in ("T90", "T95")},
        **{f"solved@{mark}": RecoveryMetric(f"rr_{mark}", solved) for mark in marks if mark >= 5},
        f"falls@{min(EARLY, trials)}": RecoveryMetric(f"falls_{EARLY}", mean, higher=False),
        "stop": RecoveryMetric("stop", upper_median, decimals=0, higher=None),
        "RR@stop": RecoveryMetric("RR@stop", mean),
        "of whole": RecoveryMetric("whole", mean),
        "falls after": RecoveryMetric("fallen", mean, higher=False),
        "thinking [s]": RecoveryMetric("seconds", mean, decimals=1, higher=None),
    }


def measured(recoveries: pd.DataFrame) -> pd.DataFrame:
    """The recoveries with the columns of metrics that follow from several others."""
    ratios = recoveries.filter(regex=r"^rr_[1-9]").to_numpy(float)  # (n, B)
    return recoveries.assign(
        T90=first_reaching(ratios, 0.9),
        T95=first_reaching(ratios, 0.95),
        AURC=ratios.mean(axis=1),
        whole=ratios[:, -1] * recoveries["headroom"].fillna(0.0).to_numpy(float),
        **{"RR@stop": ratios[np.arange(len(ratios)), recoveries["stop"].to_numpy() - 1]},
    )


def first_reaching(ratios: np.ndarray, level: float) -> np.ndarray:
    """Number of trials after which ratios, (..., B), first reach a level; infinity where they never do."""
    reached = ratios >= level
    return np.where(reached.any(axis=-1), 1.0 + reached.argmax(axis=-1), np.inf)


def compare_paired(values: pd.DataFrame, subject: str) -> pd.DataFrame:
    """Compare a selector with each of its rivals over the same damages.

    The unit is a damage, with a row of `values`: means over its seeds, a column for each selector.

    Returns:
        A row for each rival. `difference` is the mean of the subject's values minus the rival's, from `low`
        to `high` its Student's 95% interval; `better` the share of damages in favour, ties counted as half;
        `p` that of the two-sided Wilcoxon signed-rank test, adjusted for all rivals together (Holm 1979).
    """
    rivals = values.drop(columns=subject)
    compared = [_compare((values[subject] - rivals[name]).to_numpy()) for name in rivals]
    found = pd.DataFrame(compared, index=rivals.columns)
    p = found["p"].sort_values(kind="stable")
    return found.assign(p=(p * np.arange(len(p), 0, -1)).clip(upper=1).cummax())


def _compare(differences: np.ndarray) -> dict[str, Any]:
    """Compare with one rival; p is not adjusted."""
    differences = np.where(np.abs(differences) < _ROUNDING, 0.0, differences)
    interval = mean_interval(differences)
    return {
        "difference": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "better": float(np.mean((differences > 0) + 0.5 * (differences == 0))),
        "p": float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0,
    }
