"""Metrics of recoveries with known ratios, statistics with intervals, and paired comparisons."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from suites.recovery.metrics import (
    compare_paired,
    mean,
    measured,
    metrics,
    summarise,
    upper_median,
    worst_tenth,
)
from tests.suites.recovery.made_recoveries import make_runs

RNG = np.random.default_rng(3)
BASE = RNG.uniform(0.4, 0.8, 12)


def compared(values, **rivals):
    """How a selector compares with each of its rivals."""
    return list(compare_paired(pd.DataFrame({"own": values} | rivals), "own").itertuples())


CLIMB = np.linspace(0.05, 1.0, 20)  # reaches 0.9 in trial 18, 0.95 in trial 19


def test_every_metric_of_one_climb():
    falls = np.zeros((1, 1, 20), bool)
    falls[0, 0, [2, 9, 10]] = True
    runs = make_runs([[CLIMB]], stops=[[4]], falls=falls)
    found = {name: metric.of(measured(runs)).value for name, metric in metrics(20).items()}
    expected = {f"RR@{mark}": mark / 20 for mark in (1, 2, 3, 5, 10, 20)}
    expected |= {"T90": 18, "T95": 19, "solved@5": 0, "solved@10": 0, "solved@20": 1}
    expected |= {"AURC": CLIMB.mean(), "CVaR10": 1, "falls@10": 2, "stop": 4, "RR@stop": 0.2}
    assert found == pytest.approx(
        expected | {"mean": 1, "of whole": 0.5, "falls after": 0.1, "thinking [s]": 0}
    )


@pytest.mark.parametrize(("n", "count"), [(1, 1), (9, 1), (10, 1), (11, 2), (240, 24)])
def test_the_worst_tenth_is_rounded_up(n, count):
    values = np.random.default_rng(n).permutation(n).astype(float)
    assert worst_tenth(values) == np.sort(values)[:count].mean()


def test_the_median_is_infinite_once_half_of_the_values_are():
    assert upper_median(np.array([1, 2, 3, np.inf, np.inf])) == 3
    assert upper_median(np.array([1, 2, np.inf, np.inf])) == np.inf
    assert upper_median(np.array([5.0, 1.0, 3.0])) == np.median([5, 1, 3])


def test_the_bootstrap_finds_the_exact_distribution_of_a_small_case():
    values = np.array([[0.0, 1.0], [10.0, 30.0]])
    exact = sorted(
        np.mean([*first, *second])
        for first in itertools.product(values[0], repeat=2)
        for second in itertools.product(values[1], repeat=2)
    )
    summary = summarise(values, mean)
    assert summary.value == 10.25
    assert (summary.low, summary.high) == (exact[0], exact[-1])  # each has more than 2.5% of the resamples


def test_of_single_seeds_damages_are_drawn():
    summary = summarise(np.array([[0.25], [0.75]]), mean)
    assert (summary.value, summary.low, summary.high) == (0.5, 0.25, 0.75)
    assert summary == summarise(np.array([[0.25, 0.75]]), mean)
    assert summarise(np.array([[0.25]]), mean).text(2) == "0.25"


def test_intervals_cover_the_mean_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    offsets = np.arange(4.0)[:, None]
    covered = 0
    for _ in range(100):
        summary = summarise(offsets + rng.normal(size=(4, 15)), mean)
        covered += summary.low <= offsets.mean() <= summary.high
    assert 86 <= covered <= 99


def test_a_clear_difference():
    rival = BASE - np.linspace(0.05, 0.16, 12)
    (pair,) = compared(BASE, other=rival)
    assert pair.difference == pytest.approx(0.105)
    low, high = stats.t.interval(0.95, 11, 0.105, np.linspace(0.05, 0.16, 12).std(ddof=1) / math.sqrt(12))
    assert (pair.low, pair.high) == pytest.approx((low, high))
    assert pair.better == 1
    assert pair.p == pytest.approx(2 / 2**12)  # every sign the same
    (pair,) = compared([0.3, 0.0, 0.0, 0.5], other=[0.0, 0.1, 0.2, 0.5])
    assert pair.better == pytest.approx((1 + 0.5) / 4)


def test_probabilities_are_adjusted_for_the_number_of_rivals():
    rivals = {str(n): BASE - shift for n, shift in enumerate(np.linspace(0.05, 0.16, 12) * np.ones((3, 1)))}
    assert [pair.p for pair in compared(BASE, **rivals)] == pytest.approx([3 * 2 / 2**12] * 3)
    others = {str(n): BASE + RNG.normal(shift, 0.1, 12) for n, shift in enumerate((0.02, 0.1, 0.0, 0.05))}
    single = [stats.wilcoxon(BASE - other).pvalue for other in others.values()]
    least, second, *_ = np.argsort(single)
    adjusted = [pair.p for pair in compared(BASE, **others)]
    assert adjusted[least] == pytest.approx(min(1, 4 * single[least]))
    assert adjusted[second] == pytest.approx(min(1, max(4 * single[least], 3 * single[second])))
