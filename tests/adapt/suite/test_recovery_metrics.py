"""Metrics of recoveries with known ratios."""

import numpy as np
import pytest

from adapt.suite.metrics import at_stop, first_reaching, metrics
from adapt.suite.runs import Runs, stack_runs


def make_runs(ratios, stops=None, falls=None):
    ratios = np.asarray(ratios, float)
    d, s, trials = ratios.shape
    return Runs(
        ratios=ratios,
        falls=np.zeros((d, s, trials), bool) if falls is None else np.asarray(falls),
        stops=np.full((d, s), trials) if stops is None else np.asarray(stops),
        recommended=np.zeros((d, s, trials), int),
    )


CLIMB = np.linspace(0.05, 1.0, 20)  # reaches 0.9 in trial 18, 0.95 in trial 19


def test_the_first_trial_that_reaches_a_level():
    ratios = np.array([[0.2, 0.95, 0.5, 1.0], [0.1, 0.1, 0.1, 0.89], [0.9, 0, 0, 0]])
    np.testing.assert_array_equal(first_reaching(ratios, 0.9), [2, np.inf, 1])


def test_every_metric_of_one_climb():
    falls = np.zeros((1, 1, 20), bool)
    falls[0, 0, [2, 9, 10]] = True
    runs = make_runs([[CLIMB]], stops=[[4]], falls=falls)
    found = {name: metric.of(runs).value for name, metric in metrics(20).items()}
    assert found == pytest.approx(
        {
            "RR@1": 0.05,
            "RR@3": 0.15,
            "RR@5": 0.25,
            "RR@10": 0.5,
            "RR@20": 1.0,
            "T90": 18,
            "T95": 19,
            "solved@5": 0,
            "solved@10": 0,
            "solved@20": 1,
            "AURC": CLIMB.mean(),
            "CVaR10": 1.0,
            "falls@10": 2,
            "stop": 4,
            "RR@stop": 0.2,
            "mean RR@1": 0.05,
            "mean RR@3": 0.15,
            "mean RR@5": 0.25,
            "mean RR@10": 0.5,
            "mean RR@20": 1.0,
        }
    )


def test_means_and_interquartile_means_differ():
    runs = make_runs([[[0.0]], [[0.5]], [[0.6]], [[0.7]]])
    found = metrics(1)
    assert found["RR@1"].of(runs).value == pytest.approx(0.55)
    assert found["mean RR@1"].of(runs).value == pytest.approx(0.45)
    assert found["CVaR10"].of(runs).value == 0.0


def test_few_trials_have_fewer_metrics():
    assert set(metrics(4)) == {
        *("RR@1", "RR@3", "T90", "T95", "AURC", "CVaR10", "stop", "RR@stop", "mean RR@1", "mean RR@3")
    }


def test_the_ratio_at_the_own_stop():
    runs = make_runs([[[0.1, 0.2], [0.3, 0.4]]], stops=[[1, 2]])
    np.testing.assert_array_equal(at_stop(runs), [[0.1, 0.4]])


def test_some_damages_and_damages_put_together():
    runs = make_runs(np.arange(12.0).reshape(3, 2, 2))
    again = stack_runs([runs.take(np.array([True, False, False])), runs.take(np.array([1, 2]))])
    for name, values in vars(runs).items():
        np.testing.assert_array_equal(getattr(again, name), values)
