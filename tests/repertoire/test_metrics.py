"""Metrics of an archive against exact sums."""

import math

import numpy as np
import pytest

from repertoire.metrics import measure


def test_metrics_of_nothing() -> None:
    metrics = measure(np.zeros(0), cells=10, min_objective=-1)
    assert (metrics.elites, metrics.coverage, metrics.qd_score) == (0, 0, 0)
    assert math.isnan(metrics.best)
    assert math.isnan(metrics.mean)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 9, 1001])
def test_metrics_equal_exact_sums(k: int) -> None:
    for seed in range(20):
        objectives = np.random.default_rng(seed).normal(-300, 100, k)
        measured = measure(objectives, cells=2000, min_objective=-374.7)
        assert (measured.elites, measured.coverage) == (k, k / 2000)
        assert measured.best == max(objectives)
        assert measured.mean == pytest.approx(math.fsum(objectives) / k, rel=1e-13)
        assert measured.qd_score == pytest.approx(math.fsum(objectives + 374.7), rel=1e-11, abs=1e-8)
