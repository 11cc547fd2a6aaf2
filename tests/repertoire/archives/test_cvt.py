"""The Voronoi cells against brute force, and how centroids are made and refused."""

import itertools
import math

import numpy as np
import pytest
from kinds import RANGES, make_cvt

from repertoire.archives.cvt import CVTArchive, make_centroids
from robots.errors import InvalidValueError

UNIT = ((0.0, 1.0),)


def by_brute_force(archive: CVTArchive, measures: np.ndarray) -> np.ndarray:
    lows, highs = np.transpose(archive.ranges)
    measures = np.clip(measures, lows, highs)
    differences = (measures[:, None] - archive.centroids) / (highs - lows)  # (n, cells, m)
    return np.argmin((differences**2).sum(axis=2), axis=1)


@pytest.mark.parametrize(("cells", "dim"), [(1, 1), (2, 1), (300, 2), (200, 6)])
def test_the_cell_is_the_nearest_centroid(cells, dim):
    ranges = [(-(10.0**j), 10.0**j) for j in range(dim)]
    rng = np.random.default_rng(cells)
    lows, highs = np.transpose(ranges)
    archive = CVTArchive(solution_dim=1, centroids=rng.uniform(lows, highs, (cells, dim)), ranges=ranges)
    measures = rng.uniform(1.5 * lows, 1.5 * highs, (1000, dim))
    np.testing.assert_array_equal(archive.cells_of(measures), by_brute_force(archive, measures))
    np.testing.assert_array_equal(archive.cells_of(archive.centroids), np.arange(cells))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_first_of_equally_near_centroids_wins(dim):
    lattice = np.array(list(itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=dim)))
    corners = np.array(list(itertools.product((0.125, 0.375, 0.625, 0.875), repeat=dim)))
    for seed in range(5):
        centroids = np.random.default_rng(seed).permutation(lattice)
        archive = CVTArchive(solution_dim=1, centroids=centroids, ranges=UNIT * dim)
        np.testing.assert_array_equal(archive.cells_of(corners), by_brute_force(archive, corners))


def test_each_range_is_the_unit_of_its_measure():
    archive = CVTArchive(
        solution_dim=1, centroids=[(0.0, 500.0), (1.0, 500.0), (0.5, 1000.0)], ranges=[(0, 1), (0, 1000)]
    )
    assert archive.cells_of([(0.2, 700), (0.8, 700), (0.4, 900)]).tolist() == [0, 1, 2]


def test_a_measure_outside_its_range_counts_as_at_the_end_of_it():
    archive = CVTArchive(solution_dim=1, centroids=[(0.0, 0.5), (0.9, 0.0)], ranges=UNIT * 2)
    assert archive.cells_of([(0, 0.3), (-9, 0.3), (9, 0.9), (1, 0.9)]).tolist() == [0, 0, 1, 1]


def test_centroids_are_the_archives_own():
    centroids = np.array([[0.2], [0.8]])
    archive = CVTArchive(solution_dim=1, centroids=centroids, ranges=UNIT)
    centroids[:] = 0
    archive.centroids[:] = 0
    np.testing.assert_array_equal(archive.centroids, [[0.2], [0.8]])


@pytest.mark.parametrize(
    ("centroids", "message"),
    [
        ([0.2, 0.8], r"centroids must have shape \(cells, 2\) with at least one cell, got \(2,\)"),
        ([(0.2, 0, 0)], r"centroids must have shape \(cells, 2\) with at least one cell, got \(1, 3\)"),
        (np.zeros((0, 2)), r"at least one cell, got \(0, 2\)"),
        ([(0.2, 0), (0.2,)], "centroids must hold numbers in rows of equal length"),
        ([(0.2, 0), (0.3, 0), (0.2, 0)], "centroids must be different from each other"),
        ([(0.2, 0), (0.2, math.nan)], "centroids must be finite, but are not at index 1"),
        ([(1.1, 0), (0.2, 0), (0, -2)], "within the ranges, but do not at index 0, 2"),
    ],
)
def test_impossible_centroids_are_refused(centroids, message):
    with pytest.raises(InvalidValueError, match=message):
        make_cvt(centroids=centroids)


def test_centroids_depend_on_their_arguments_alone():
    made = [make_centroids(50, RANGES, seed=seed, samples=1000) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).all()
    spawned = make_centroids(50, RANGES, seed=np.random.SeedSequence(1), samples=1000)
    np.testing.assert_array_equal(spawned, made[0])


def test_centroids_lie_in_the_ranges_and_in_the_middle_of_their_cells():
    centroids = make_centroids(40, RANGES, seed=0, samples=40_000)
    lows, highs = np.transpose(RANGES)
    assert ((centroids >= lows) & (centroids <= highs)).all()
    archive = CVTArchive(solution_dim=1, centroids=centroids, ranges=RANGES)
    measures = np.random.default_rng(9).uniform(lows, highs, (40_000, 2))
    cells = archive.cells_of(measures)
    counts = np.bincount(cells, minlength=40)
    assert counts.min() > 0.5 * counts.mean()
    means = np.array([measures[cells == cell].mean(axis=0) for cell in range(40)])
    assert (np.abs(means - centroids) / (highs - lows)).max() < 0.02  # an eighth of a cell


def test_one_cell_is_the_middle_and_as_many_as_samples_are_those():
    np.testing.assert_allclose(make_centroids(1, RANGES, seed=0), [(0.5, 0.5)], atol=0.01)
    points = np.random.default_rng(3).random((5, 2))
    np.testing.assert_allclose(make_centroids(5, UNIT * 2, seed=3, samples=5), points, rtol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": 0}, "cells must be a whole number of at least 1, got 0"),
        ({"cells": 1.5}, "cells must be a whole number of at least 1, got 1.5"),
        ({"samples": 9}, "10 cells need at least as many samples, got 9"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"ranges": [(1, 0)]}, r"ranges\[0\] must be finite with low < high, got \(1.0, 0.0\)"),
    ],
)
def test_impossible_tessellations_are_refused(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        make_centroids(**{"cells": 10, "ranges": UNIT, "seed": 0} | arguments)
