"""Metrics of an archive, by hand."""

import math

import numpy as np
import pytest

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec
from repertoire.metrics import Metrics, measure


def test_metrics_of_three_elites(monkeypatch):
    archive = Archive(GridSpec((10,)), solution_dim=2, ranges=[(0, 1)])
    archive.add(np.zeros((4, 2)), np.array([1.0, 4, -2, 3]), np.array([[0.05], [0.55], [0.95], [0.58]]))
    monkeypatch.setattr(archive, "elites", None)  # copying the solutions would cost O(cells * solution_dim)
    assert measure(archive, min_objective=-2.5) == Metrics(3, 0.3, 3.5 + 6.5 + 0.5, 4.0, 1.0)


def test_metrics_of_nothing():
    metrics = measure(Archive(GridSpec((10,)), solution_dim=2, ranges=[(0, 1)]), min_objective=-1)
    assert (metrics.elites, metrics.coverage, metrics.qd_score) == (0, 0, 0)
    assert math.isnan(metrics.best)
    assert math.isnan(metrics.mean)


def test_an_elite_below_the_minimum_subtracts():
    archive = Archive(GridSpec((1,)), solution_dim=1, ranges=[(0, 1)])
    archive.add(np.zeros((1, 1)), np.array([-3.0]), np.zeros((1, 1)))
    assert measure(archive, min_objective=0).qd_score == pytest.approx(-3)
