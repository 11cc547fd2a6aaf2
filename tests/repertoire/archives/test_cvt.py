"""The tessellation: the nearest centroid, ties, units, and where centroids lie."""

import itertools

import numpy as np
import pytest
from kinds import RANGES

from repertoire.algorithms.settings import parse_archive
from repertoire.archives.cvt import Nearest, make_centroids

UNIT = ((0.0, 1.0),)


def by_brute_force(centroids: np.ndarray, ranges, measures: np.ndarray) -> np.ndarray:
    lows, highs = np.transpose(ranges)
    differences = (np.clip(measures, lows, highs)[:, None] - centroids) / (highs - lows)  # (n, cells, m)
    return np.argmin((differences**2).sum(axis=2), axis=1)


def nearest(centroids, ranges, measures) -> list[int]:
    return Nearest(np.array(centroids), np.array(ranges, float))(np.array(measures)).tolist()


@pytest.mark.parametrize(("cells", "dim"), [(1, 1), (2, 1), (300, 2), (200, 6)])
def test_the_cell_is_the_nearest_centroid(cells, dim):
    ranges = [(-(10.0**j), 10.0**j) for j in range(dim)]
    rng = np.random.default_rng(cells)
    lows, highs = np.transpose(ranges)
    centroids = rng.uniform(lows, highs, (cells, dim))
    measures = rng.uniform(1.5 * lows, 1.5 * highs, (1000, dim))
    assert nearest(centroids, ranges, measures) == by_brute_force(centroids, ranges, measures).tolist()
    assert nearest(centroids, ranges, centroids) == list(range(cells))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_first_of_equally_near_centroids_wins(dim):
    lattice = np.array(list(itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=dim)))
    corners = np.array(list(itertools.product((0.125, 0.375, 0.625, 0.875), repeat=dim)))
    for seed in range(5):
        centroids = np.random.default_rng(seed).permutation(lattice)
        assert (
            nearest(centroids, UNIT * dim, corners) == by_brute_force(centroids, UNIT * dim, corners).tolist()
        )


def test_centroids_are_a_function_of_the_specification_and_the_callers_own():
    made = [parse_archive(text).centroids(RANGES) for text in ("cvt:50", "cvt:50", "cvt:50,seed=2")]
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).all()
    made[0][:] = 0
    np.testing.assert_array_equal(parse_archive("cvt:50").centroids(RANGES), made[1])


def test_centroids_lie_in_the_ranges_and_in_the_middle_of_their_cells():
    centroids = make_centroids(40, RANGES, seed=0, samples=40_000)
    lows, highs = np.transpose(RANGES)
    assert ((centroids >= lows) & (centroids <= highs)).all()
    measures = np.random.default_rng(9).uniform(lows, highs, (40_000, 2))
    cells = np.array(nearest(centroids, RANGES, measures))
    counts = np.bincount(cells, minlength=40)
    assert counts.min() > 0.5 * counts.mean()
    means = np.array([measures[cells == cell].mean(axis=0) for cell in range(40)])
    assert (np.abs(means - centroids) / (highs - lows)).max() < 0.02  # an eighth of a cell
