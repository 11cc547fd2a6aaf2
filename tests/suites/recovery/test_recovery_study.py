"""A benchmark in a folder: its tables planned, made and resumed, its oracles, and its cases."""

import json
from dataclasses import replace

import numpy as np
import pytest

import suites.recovery.truth_tables
from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.oracle import find_oracle
from robots.errors import InUseError, InvalidFileError, InvalidValueError
from robots.files.locks import locked
from robots.randomization import randomised
from robots.simulation.simulation import Simulation
from suites.recovery.cases import TRACKS, find_tracks
from suites.recovery.study import RecoverySettings, RecoveryStudy
from suites.recovery.truth_tables import TruthTable, plan_tables
from tests.adapt.rehearsal.small import STEPS, save_rehearsal, small_repertoire, small_robot

BROKEN = ("front_left:lost", "all:weak@0.5", "back_right:lost")
DAMAGES = tuple(parse_damage(text, small_robot()) for text in BROKEN)
SETTINGS = RecoverySettings(DAMAGES, selectors=("random", "rehearsed"), trials=3, seeds=2, episodes=1, gaps=2)


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire()


@pytest.fixture(scope="module")
def library(repertoire, tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "library.h5"
    return save_rehearsal(path, repertoire, (HEALTHY, BROKEN[0]), episodes=2)


@pytest.fixture
def fresh(repertoire, library, tmp_path):
    """A study of which nothing is made, and the plan of a small table."""
    return RecoveryStudy(repertoire, library, SETTINGS, tmp_path, threads=1)


@pytest.fixture(scope="module")
def study(repertoire, library, tmp_path_factory):
    """A study all of whose tables are made, but nothing else."""
    study = RecoveryStudy(repertoire, library, SETTINGS, tmp_path_factory.mktemp("study"), threads=1)
    waiting = study.waiting()
    assert len(waiting) == 3 + 2 * 2
    seconds = study.table_seconds(waiting)
    assert seconds["anticipated"] == pytest.approx(2 * seconds["scores"])
    assert seconds["gap-2-scores"] == pytest.approx(0.5 * seconds["scores"])
    with study.open():
        assert all(table.make(threads=1) for table in waiting)
    assert study.waiting() == []
    assert study.table_seconds([]) == {}
    return study


def test_the_tables_of_a_benchmark(repertoire, tmp_path):
    settings = {"episodes": 2, "seed": 1}
    plans = plan_tables(repertoire, DAMAGES, tmp_path, rehearsed_episodes=3, gaps=2, **settings)
    assert [plan.name for plan in plans] == [
        *("anticipated", "shown", "scores"),
        *(f"gap-{gap}-{what}" for gap in (1, 2) for what in ("shown", "scores")),
    ]
    assert [plan.episodes for plan in plans] == [3, *[2] * 6]
    assert len({plan.seed for plan in plans[:3]}) == 3
    assert len({plan.gap for plan in plans[1::2]}) == 3
    assert [plan.damages for plan in plans[3::2]] == [(DAMAGES[0], DAMAGES[2]), (DAMAGES[1],)]
    for shown, scores in zip(plans[1::2], plans[2::2], strict=True):
        assert (shown.gap, shown.damages) == (scores.gap, scores.damages)
        assert shown.seed != scores.seed
    assert plans[1].total == 5 * 2 * 4
    few = plan_tables(repertoire, DAMAGES[:2], tmp_path, rehearsed_episodes=1, gaps=9, **settings)
    assert [plan.damages for plan in few[3::2]] == [DAMAGES[:1], DAMAGES[1:2]]


def test_a_table_across_the_reality_gap(tmp_path, repertoire):
    plan = TruthTable(tmp_path / "shown.h5", repertoire, DAMAGES[:2], episodes=2, seed=11, gap=3)
    plan.make(threads=1)
    table = plan.read()
    assert table.conditions == (HEALTHY, *BROKEN[:2])
    gap = randomised(repertoire.robot, 3).with_episode_steps(STEPS)
    damaged = DAMAGES[0].apply(gap)
    with plan.evaluation(threads=1) as evaluation, Simulation(damaged, threads=1) as simulation:
        seeds = evaluation._seeds
        episodes = simulation.evaluate(np.repeat(repertoire.elites.solutions, 2, axis=0), np.tile(seeds, 5))
    step = np.ptp(table.objectives) / 65_535  # of what a file keeps
    np.testing.assert_allclose(
        table.objectives[1], episodes.objectives.reshape(5, 2).mean(axis=1), rtol=1e-6, atol=step
    )


def test_an_interrupted_table_is_resumed_and_a_finished_one_is_kept(fresh, study, monkeypatch):
    plan = fresh.tables[1]
    assert not plan.make(threads=1, stop=lambda: True)
    assert plan.path.with_name("shown-unfinished.h5").exists()
    assert plan.make(threads=1)
    assert [path.name for path in (fresh.folder / "tables").iterdir()] == ["shown.h5"]
    for name in ("objectives", "evidence"):
        np.testing.assert_array_equal(getattr(plan.read(), name), getattr(study.tables[1].read(), name))
    monkeypatch.setattr(TruthTable, "evaluation", None)
    assert plan.make(threads=1)
    with pytest.raises(InvalidFileError, match="another repertoire"):
        replace(plan, repertoire=small_repertoire(seed=9)).read()


def test_each_condition_has_its_oracle_which_is_found_once(fresh, monkeypatch):
    asked = []

    def watch(evaluator, means, *, seed, condition):
        asked.append((evaluator.conditions[condition], bool(evaluator.robots[condition].modifications), seed))
        np.testing.assert_array_equal(means, table.objectives[condition])
        return find_oracle(evaluator, means, seed=seed, condition=condition)

    monkeypatch.setattr(suites.recovery.truth_tables, "find_oracle", watch)
    plan = TruthTable(fresh.folder / "shown.h5", fresh.repertoire, DAMAGES[:2], episodes=1, seed=11)
    plan.make(threads=1)
    table = plan.read()
    found = plan.oracles(table, 1)
    assert asked == [(HEALTHY, False, 11), (BROKEN[0], True, 11), (BROKEN[1], True, 11)]
    assert plan.oracles(table, 1) == found
    assert len(asked) == 3
    path = plan.path.with_suffix(".oracles.json")
    for wrong in ("{", "[]", '{"healthy": 1}', json.dumps(dict.fromkeys(found, 5))):
        path.write_text(wrong)
        assert plan.oracles(table, 1) == found
        assert json.loads(path.read_text()) == found


def test_cases_come_in_the_order_of_the_damages(study):
    found = {gap: study.cases(gap) for gap in (False, True)}
    for cases in found.values():
        assert tuple(case.damage for case in cases) == BROKEN
    shown, scores = (table.read() for table in study.tables[1:3])
    rehearsed, real = (found[gap][2] for gap in (False, True))
    np.testing.assert_allclose(rehearsed.scores, scores.objectives[3] + 300, rtol=1e-6)
    np.testing.assert_array_equal(rehearsed.truth.objectives, shown.objectives[3])
    assert (real.scores != rehearsed.scores).all()
    # what the library lacks is rehearsed too, for the track whose library holds the damage
    assert study.rehearsed().conditions == (HEALTHY, *BROKEN)


def test_tracks_without_a_reality_gap_need_fewer_tables(study, repertoire, library):
    settings = replace(SETTINGS, tracks=find_tracks(["T3"]))
    same = RecoveryStudy(repertoire, library, settings, study.folder, threads=1)
    assert list(same.replay().excluded) == [False]
    assert 0 < same.replay_seconds() < replace_seeds(same, 10_000).replay_seconds()


def replace_seeds(study: RecoveryStudy, seeds: int) -> RecoveryStudy:
    settings = replace(study.settings, seeds=seeds)
    return RecoveryStudy(study.repertoire, study.library, settings, study.folder, threads=1)


def sink(monkeypatch, rows):
    """Let all objectives be the minimum objective in some rows of the tables."""
    read = TruthTable.read

    def sunk(plan):
        table = read(plan)
        objectives = table.objectives.copy()
        objectives[rows] = -300
        return replace(table, objectives=objectives)

    monkeypatch.setattr(TruthTable, "read", sunk)


def test_damages_that_nothing_recovers_from_are_excluded_and_named(study, monkeypatch):
    sink(monkeypatch, 1)
    results = study.replay()
    assert results.excluded[False] == BROKEN[:1]
    assert results.across(False)["damage"].unique().tolist() == list(BROKEN[1:])


def test_a_benchmark_of_such_damages_alone_is_refused(study, monkeypatch):
    sink(monkeypatch, slice(None))
    with pytest.raises(
        InvalidValueError, match="under no damage the oracle scores above the minimum objective -300"
    ):
        study.replay()


def test_one_process_works_in_a_folder(fresh):
    with locked(fresh.folder), pytest.raises(InUseError), fresh.open():
        pass


def test_results_are_those_of_the_settings(study):
    results = study.replay()
    assert (results.robot, results.tracks) == ("ant", TRACKS)
    assert len(results.recoveries) == (2 + len(TRACKS)) * 3 * 2
    assert results.trials == 3
    settings = replace(SETTINGS, trials=6)
    with pytest.raises(InvalidValueError, match="at most the 5 gaits of the repertoire, not 6"):
        RecoveryStudy(study.repertoire, study.library, settings, study.folder, threads=1)
