"""The posterior against brute force, and what the rehearsed selector makes of it."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from six_legs import World, library

from adapt.records import Outcome, diagnosis_words
from adapt.selectors.multi_prior import Rehearsed, RehearsedSettings, ResidualLevel, Tolerances
from adapt.selectors.selector import Context
from robots.errors import InvalidValueError

LEVELS = (ResidualLevel(0.1, 0.3, 0.2, 0.1), ResidualLevel(0.4, 0.6, 0.5, 0.3))
EXACT = Tolerances(noise_share=0.0, noise_offset=0.05, common=0.3, surprise=0.0, channels=3.0)
TRIALS = [(4, 0.7, False), (9, 1.1, True), (30, 0.2, False), (4, 0.9, True), (21, 1.3, False)]


WORLD = World(300, draws=10000)
TABLE = WORLD.table(library())
# as if of infinitely many episodes, whose objectives have no noise
QUIET = dataclasses.replace(TABLE, episodes=10**9, noise=np.zeros_like(TABLE.noise))


def matern(points, rho):
    a = np.sqrt(5) * np.linalg.norm(points[:, None] - points[None], axis=2) / rho
    return (1 + a + a**2 / 3) * np.exp(-a)


def brute_force(evidence):
    """Weights and posterior means and deviations of all components, from the joint density of all trials."""
    rows = [row for row, _, _ in TRIALS]
    unit = float(TABLE.objectives.max())
    y = np.array([objective for _, objective, _ in TRIALS]) / unit
    expected = TABLE.objectives.astype(float) / unit
    falls = TABLE.falls.astype(float)
    spread = TABLE.evidence.astype(float).std(axis=(0, 1))
    logs, means, deviations = np.empty((2, len(TABLE))), np.empty((2, *expected.shape)), np.empty((2, 300))
    for i, level in enumerate(LEVELS):
        k = level.residual**2 * (0.7 * matern(WORLD.duties, level.length_scale) + 0.3)
        inner = k[np.ix_(rows, rows)] + 0.05**2 * np.eye(len(rows))
        gain = k[:, rows] @ np.linalg.inv(inner)
        deviations[i] = np.sqrt(np.diag(k - gain @ k[rows]))
        for j in range(len(TABLE)):
            means[i, j] = expected[j] + gain @ (y - expected[j, rows])
            logs[i, j] = stats.multivariate_normal.logpdf(y, expected[j, rows], inner)
            for row in set(rows):
                told = [n for n, (tried, _, _) in enumerate(TRIALS) if tried == row]
                fell = np.mean([TRIALS[n][2] for n in told])
                p = (1 - level.fall) * falls[j, row] + level.fall / 2
                logs[i, j] += fell * np.log(p) + (1 - fell) * np.log(1 - p)
                shown = evidence[told].mean(axis=0) - TABLE.evidence[j, row]
                scale = np.hypot(TABLE.evidence_std[j, row] / np.sqrt(len(told)), level.evidence * spread)
                logs[i, j] += 3 / 12 * stats.t.logpdf(shown, 4, scale=scale).sum()
    prior = np.full(len(TABLE), 0.8 / (len(TABLE) - 1))
    prior[0] = 0.2
    prior = np.tile(0.9 * prior / len(LEVELS), (len(LEVELS), 1))
    prior[-1, 0] += 0.1
    weights = prior * np.exp(logs - logs.max())
    return weights / weights.sum(), means, deviations


def by_falls_alone():
    """What the conditions, weighed by the falls of `TRIALS`, expect; trials of a gait count as one."""
    weights = np.ones(len(TABLE))
    for row in {row for row, _, _ in TRIALS}:
        fell = np.mean([fell for tried, _, fell in TRIALS if tried == row])
        p = 0.9 * TABLE.falls[:, row].astype(float) + 0.05
        weights *= p**fell * (1 - p) ** (1 - fell)
    return weights / weights.sum() @ TABLE.falls


def test_posterior_is_that_of_brute_force():
    weighing = {"healthy": 0.2, "unknown": 0.1, "pairs": 0.0, "by_falls": 0.4, "memory": 1e9}
    settings = RehearsedSettings(levels=LEVELS, tolerances=EXACT, exponent=1.5, cost=0.03, **weighing)
    selector = Rehearsed(Context(WORLD.prior(), trials=9, table=QUIET), settings=settings)
    at_first = 0.6 * np.r_[0.28, np.full(len(TABLE) - 1, 0.72 / (len(TABLE) - 1))] @ TABLE.falls
    at_first += 0.4 * TABLE.falls.mean(axis=0)
    np.testing.assert_allclose(selector.fall_probability, at_first, atol=1e-6)
    evidence = TABLE.evidence[7, [row for row, _, _ in TRIALS]].astype(float)
    evidence += 0.1 * np.random.default_rng(0).normal(size=evidence.shape)
    for (row, objective, fell), shown in zip(TRIALS, evidence, strict=True):
        selector.tell(row, Outcome(objective, fell, shown))
    weights, means, deviations = brute_force(evidence)
    diagnosed = dict(selector.diagnosis())
    assert diagnosed["unknown"] == pytest.approx(weights[-1, 0], abs=1e-6)
    expected = weights.sum(axis=0)
    expected[0] -= weights[-1, 0]
    np.testing.assert_allclose([diagnosed[name] for name in TABLE.conditions], expected, atol=1e-6)
    unit = float(TABLE.objectives.max())
    mean = np.einsum("lj,ljk->k", weights, means)
    np.testing.assert_allclose(
        selector.predicted, unit * mean, atol=2e-3 * unit
    )  # the negligible are left out
    fall = 0.6 * np.einsum("lj,jk->k", weights, TABLE.falls) + 0.4 * by_falls_alone()
    np.testing.assert_allclose(selector.fall_probability, fall, atol=2e-3)
    best = mean[[row for row, _, _ in TRIALS]].max()
    u = (means - best) / deviations[:, None]
    gains = deviations[:, None] * (u * stats.norm.cdf(u) + stats.norm.pdf(u))
    gain = np.einsum("lj,ljk->k", weights, gains)
    gain = gain * (1 - fall) ** 1.5 - 0.03 * fall
    gain[[row for row, _, _ in TRIALS]] = -1
    assert selector.ask() == np.argmax(gain)
    tried = sorted({row for row, _, _ in TRIALS})
    assert selector.recommendation() == tried[np.argmax(mean[tried])]


@pytest.mark.parametrize("damage", ["2:lost", "0:lost+3:lost", "healthy"])
def test_it_finds_out_what_is_wrong_and_recovers_at_once(damage):
    selector = Rehearsed(Context(WORLD.prior(), trials=6, table=TABLE))
    recommended, _ = WORLD.replay(selector, damage, trials=6, seed=1)
    name, probability = selector.diagnosis()[0]
    assert name == damage
    assert probability > 0.9
    assert diagnosis_words(selector.diagnosis()).startswith(f"{damage} {probability:.2f}")
    objectives = WORLD.outcome(damage)[0]
    assert objectives[recommended[3]] > 0.85 * objectives.max()


def test_probabilities_sum_to_1():
    selector = Rehearsed(Context(WORLD.prior(), trials=6, table=TABLE))
    assert sum(p for _, p in selector.diagnosis()) == pytest.approx(1)
    found = dict(selector.diagnosis())
    assert found["unknown"] == pytest.approx(0.1 + 0.9 * 0.08 / 4)
    assert found["healthy"] == pytest.approx(0.9 * 0.08 * 3 / 4)  # a tenth of what pairs leave
    selector.tell(0, Outcome(0.3, False, TABLE.evidence[2, 0]))
    assert sum(p for _, p in selector.diagnosis()) == pytest.approx(1)


def test_two_damages_that_were_rehearsed_one_by_one_are_diagnosed_together():
    alone = TABLE.take([text for text in TABLE.conditions if "+" not in text])
    selector = Rehearsed(Context(WORLD.prior(), trials=6, table=alone))
    WORLD.replay(selector, "1:lost+5:short@0.5", trials=6)
    assert selector.diagnosis()[0][0] == "1:lost+5:short@0.5"


def test_where_nothing_fits_it_falls_back_on_searching():
    """A library of one damage that is not there."""
    hostile, ratios = TABLE.take(["healthy", "all:weak@0.5"]), []
    for damage in ("0:lost", "4:lost", "2:dead+3:lost"):
        selector = Rehearsed(Context(WORLD.prior(), trials=20, table=hostile))
        recommended, _ = WORLD.replay(selector, damage, trials=20)
        objectives = WORLD.outcome(damage)[0]
        ratios.append(objectives[recommended[-1]] / objectives.max())
    assert np.mean(ratios) > 0.9


def test_a_fall_makes_similar_gaits_look_dangerous():
    selector = Rehearsed(Context(WORLD.prior(), trials=9, table=TABLE.take(["healthy"])))
    before = selector.fall_probability
    selector.tell(10, Outcome(0.0, True, TABLE.evidence[0, 10]))
    change = selector.fall_probability - before
    distances = np.linalg.norm(WORLD.duties - WORLD.duties[10], axis=1)
    near = np.argsort(distances)
    assert change[10] == change.max() > 0.15
    assert change[near[1]] > 5 * abs(change[near[-1]])


def test_what_a_gait_did_on_models_counts_in_place_of_what_similar_gaits_do():
    risk = Rehearsed(Context(WORLD.prior(), trials=9, table=TABLE))._risk
    believed = np.full(300, 0.6)
    alone, shown = risk.of(believed, {}), risk.of(believed, {10: 0.05})
    assert shown[10] == pytest.approx(0.05)
    np.testing.assert_array_equal(np.delete(shown, 10), np.delete(alone, 10))
    risk.learn(10, Outcome(0.0, True))
    assert risk.of(believed, {10: 0.05})[10] == pytest.approx((4 * 0.05 + 1) / 5), "trials still tell"


def test_it_stops_when_there_is_little_to_gain():
    known = TABLE.take(["healthy", "3:lost"])  # it has to search
    context, stops = Context(WORLD.prior(), trials=15, table=known), []
    for tolerance in (0.0, 0.01, 0.1):
        selector = Rehearsed(context, settings=RehearsedSettings(tolerance=tolerance))
        stops.append(WORLD.replay(selector, "2:lost", trials=15)[1])
    assert stops[0] == 15 >= stops[1] > stops[2]


def test_what_does_not_fit_is_refused():
    few = dataclasses.replace(TABLE, objectives=TABLE.objectives[:, :7])
    with pytest.raises(InvalidValueError, match="of the repertoire's 300 controllers, not of 7"):
        Rehearsed(Context(WORLD.prior(), trials=9, table=few))
    selector = Rehearsed(Context(WORLD.prior(), trials=9, table=TABLE))
    with pytest.raises(InvalidValueError, match="must be 12 numbers, as in the rehearsal, or none, not 3"):
        selector.tell(0, Outcome(1.0, False, np.zeros(3)))
    assert selector.rows == []
