"""The metrics of archives of any size: sums against exact ones."""

import math

import numpy as np
import pytest
from kinds import SPECS, candidates, make

from repertoire.metrics import measure, measure_objectives


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 9, 1001])
def test_metrics_equal_exact_sums(k):
    for seed in range(20):
        objectives = np.random.default_rng(seed).normal(-300, 100, k)
        measured = measure_objectives(objectives, cells=2000, min_objective=-374.7)
        assert measured.elites == k
        assert measured.coverage == k / 2000
        assert measured.best == max(objectives)
        assert measured.mean == pytest.approx(math.fsum(objectives) / k, rel=1e-13)
        assert measured.qd_score == pytest.approx(math.fsum(objectives + 374.7), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("k", [1, 6, 999, 4000])
def test_the_order_of_summation_never_changes(k):
    objectives = np.random.default_rng(k).normal(-300, 100, k)
    sums = [0.0, 0.0, 0.0, 0.0]
    for i, value in enumerate(objectives.tolist()):
        sums[i % 4 if i < k - k % 4 else 0] += value
    total = (sums[0] + sums[1]) + (sums[2] + sums[3])
    assert measure_objectives(objectives, cells=k, min_objective=0).qd_score == total


@pytest.mark.parametrize("kind", SPECS)
def test_an_archive_measures_as_its_elites_do(kind):
    archive = make(kind)
    for seed in range(3):
        archive.add(*candidates(seed))
        expected = measure_objectives(archive.elites().objectives, cells=archive.cells, min_objective=-20.0)
        assert measure(archive, min_objective=-20.0) == expected
