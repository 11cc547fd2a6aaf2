"""Comparisons of groups, against published examples and plain transcriptions of the formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from robots.errors import InvalidValueError
from suites.statistics import Deviation, compare, compare_with_printed, decide, judge, mean_interval

# InsectSprays, which comes with R: counts of insects (Beall 1942)
INSECTS = {
    "A": [10, 7, 20, 14, 14, 12, 10, 23, 17, 20, 14, 13],
    "B": [11, 17, 21, 11, 16, 14, 17, 17, 19, 21, 7, 13],
    "C": [0, 1, 7, 2, 3, 1, 2, 1, 3, 0, 1, 4],
    "D": [3, 5, 12, 6, 4, 3, 5, 5, 5, 5, 2, 4],
    "E": [3, 5, 3, 5, 3, 6, 1, 1, 3, 2, 6, 4],
    "F": [11, 9, 15, 22, 15, 16, 13, 10, 26, 26, 24, 13],
}


def exactly(mean: float, deviation: float, n: int) -> np.ndarray:
    """A sample with just this mean and standard deviation."""
    sample = np.random.default_rng(n).normal(size=n)
    return mean + deviation * (sample - sample.mean()) / sample.std(ddof=1)


def test_welch_is_as_printed_by_r():
    # oneway.test(count ~ spray, InsectSprays): F = 36.065, num df = 5.000, denom df = 30.043, p = 7.999e-12
    anova = compare(INSECTS).anova
    assert anova.statistic == pytest.approx(36.065, abs=5e-4)
    assert (anova.df_between, anova.df_within) == (5, pytest.approx(30.043, abs=5e-4))
    assert anova.p == pytest.approx(7.999e-12, rel=1e-4)


def test_games_howell_is_as_in_spss():
    # ONEWAY /POSTHOC=GH of SPSS, as quoted in scipy's own tests
    groups = {
        "0": [30.0, 23.0, 51.0],
        "1": [-81.0, 71.0, -27.0, 63.0],
        "2": [42.0, 11.0, 29.0, 19.0, 50.0],
        "3": [23.0, 22.0, 20.0, 18.0, 9.0],
    }
    comparison = compare(groups)
    expected = {
        ("0", "1"): (28.16666667, -141.98541638, 198.31874971, 0.87275427),
        ("0", "2"): (4.466666667, -37.28306768, 46.21640110, 0.97526284),
        ("0", "3"): (16.26666667, -35.09331124, 67.62664457, 0.42625062),
        ("1", "2"): (-23.70000000, -195.31561720, 147.91561720, 0.91489507),
        ("1", "3"): (-11.90000000, -188.10547873, 164.30547873, 0.98614322),
        ("2", "3"): (11.80000000, -16.28948575, 39.88948575, 0.47553443),
    }
    assert {(pair.first, pair.second) for pair in comparison.pairs} == set(expected)
    for pair in comparison.pairs:
        found = (pair.difference, pair.low, pair.high, pair.p)
        assert found == pytest.approx(expected[pair.first, pair.second], abs=1e-5)


@pytest.mark.parametrize(
    ("low", "high", "sign"),
    [
        (0.01, 5.0, ">"),
        (-5.0, -0.01, "<"),
        (-0.9, 1.0, "≈"),
        (0.0, 1.0, "≈"),
        (-0.9, 1.01, "?"),
        (-3.0, 0.2, "?"),
        (math.nan, math.nan, "?"),
    ],
)
def test_an_interval_decides_unless_it_has_both_nothing_and_a_tenth(low: float, high: float, sign: str):
    assert decide(low, high, larger=10.0) == sign


def test_a_printed_mean_has_the_interval_of_two_samples():
    ours = exactly(12.0, 3.0, 10)
    found = compare_with_printed(ours, 10.0, count=20, decimals=1, spread=Deviation(4.0, 19))
    # scipy's test of the same two samples, without the rounding of 0.05
    test = stats.ttest_ind(ours, exactly(10.0, 4.0, 20), equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((test.low - 0.05, test.high + 0.05))
    unknown = compare_with_printed(ours, 10.0, count=20, decimals=1, spread=None)
    reach = stats.t.ppf(0.975, 9) * 3.0 * math.sqrt(1 / 10 + 1 / 20)
    assert unknown.half_width == pytest.approx(reach + 0.05)
    assert math.isnan(compare_with_printed([1.0], 2.0, count=5, decimals=1, spread=None).low)


def test_the_mean_has_students_interval():
    # Student's sleep data, drug 2; R: t.test gives 0.8976775 to 3.7623225
    interval = mean_interval([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    assert (interval.mean, interval.low, interval.high) == pytest.approx((2.33, 0.8976775, 3.7623225))
    assert interval.half_width == pytest.approx(2.33 - 0.8976775)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"a": [1.0, 2.0, 3.0]}, "a is the only group"),
        ({"a": [1.0, 2.0, 3.0], "b": [4.0]}, "b has a single value"),
        ({"a": [1.0, 2.0, 3.0], "b": [4.0, 4.0, 4.0]}, "all values of b are equal"),
        ({"a": [7.0, 7.0, 7.0], "b": [7.0, 7.0, 7.0]}, "all values of a are equal"),
        ({"a": [0.3, 0.1 + 0.2, 0.3], "b": [4.0, 5.0, 4.0]}, "all values of a are equal"),
        ({"a": [0.0, 0.0], "b": [4.0, 5.0]}, "all values of a are equal"),
    ],
)
def test_what_cannot_be_tested_says_why(groups: dict[str, list[float]], reason: str):
    comparison = compare(groups)
    assert comparison.untested == reason
    assert (comparison.anova, comparison.pairs) == (None, ())
    assert comparison.groups == tuple(groups)


def test_no_pair_borrows_the_variance_of_a_third_group():
    # deviations differ up to 300 times, and Levene's test finds no difference
    groups = {"a": exactly(0.87, 0.10, 3), "b": exactly(0.75, 0.24, 3), "c": exactly(0.075, 0.0008, 3)}
    assert stats.levene(*groups.values(), center="median").pvalue > 0.05
    assert [pair.sign for pair in compare(groups).pairs] == ["?", ">", "?"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": [1.0, 2.0], "b": []}, "b must be a list of at least one"),
        ({"a": [[1.0, 2.0]], "b": [1.0]}, "a must be a list"),
        ({"a": [1.0, math.nan], "b": [1.0, 2.0]}, "a must be finite, not nan"),
        ({"a": [1.0, 2.0], "b": [1.0, -math.inf]}, "b must be finite, not -inf"),
    ],
)
def test_what_is_no_group_is_refused(groups: dict, message: str):
    with pytest.raises(InvalidValueError, match=message):
        compare(groups)


RANKING = [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize(
    ("means", "verdict", "reason"),
    [
        ({"a": 1, "b": 3, "c": 5}, "supported", ""),
        ({"a": 3, "b": 1, "c": 5}, "not supported", "contradicted by: a > b"),
        ({"a": 1, "b": 1.1, "c": 5}, "not answerable", "not answerable: a ? b"),
        ({"a": 30, "b": 30.1, "c": 50}, "not supported", "contradicted by: a ≈ b"),
        ({"a": 1, "c": 5}, "supported as far as tested", "did not run: b"),
        ({"a": 5, "c": 1}, "not supported", "contradicted by: a > c; did not run: b"),
        ({"a": 1, "d": 5}, "not tested", "did not run: b, c"),
    ],
)
def test_every_pair_must_be_as_expected(means: dict[str, float], verdict: str, reason: str):
    comparison = compare({name: exactly(mean, 0.5, 6) for name, mean in means.items()})
    assert judge(comparison, RANKING) == (verdict, reason)
