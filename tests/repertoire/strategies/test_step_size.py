"""Weights, rates and the adaptation of step sizes, in numbers worked out by hand."""

import math

import numpy as np
import pytest

from repertoire.strategies.cma_es import adapt_step_size, damping, logarithmic, path_rate, path_stalls


def test_weights_of_a_batch_of_40():
    weights, mu_eff = logarithmic(40)
    assert weights.shape == (20,)
    np.testing.assert_allclose(weights[[0, 1, 19]], [0.16712, 0.12877, 0.00137], atol=5e-6)
    assert weights.sum() == pytest.approx(1, rel=1e-14)
    assert (np.diff(weights) < 0).all()
    assert mu_eff == pytest.approx(11.309, abs=5e-4)


@pytest.mark.parametrize(("batch_size", "parents"), [(2, 1), (3, 1), (4, 2), (5, 2), (13, 6)])
def test_half_of_a_batch_rounded_down_are_parents(batch_size, parents):
    weights, mu_eff = logarithmic(batch_size)
    assert weights.shape == (parents,)
    assert (weights > 0).all()
    assert 1 <= mu_eff <= parents


@pytest.mark.parametrize(
    ("n", "c_sigma", "d_sigma"),
    [(100, 0.11443, 1.1144), (1000, 0.013096, 1.0131), (21256, 6.2567e-4, 1.0006), (4, 0.65533, 2.52719)],
)
def test_rates_for_a_batch_of_40(n, c_sigma, d_sigma):
    mu_eff = logarithmic(40)[1]
    assert path_rate(n, mu_eff) == pytest.approx(c_sigma, rel=5e-4)
    assert damping(n, mu_eff) == pytest.approx(d_sigma, rel=5e-5)


@pytest.mark.parametrize(("generation", "share"), [(1, 0.75), (2, 0.9375), (1000, 1)])
def test_a_path_stalls_from_a_length_that_grows_to_its_limit(generation, share):
    limit = 8 * (2 + 4 / 9) * share
    assert not path_stalls(0.9999 * limit, 8, 0.5, generation)
    assert path_stalls(1.0001 * limit, 8, 0.5, generation)


def test_the_step_size_stays_at_the_expected_length_and_grows_e_fold_at_most():
    assert adapt_step_size(0.3, 8.0, 8, 0.5, 2.0) == 0.3
    assert adapt_step_size(0.3, 0.0, 8, 0.5, 2.0) == pytest.approx(0.3 * math.exp(-1 / 8), rel=1e-14)
    assert adapt_step_size(0.3, 40.0, 8, 0.5, 2.0) == pytest.approx(0.3 * math.exp(1 / 2), rel=1e-14)
    assert adapt_step_size(0.3, 400.0, 8, 0.5, 2.0) == pytest.approx(0.3 * math.e, rel=1e-14)
