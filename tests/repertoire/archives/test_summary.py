"""The metrics of archives of any size: compiled sums against exact ones."""

import math

import numpy as np
import pytest
from kinds import KINDS, candidates

from repertoire import metrics
from repertoire.metrics import measure, measure_objectives


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 9, 1001])
def test_metrics_equal_exact_sums(k, interpreted, monkeypatch):
    if interpreted:
        kernel = metrics._total_and_best
        monkeypatch.setattr(metrics, "_total_and_best", getattr(kernel, "py_func", kernel))
    for seed in range(20):
        objectives = np.random.default_rng(seed).normal(-300, 100, k)
        measured = measure_objectives(objectives, cells=2000, min_objective=-374.7)
        assert measured.elites == k
        assert measured.coverage == k / 2000
        assert measured.best == max(objectives)
        assert measured.mean == pytest.approx(math.fsum(objectives) / k, rel=1e-13)
        assert measured.qd_score == pytest.approx(math.fsum(objectives + 374.7), rel=1e-11, abs=1e-11)


def test_a_compiled_sum_is_bit_for_bit_the_interpreted_one():
    kernel = metrics._total_and_best
    for seed in range(5):
        objectives = np.random.default_rng(seed).normal(-300, 100, 999)
        assert kernel(objectives) == getattr(kernel, "py_func", kernel)(objectives)


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_measures_as_its_elites_do(kind):
    archive = KINDS[kind]()
    for seed in range(3):
        archive.add(*candidates(seed))
        expected = measure_objectives(archive.elites().objectives, cells=archive.cells, min_objective=-20.0)
        assert measure(archive, min_objective=-20.0) == expected
