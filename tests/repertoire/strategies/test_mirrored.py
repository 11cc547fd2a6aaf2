"""Mirrored samples: where they lie, and the gradients estimated from them."""

import numpy as np
import pytest
from scipy.stats import rankdata
from search_tools import generator

from repertoire.strategies.openai_es import MirroredSamples, centred_ranks

N = 50


def make(count: int = 100, *, sigma: float = 0.02, n: int = N, seed: int = 0) -> MirroredSamples:
    return MirroredSamples(count, sigma=sigma, solution_dim=n, rng=generator(seed))


def draw(samples: MirroredSamples, point: np.ndarray) -> np.ndarray:
    solutions = np.full((samples.count, point.size), np.nan, np.float32)
    samples.draw(point, solutions)
    return solutions


@pytest.mark.parametrize("count", [2, 4, 6, 100])
def test_pairs_lie_on_either_side_of_the_point(count):
    point = np.linspace(-1, 1, N)
    steps = draw(make(count), point) - point
    np.testing.assert_allclose(steps[0::2], -steps[1::2], atol=1e-6)
    assert len(np.unique(steps, axis=0)) == count


def test_estimates_equal_the_published_sum():
    samples, point = make(6), np.zeros(N)
    solutions = draw(samples, point).astype(np.float64)
    values = np.array([[3.0, 0.1], [1, 0.5], [-2, 0.2], [9, 0.3], [4, 0.6], [5, 0.4]])
    expected = np.zeros((2, N))
    for k in range(2):
        ranks = rankdata(values[:, k]) - 1
        for i in range(6):
            expected[k] += (ranks[i] / 5 - 0.5) * (solutions[i] / 0.02) / (6 * 0.02)
    np.testing.assert_allclose(samples.gradients(values), expected, rtol=1e-5, atol=1e-5)


def test_equal_values_share_the_mean_of_their_ranks():
    np.testing.assert_allclose(centred_ranks(np.array([1.0, 0, 1, 1, 2])), [0, -0.5, 0, 0, 0.5])
    assert not centred_ranks(np.ones(6)).any()
    values = np.random.default_rng(0).integers(5, size=40).astype(float)
    np.testing.assert_allclose(centred_ranks(values), (rankdata(values) - 1) / 39 - 0.5)
