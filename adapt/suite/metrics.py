"""What is measured of recoveries: each metric is a number a recovery, and a way to sum many up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from adapt.suite.runs import Runs
from adapt.suite.summaries import (
    Statistic,
    Summary,
    interquartile_mean,
    mean,
    summarise,
    upper_median,
    worst_tenth,
)

BINDING = 0.9  # a damage is binding if the healthy robot's best gait has less than this share of the oracle
SOLVED = 0.9
MARKS = (1, 3, 5, 10, 20)  # trials after which the ratio is told
_FALLS = 10  # trials in which falls are counted


@dataclass(frozen=True)
class Metric:
    """One number of each recovery, and of all together.

    Attributes:
        name: in tables, e.g. `RR@10`.
        meaning: in words.
        values: of the recoveries of `Runs`, (d, s).
        statistic: sums the values up.
        decimals: to show.
        needs: trials without which it is not defined.
        higher: whether more is better.
        ranked: whether it says by itself that one selector is better than another.
    """

    name: str
    meaning: str
    values: Callable[[Runs], np.ndarray]
    statistic: Statistic
    decimals: int = 2
    needs: int = 1
    higher: bool = True
    ranked: bool = True

    def of(self, runs: Runs) -> Summary:
        """Sum up recoveries, of which there must be some."""
        return summarise(self.values(runs), self.statistic)


def metrics(trials: int) -> Mapping[str, Metric]:
    """The metrics of recoveries with so many trials, by name, in the order of the tables."""
    return {metric.name: metric for metric in _all(trials) if metric.needs <= trials}


def first_reaching(ratios: np.ndarray, level: float) -> np.ndarray:
    """After how many trials a ratio is first at least `level`, infinity where it never is.

    Args:
        ratios: after each trial, (..., B).
        level: the least.

    Returns:
        (...) float, from 1.
    """
    reached = ratios >= level
    return np.where(reached.any(axis=-1), 1.0 + reached.argmax(axis=-1), np.inf)


def at_stop(runs: Runs) -> np.ndarray:
    """Ratio of what is recommended when the selector itself would stop, (d, s)."""
    return np.take_along_axis(runs.ratios, runs.stops[..., None] - 1, axis=2)[..., 0]


def _all(trials: int) -> list[Metric]:
    """Every metric."""
    marks = [mark for mark in MARKS if mark <= trials]
    return [
        *(_ratio(mark, interquartile_mean, "RR@{}", "interquartile mean") for mark in marks),
        _first(0.9),
        _first(0.95),
        *(_solved(mark) for mark in (5, 10, 20)),
        Metric("AURC", "interquartile mean of RR over all trials", _area, interquartile_mean),
        Metric("CVaR10", f"mean of the worst tenth of RR@{trials}", _last, worst_tenth),
        Metric(
            "falls@10",
            "mean falls in the first 10 trials",
            lambda runs: runs.falls[..., :_FALLS].sum(axis=-1),
            mean,
            needs=_FALLS,
            higher=False,
        ),
        Metric(
            "stop",
            "median trials at the method's own stop",
            lambda runs: runs.stops,
            upper_median,
            decimals=0,
            higher=False,
            ranked=False,
        ),
        Metric("RR@stop", "mean RR there", at_stop, mean),
        *(_ratio(mark, mean, "mean RR@{}", "mean") for mark in marks),
    ]


def _ratio(mark: int, statistic: Statistic, name: str, word: str) -> Metric:
    """The ratio after some trials."""
    meaning = f"{word} of the recovery ratio after {mark} trials"
    return Metric(name.format(mark), meaning, lambda runs: runs.ratios[..., mark - 1], statistic, needs=mark)


def _solved(mark: int) -> Metric:
    """Share of recoveries that are good enough after some trials."""
    return Metric(
        f"solved@{mark}",
        f"share of recoveries with RR@{mark} of at least {SOLVED:g}",
        lambda runs: (runs.ratios[..., mark - 1] >= SOLVED).astype(float),
        mean,
        needs=mark,
    )


def _first(level: float) -> Metric:
    """Trials until a ratio is reached."""
    return Metric(
        f"T{100 * level:.0f}",
        f"median of the first trial with RR of at least {level:g}; - if half never have",
        lambda runs: first_reaching(runs.ratios, level),
        upper_median,
        decimals=0,
        higher=False,
    )


def _area(runs: Runs) -> np.ndarray:
    """Mean ratio over all trials."""
    return np.asarray(runs.ratios.mean(axis=-1))


def _last(runs: Runs) -> np.ndarray:
    """Ratio after the last trial."""
    return np.asarray(runs.ratios[..., -1])
