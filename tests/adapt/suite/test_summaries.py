"""Statistics of recoveries against scipy and brute force."""

import itertools

import numpy as np
import pytest
from scipy import stats

from adapt.suite.summaries import interquartile_mean, mean, summarise, upper_median, worst_tenth
from robots.errors import InvalidValueError


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 41, 100])
def test_the_interquartile_mean_is_a_trimmed_mean(n):
    values = np.random.default_rng(n).normal(size=(3, n))
    np.testing.assert_allclose(interquartile_mean(values), stats.trim_mean(values, 0.25, axis=1))


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


def test_resampling_keeps_to_the_damage():
    values = np.repeat(np.arange(6.0)[:, None], 5, axis=1)  # seeds do not differ, damages do
    summary = summarise(values, interquartile_mean)
    assert summary.value == summary.low == summary.high


def test_intervals_cover_the_mean_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    offsets = np.arange(4.0)[:, None]
    covered = 0
    for _ in range(100):
        summary = summarise(offsets + rng.normal(size=(4, 15)), mean)
        covered += summary.low <= offsets.mean() <= summary.high
    assert 86 <= covered <= 99


def test_infinite_values_have_an_interval_too():
    values = np.array([[3.0, np.inf, np.inf], [2.0, 2.0, np.inf]])
    summary = summarise(values, upper_median)
    assert (summary.value, summary.low, summary.high) == (np.inf, 3.0, np.inf)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((0, 3)), np.full((1, 2), np.nan)])
def test_wrong_values(wrong):
    with pytest.raises(InvalidValueError, match=r"numbers of shape \(damages, seeds\)"):
        summarise(wrong, mean)
