"""The truth of a benchmark: tables planned, made and resumed, and the oracles under each of their damages."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_recoveries import DAMAGES, make_objectives, make_table

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.oracle import find_oracle
from adapt.rehearsal.table import join
from adapt.suite import truth
from adapt.suite.gap import randomised
from adapt.suite.truth import TablePlan, plan_tables
from robots.errors import InvalidFileError, InvalidValueError
from robots.simulation.simulation import Simulation
from tests.adapt.rehearsal.small import STEPS, small_repertoire, small_robot

BROKEN = ("front_left:lost", "back_right:dead")
DAMAGED = tuple(parse_damage(text, small_robot()) for text in BROKEN)
PLAN = TablePlan("shown", DAMAGED, episodes=2, seed=11)


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire()


def test_the_plans_of_a_benchmark():
    plans = plan_tables(DAMAGES, rehearsed_episodes=3, episodes=2, gaps=4, seed=1)
    assert [plan.name for plan in plans.all()] == [
        *("anticipated", "shown", "scores"),
        *(f"gap-{gap}-{what}" for gap in (1, 2, 3, 4) for what in ("shown", "scores")),
    ]
    assert (plans.anticipated.episodes, plans.shown.episodes) == (3, 2)
    assert len({plan.seed for plan in plans.without_gap()}) == 3
    assert sorted(text for shown, _ in plans.gaps for text in shown.damages) == sorted(DAMAGES)
    assert len({shown.gap for shown, _ in plans.gaps}) == 4
    for shown, scores in plans.gaps:
        assert (shown.gap, shown.damages) == (scores.gap, scores.damages)
        assert shown.seed != scores.seed
    assert plans.shown.total(100) == 100 * 2 * 7


def test_no_more_robots_than_damages():
    plans = plan_tables(DAMAGES[:2], rehearsed_episodes=1, episodes=1, gaps=9, seed=1)
    assert [shown.damages for shown, _ in plans.gaps] == [DAMAGES[:1], DAMAGES[1:2]]


def test_a_table_of_the_real_robot(repertoire, tmp_path):
    plan = replace(PLAN, gap=3)
    table = plan.make(repertoire, tmp_path, threads=1)
    assert table.conditions == (HEALTHY, *BROKEN)
    gap = randomised(repertoire.robot, 3).with_episode_steps(STEPS)
    damaged = DAMAGED[0].apply(gap)
    with plan.evaluation(repertoire, threads=1) as evaluation, Simulation(damaged, threads=1) as simulation:
        seeds = evaluation._seeds
        episodes = simulation.evaluate(np.repeat(repertoire.elites.solutions, 2, axis=0), np.tile(seeds, 5))
    step = np.ptp(table.objectives) / 65_535  # of what a file keeps
    np.testing.assert_allclose(
        table.objectives[1], episodes.objectives.reshape(5, 2).mean(axis=1), rtol=1e-6, atol=step
    )


def test_what_was_stopped_goes_on(repertoire, tmp_path):
    whole = PLAN.make(repertoire, tmp_path / "whole", threads=1)
    assert PLAN.make(repertoire, tmp_path / "parts", threads=1, stop=lambda: True) is None
    assert (tmp_path / "parts" / "tables" / "shown-unfinished.h5").exists()
    parts = PLAN.make(repertoire, tmp_path / "parts", threads=1)
    assert [path.name for path in (tmp_path / "parts" / "tables").iterdir()] == ["shown.h5"]
    np.testing.assert_array_equal(parts.objectives, whole.objectives)
    np.testing.assert_array_equal(parts.evidence, whole.evidence)


def test_a_table_is_made_once(repertoire, tmp_path, monkeypatch):
    PLAN.make(repertoire, tmp_path, threads=1)
    monkeypatch.setattr(TablePlan, "evaluation", None)
    assert PLAN.make(repertoire, tmp_path).conditions == (HEALTHY, *BROKEN)
    with pytest.raises(InvalidFileError, match="another repertoire"):
        PLAN.make(small_repertoire(seed=9), tmp_path)


def test_tables_put_together():
    table = make_table(make_objectives())
    again = join([table.take([HEALTHY, *DAMAGES[:2]]), table.take(DAMAGES[2:])])
    assert again.conditions == table.conditions
    np.testing.assert_array_equal(again.evidence_std, table.evidence_std)
    np.testing.assert_array_equal(again.objectives, table.objectives)
    with pytest.raises(InvalidValueError, match="the same controllers and evidence"):
        join([table, make_table(make_objectives(k=12))])


def test_each_condition_has_its_oracle_which_is_found_once(repertoire, tmp_path, monkeypatch):
    asked = []

    def watch(evaluator, means, *, seed, condition):
        asked.append((evaluator.conditions[condition], bool(evaluator.robots[condition].modifications), seed))
        np.testing.assert_array_equal(means, table.objectives[condition])
        return find_oracle(evaluator, means, seed=seed, condition=condition)

    monkeypatch.setattr(truth, "find_oracle", watch)
    table = PLAN.make(repertoire, tmp_path, threads=1)
    found = PLAN.oracles(repertoire, tmp_path, table, threads=1)
    assert asked == [(HEALTHY, False, 11), (BROKEN[0], True, 11), (BROKEN[1], True, 11)]
    assert set(found) == {HEALTHY, *BROKEN}
    assert PLAN.oracles(repertoire, tmp_path, table, threads=1) == found
    assert len(asked) == 3


@pytest.mark.parametrize("wrong", ["{", "[]", '{"healthy": 1}', '{"healthy": %s, "%s": 0, "%s": 0}'])
def test_oracles_are_found_again_if_their_file_is_unsound(repertoire, tmp_path, wrong):
    table = PLAN.make(repertoire, tmp_path, threads=1)
    path = PLAN.path(tmp_path).with_suffix(".oracles.json")
    for value in ("true", "5"):
        path.write_text(wrong % (value, *BROKEN) if "%" in wrong else wrong)
        found = PLAN.oracles(repertoire, tmp_path, table, threads=1)
        assert json.loads(path.read_text()) == found
        assert all(type(row) is int and 0 <= row < len(repertoire) for row in found.values())
