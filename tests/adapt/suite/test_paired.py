"""Paired comparisons against known answers."""

import math

import numpy as np
import pytest
from scipy import stats

from adapt.suite.paired import compare_paired, holm
from robots.errors import InvalidValueError

RNG = np.random.default_rng(3)
BASE = RNG.uniform(0.4, 0.8, 12)


def test_a_clear_difference():
    rival = BASE - np.linspace(0.05, 0.16, 12)
    (pair,) = compare_paired(BASE, {"other": rival})
    assert pair.difference.mean == pytest.approx(0.105)
    low, high = stats.t.interval(0.95, 11, 0.105, np.linspace(0.05, 0.16, 12).std(ddof=1) / math.sqrt(12))
    assert (pair.difference.low, pair.difference.high) == pytest.approx((low, high))
    assert (pair.rank_biserial, pair.better) == (1, 1)
    assert pair.p == pytest.approx(2 / 2**12)  # every sign the same
    d = 0.105 / np.linspace(0.05, 0.16, 12).std(ddof=1)
    assert pair.hedges_g == pytest.approx(d * (1 - 3 / (4 * 11 - 1)), rel=1e-3)  # the usual approximation


def test_the_rank_biserial_correlation_of_three_differences():
    (pair,) = compare_paired(np.array([0.3, 0.0, 0.0, 0.5]), {"other": np.array([0.0, 0.1, 0.2, 0.5])})
    assert pair.rank_biserial == pytest.approx((3 - 1 - 2) / 6)
    assert pair.better == pytest.approx((1 + 0.5) / 4)


def test_no_difference():
    (pair,) = compare_paired(BASE, {"other": BASE + 1e-15})
    assert (pair.p, pair.rank_biserial, pair.better) == (1, 0, 0.5)
    assert math.isnan(pair.hedges_g)


def test_swapping_the_selectors_turns_the_signs():
    other = BASE + RNG.normal(0.02, 0.1, 12)
    (pair,), (mirror,) = compare_paired(BASE, {"o": other}), compare_paired(other, {"o": BASE})
    assert mirror.hedges_g == pytest.approx(-pair.hedges_g)
    assert mirror.rank_biserial == pytest.approx(-pair.rank_biserial)
    assert mirror.p == pytest.approx(pair.p)
    assert mirror.better == pytest.approx(1 - pair.better)


def test_adjusted_probabilities():
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    rivals = {str(n): BASE - shift for n, shift in enumerate(np.linspace(0.05, 0.16, 12) * np.ones((3, 1)))}
    assert [pair.p for pair in compare_paired(BASE, rivals)] == pytest.approx([3 * 2 / 2**12] * 3)


@pytest.mark.parametrize("wrong", [np.ones(11), np.full(12, np.nan)])
def test_wrong_values(wrong):
    with pytest.raises(InvalidValueError, match="other"):
        compare_paired(BASE, {"other": wrong})
