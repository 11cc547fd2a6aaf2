"""Weights, rates and the adaptation of step sizes, in numbers worked out by hand."""

import math

import pytest

from repertoire.strategies.cma_es import adapt_step_size, logarithmic, path_stalls


@pytest.mark.parametrize(("batch_size", "parents"), [(2, 1), (3, 1), (4, 2), (5, 2), (13, 6)])
def test_half_of_a_batch_rounded_down_are_parents(batch_size, parents):
    weights, mu_eff = logarithmic(batch_size)
    assert weights.shape == (parents,)
    assert (weights > 0).all()
    assert 1 <= mu_eff <= parents


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
