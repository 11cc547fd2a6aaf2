"""Hypotheses: rehearsed conditions and pairs of them, as the table and arithmetic say."""

import numpy as np
import pytest
from scipy import stats
from six_legs import World

from adapt.damage.text import damage_from
from adapt.rehearsal.table import rehearsed_expectations
from adapt.selectors.hypotheses import Hypotheses, fall_of_both, objective_of_both, pair_up
from adapt.selectors.mixture import add_expected_improvement, log_evidence, log_objective

WORLD = World(40, draws=2000)
TABLE = WORLD.table(("healthy", "0:lost", "1:dead", "2:lost+3:lost", "0:short@0.5"))


def rehearsed(*, floor, unit, pairs=False):
    expectations = rehearsed_expectations(TABLE, WORLD.duties)
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
    a, b, healthy = np.array([[0.5, 0.5, 0.4, -0.1], [0.4, 0.9, 0.3, 0.5], [1, 0.6, 0.0, 1]])
    np.testing.assert_allclose(objective_of_both(a, b, healthy), [0.2, 0.5, 0.3, -0.1])
    np.testing.assert_allclose(fall_of_both(np.array([0.5, 0]), np.array([0.5, 0.2]), a), [0.75, 0.2])


@pytest.mark.parametrize("pairs", [False, True])
def test_one_controller_and_all_controllers_agree(pairs):
    hypotheses = rehearsed(floor=0.5, unit=2.0, pairs=pairs)
    d = len(TABLE)
    assert hypotheses.names[:d] == TABLE.conditions
    assert ("0:lost+1:dead" in hypotheses.names) == pairs
    assert hypotheses.rehearsed == len(hypotheses.single) == d
    which = np.arange(len(hypotheses))
    objectives, falls = hypotheses.objectives(which), hypotheses.falls(which)
    np.testing.assert_allclose(objectives[:d], (TABLE.objectives - 0.5) / 2.0, rtol=1e-6)
    for row in (0, 17, 39):
        expected = hypotheses.at(row)
        np.testing.assert_allclose(expected.objective, objectives[:, row])
        np.testing.assert_allclose(expected.fall, falls[:, row])
        np.testing.assert_allclose(expected.evidence[:d], TABLE.evidence[:, row])
        assert expected.evidence.shape == expected.evidence_variance.shape == (len(hypotheses), 12)
        if pairs:
            i = hypotheses.names.index("0:lost+1:dead")
            sum_of_changes = TABLE.evidence[1, row] + TABLE.evidence[2, row] - TABLE.evidence[0, row]
            np.testing.assert_allclose(expected.evidence[i], sum_of_changes, rtol=1e-5)
    some = np.array([len(hypotheses) - 1, 0, 2])
    np.testing.assert_allclose(hypotheses.objectives(some), objectives[some])


def test_variances_and_falls_are_drawn_towards_the_typical():
    hypotheses = rehearsed(floor=0.0, unit=2.0)
    typical = np.median(TABLE.noise) ** 2
    expected = hypotheses.at(5)
    shrunk = (TABLE.noise[:, 5] ** 2 + 2 * typical) / 3  # two episodes have one degree of freedom
    np.testing.assert_allclose(expected.variance, shrunk * 1.5 / 4, rtol=1e-5)
    assert expected.noise_variance == pytest.approx(np.median(shrunk) / 4, rel=1e-5)
    near = np.argsort(np.linalg.norm(WORLD.duties - WORLD.duties[5], axis=1))[:16]
    falls = (2 * TABLE.falls[:, 5] + 4 * TABLE.falls[:, near].mean(axis=1)) / 6
    np.testing.assert_allclose(expected.fall, falls, rtol=1e-5)


# Likelihoods and expected improvement against SciPy.


def test_objectives_are_normal_but_for_surprises():
    rng = np.random.default_rng(0)
    residuals, variances = rng.normal(size=9), rng.uniform(0.1, 2, 9)
    normal = stats.norm.logpdf(residuals, scale=np.sqrt(variances))
    np.testing.assert_allclose(log_objective(residuals, variances, surprise=0.0), normal)
    mixed = np.log(0.9 * np.exp(normal) + 0.1)
    np.testing.assert_allclose(log_objective(residuals, variances, surprise=0.1), mixed)
    far = log_objective(np.array([50.0]), np.array([0.01]), surprise=0.01)
    assert far == pytest.approx(np.log(0.01))


@pytest.mark.parametrize("e", [1, 8, 13, 40])
def test_evidence_is_students(e):
    rng = np.random.default_rng(0)
    residuals, variances, discrepancies = rng.normal(size=(5, e)), rng.random((5, e)), rng.uniform(1e-9, 1, e)
    t = stats.t.logpdf(residuals, 4, scale=np.sqrt(variances + discrepancies)).sum(axis=1)
    whole = log_evidence(residuals, variances, discrepancies, channels=100.0)
    np.testing.assert_allclose(whole, t, rtol=1e-10)
    tempered = log_evidence(residuals, variances, discrepancies, channels=0.5)
    np.testing.assert_allclose(tempered, 0.5 / e * t, rtol=1e-10)


def test_expected_improvement_is_that_of_the_formula():
    rng = np.random.default_rng(0)
    means, deviations = rng.normal(size=(4, 6)), rng.uniform(0.01, 1, 6)
    weights, best = np.array([0.4, 0.3, 0.2, 0.1]), 0.3
    gain = np.zeros(6)
    add_expected_improvement(means, deviations, weights, best, gain)
    u = (means - best) / deviations
    exact = weights @ (deviations * (u * stats.norm.cdf(u) + stats.norm.pdf(u)))
    np.testing.assert_allclose(gain, exact, atol=5e-7)
