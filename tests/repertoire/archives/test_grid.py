"""The grid: which box a measure is in, and shapes that are none."""

import numpy as np
import pytest
from kinds import RANGES, make_grid

from repertoire.archives import grid
from repertoire.archives.grid import GridArchive
from robots.errors import InvalidValueError


def test_cells_are_numbered_in_row_major_order_and_clipped():
    measures = [(0, -1), (0.99, 1.99), (1, 2), (0.5, 0), (-1e300, 1e300), (0.25, -0.01)]
    assert make_grid().cells_of(measures).tolist() == [0, 11, 11, 7, 2, 3]


@pytest.mark.parametrize("dim", [6, 10, 32, 100])
def test_a_fraction_falls_into_the_cell_that_exact_arithmetic_gives(dim):
    archive = GridArchive(solution_dim=1, shape=(dim,), ranges=[(0, 1)])
    for n in range(1, 1001, 3):
        k = np.arange(n + 1)
        expected = np.minimum(k * dim // n, dim - 1)
        np.testing.assert_array_equal(archive.cells_of((k / n)[:, None]), expected)


@pytest.mark.parametrize("interpreted", [False, True])
def test_cells_equal_numpys(interpreted, monkeypatch):
    if interpreted:
        monkeypatch.setattr(grid, "_locate", getattr(grid._locate, "py_func", grid._locate))
    archive = make_grid(shape=(7, 11))
    lows, highs = np.transpose(RANGES)
    measures = np.random.default_rng(0).uniform(lows - 0.3, highs + 0.3, (500, 2))
    position = (measures - lows) / (highs - lows) * archive.shape
    indices = np.clip(np.floor(position + 1e-6), 0, np.array(archive.shape) - 1).astype(np.int64)
    np.testing.assert_array_equal(archive.cells_of(measures), np.ravel_multi_index(tuple(indices.T), (7, 11)))


def test_there_is_a_cell_for_each_box():
    archive = make_grid(shape=np.array([5, 2]))
    assert (archive.cells, archive.shape) == (10, (5, 2))
    centres = (np.indices(archive.shape).reshape(2, -1).T + 0.5) / archive.shape
    lows, highs = np.transpose(RANGES)
    np.testing.assert_array_equal(archive.cells_of(lows + centres * (highs - lows)), np.arange(10))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4, 0), r"shape\[1\] must be a whole number of at least 1, got 0"),
        ((-4, 3), r"shape\[0\] must be a whole number of at least 1, got -4"),
        ((4, 2.5), r"shape\[1\] must be a whole number of at least 1, got 2.5"),
        ((4, float("nan")), r"shape\[1\] must be a whole number of at least 1, got nan"),
        ((True, 3), r"shape\[0\] must be a whole number of at least 1, got True"),
        ((4,), r"shape must have an entry for each of 2 ranges, got \(4,\)"),
        (12, "shape must have an entry for each of 2 ranges, got 12"),
    ],
)
def test_impossible_shapes_are_refused(shape, message):
    with pytest.raises(InvalidValueError, match=message):
        make_grid(shape=shape)
