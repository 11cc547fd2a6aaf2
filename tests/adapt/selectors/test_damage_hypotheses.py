"""Hypotheses: rehearsed conditions and pairs of them, as the table and arithmetic say."""

import numpy as np
import pytest
from six_legs import World

from adapt.damage.text import damage_from
from adapt.rehearsal.conditions import mean_of_nearest, rehearsed_expectations
from adapt.rehearsal.table import Table
from adapt.selectors.hypotheses import Hypotheses, fall_of_both, objective_of_both, pair_up


@pytest.fixture(scope="module")
def world():
    return World(40, draws=2000)


@pytest.fixture(scope="module")
def table(world):
    return world.table(("healthy", "0:lost", "1:dead", "2:lost+3:lost", "0:short@0.5"))


def rehearsed(
    table: Table, measures: np.ndarray, *, floor: float = 0.0, unit: float = 1.0, pairs: bool = False
) -> Hypotheses:
    expectations = rehearsed_expectations(table, measures)
    return Hypotheses(expectations, floor=floor, unit=unit, spread=np.ones(12), pairs=pairs)


def test_the_rehearsed_come_first_and_pairs_are_of_different_places():
    damages = ["healthy", "0:lost", "1:dead", "1:dead+0:lost", "0:short@0.5", "all:weak@0.5"]
    pairs = [(damages[a], damages[b]) for a, b in pair_up(list(map(damage_from, damages)))]
    assert pairs == [
        ("0:lost", "all:weak@0.5"),
        ("1:dead", "0:short@0.5"),
        ("1:dead", "all:weak@0.5"),
        ("0:short@0.5", "all:weak@0.5"),
    ]


def test_what_both_do():
    a, b, healthy = (
        np.array([0.5, 0.5, 0.4, -0.1]),
        np.array([0.4, 0.9, 0.3, 0.5]),
        np.array([1, 0.6, 0.0, 1]),
    )
    np.testing.assert_allclose(objective_of_both(a, b, healthy), [0.2, 0.5, 0.3, -0.1])
    np.testing.assert_allclose(fall_of_both(np.array([0.5, 0]), np.array([0.5, 0.2]), a), [0.75, 0.2])


@pytest.mark.parametrize("pairs", [False, True])
def test_one_controller_and_all_controllers_agree(world, table, pairs):
    hypotheses = rehearsed(table, world.duties, floor=0.5, unit=2.0, pairs=pairs)
    d = len(table)
    assert hypotheses.names[:d] == table.conditions
    assert ("0:lost+1:dead" in hypotheses.names) == pairs
    assert hypotheses.rehearsed == len(hypotheses.single) == d
    which = np.arange(len(hypotheses))
    objectives, falls = hypotheses.objectives(which), hypotheses.falls(which)
    np.testing.assert_allclose(objectives[:d], (table.objectives - 0.5) / 2.0, rtol=1e-6)
    for row in (0, 17, 39):
        expected = hypotheses.at(row)
        np.testing.assert_allclose(expected.objective, objectives[:, row])
        np.testing.assert_allclose(expected.fall, falls[:, row])
        np.testing.assert_allclose(expected.evidence[:d], table.evidence[:, row])
        assert expected.evidence.shape == expected.evidence_variance.shape == (len(hypotheses), 12)
        if pairs:
            i = hypotheses.names.index("0:lost+1:dead")
            sum_of_changes = table.evidence[1, row] + table.evidence[2, row] - table.evidence[0, row]
            np.testing.assert_allclose(expected.evidence[i], sum_of_changes, rtol=1e-5)
    some = np.array([len(hypotheses) - 1, 0, 2])
    np.testing.assert_allclose(hypotheses.objectives(some), objectives[some])


def test_variances_and_falls_are_drawn_towards_the_typical(world, table):
    hypotheses = rehearsed(table, world.duties, floor=0.0, unit=2.0)
    typical = np.median(table.noise) ** 2
    expected = hypotheses.at(5)
    shrunk = (table.noise[:, 5] ** 2 + 2 * typical) / 3  # two episodes have one degree of freedom
    np.testing.assert_allclose(expected.variance, shrunk * 1.5 / 4, rtol=1e-5)
    assert expected.noise_variance == pytest.approx(np.median(shrunk) / 4, rel=1e-5)
    near = np.argsort(np.linalg.norm(world.duties - world.duties[5], axis=1))[:16]
    falls = (2 * table.falls[:, 5] + 4 * table.falls[:, near].mean(axis=1)) / 6
    np.testing.assert_allclose(expected.fall, falls, rtol=1e-5)


def test_no_pairs_without_the_healthy_condition(world, table):
    assert len(rehearsed(table.take(["0:lost", "1:dead"]), world.duties, pairs=True)) == 2


def test_few_controllers_are_all_near():
    values = np.array([[0.0, 1.0, 0.5]])
    np.testing.assert_allclose(mean_of_nearest(values, np.arange(3.0)[:, None]), [[0.5, 0.5, 0.5]])
    np.testing.assert_allclose(mean_of_nearest(values[:, :1], np.zeros((1, 2))), [[0.0]])
