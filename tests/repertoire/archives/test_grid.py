"""The grid: which box a measure is in."""

import numpy as np
import pytest
from kinds import RANGES, make
from search_tools import grid as make_grid

from repertoire.archives import grid


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
