"""Metrics of an archive, by hand and against exact sums."""

import math

import numpy as np
import pytest

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec
from repertoire.metrics import Metrics, measure


def test_metrics_of_three_elites() -> None:
    archive = Archive(GridSpec((10,)), solution_dim=2, ranges=[(0, 1)])
    archive.add(np.zeros((4, 2)), np.array([1.0, 4, -2, 3]), np.array([[0.05], [0.55], [0.95], [0.58]]))
    found = measure(archive.objectives, cells=10, min_objective=-2.5)
    assert found == Metrics(3, 0.3, 3.5 + 6.5 + 0.5, 4.0, 1.0)


def test_metrics_of_nothing() -> None:
    metrics = measure(np.zeros(0), cells=10, min_objective=-1)
    assert (metrics.elites, metrics.coverage, metrics.qd_score) == (0, 0, 0)
    assert math.isnan(metrics.best)
    assert math.isnan(metrics.mean)


def test_an_elite_below_the_minimum_subtracts() -> None:
    assert measure(np.array([-3.0, 2.0]), cells=2, min_objective=0.5).qd_score == pytest.approx(-2.0)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 9, 1001])
def test_metrics_equal_exact_sums_in_an_order_that_never_changes(k: int) -> None:
    for seed in range(20):
        objectives = np.random.default_rng(seed).normal(-300, 100, k)
        measured = measure(objectives, cells=2000, min_objective=-374.7)
        assert measured.coverage == k / 2000
        assert measured.best == max(objectives)
        assert measured.mean == pytest.approx(math.fsum(objectives) / k, rel=1e-13)
        assert measured.qd_score == pytest.approx(math.fsum(objectives + 374.7), rel=1e-11, abs=1e-8)
        sums = [0.0, 0.0, 0.0, 0.0]
        for i, value in enumerate(objectives.tolist()):
            sums[i % 4 if i < k - k % 4 else 0] += value
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        assert measure(objectives, cells=k, min_objective=0).mean == total / k
