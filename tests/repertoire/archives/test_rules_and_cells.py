"""The rules by hand, where they differ; what is no number; and the cells of tessellations and grids."""

import itertools

import numpy as np
import pytest
from kinds import RANGES, RULES, add_to_one_cell, make
from search_tools import grid as make_grid

from repertoire.algorithms.settings import parse_archive
from repertoire.archives import grid
from repertoire.archives.cvt import Nearest
from repertoire.state import checked_batch
from robots.errors import InvalidValueError
from robots.files.texts import LARGEST


def test_the_worked_example_of_three_solutions_in_a_cell():
    sequential, together = (make(learning_rate=0.5, min_objective=0.0, rule=rule) for rule in RULES)
    np.testing.assert_allclose(add_to_one_cell(together, [4, 2, 8]), [4, 2, 8])
    assert together.thresholds.max() == pytest.approx(49 / 12)  # 4.0833
    np.testing.assert_allclose(add_to_one_cell(sequential, [4, 2, 8]), [4, 0, 6])
    assert sequential.thresholds.max() == pytest.approx(5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.01 * LARGEST])
def test_a_value_that_is_not_finite_is_found_wherever_it_is(value, dtype):
    for shape in ((3, 11), (33,), (11, 3)):
        sound = np.full(shape, -0.99 * LARGEST, dtype)
        assert checked_batch("numbers", sound, shape, dtype) is sound
        for place in range(33):  # the vectorised part and the rest
            wrong = sound.copy()
            wrong.flat[place] = value
            index = np.unravel_index(place, shape)[0]
            with pytest.raises(InvalidValueError, match=f"^numbers must be finite, .* at index {index}$"):
                checked_batch("numbers", wrong, shape, dtype)


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
        expected = by_brute_force(centroids, UNIT * dim, corners).tolist()
        assert nearest(centroids, UNIT * dim, corners) == expected


def test_centroids_are_a_function_of_the_specification_and_the_callers_own():
    made = [parse_archive(text).centroids(RANGES) for text in ("cvt:50", "cvt:50", "cvt:50,seed=2")]
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).all()
    made[0][:] = 0
    np.testing.assert_array_equal(parse_archive("cvt:50").centroids(RANGES), made[1])


def test_cells_are_numbered_in_row_major_order_and_clipped():
    measures = [(0, -1), (0.99, 1.99), (1, 2), (0.5, 0), (-1e30, 1e30), (0.25, -0.01)]
    assert make().cells_of(measures).tolist() == [0, 11, 11, 7, 2, 3]


@pytest.mark.parametrize("dim", [6, 10, 32, 100])
def test_a_fraction_falls_into_the_cell_that_exact_arithmetic_gives(dim):
    archive = make_grid(dim, dim=1, ranges=[(0, 1)])
    for n in range(1, 1001, 3):
        k = np.arange(n + 1)
        expected = np.minimum(k * dim // n, dim - 1)
        np.testing.assert_array_equal(archive.cells_of((k / n)[:, None]), expected)


@pytest.mark.parametrize("interpreted", [False, True])
def test_cells_equal_numpys(interpreted, monkeypatch):
    if interpreted:
        monkeypatch.setattr(grid, "_locate", getattr(grid._locate, "py_func", grid._locate))
    archive = make_grid(7, 11, dim=1, ranges=RANGES)
    lows, highs = np.transpose(RANGES)
    measures = np.random.default_rng(0).uniform(lows - 0.3, highs + 0.3, (500, 2))
    position = (measures - lows) / (highs - lows) * (7, 11)
    indices = np.clip(np.floor(position + 1e-6), 0, (6, 10)).astype(np.int64)
    np.testing.assert_array_equal(archive.cells_of(measures), np.ravel_multi_index(tuple(indices.T), (7, 11)))
