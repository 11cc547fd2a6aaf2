"""Replays of whole benchmarks from tables that were made up."""

from dataclasses import replace

import numpy as np
import pytest
from made_recoveries import DAMAGES, best_of, make_objectives, make_table

from adapt.damage import HEALTHY
from adapt.selectors.selector import Prior
from adapt.suite.case import make_cases
from adapt.suite.estimate import replay_seconds
from adapt.suite.replay import Noise
from adapt.suite.replays import Arena, recover_from, replay_all
from adapt.suite.results import World
from adapt.suite.schedule import Job, find_selectors, groups_of
from adapt.suite.tracks import TRACKS, find_tracks
from robots.errors import UnknownNameError

TRIALS, SEEDS = 6, 3


@pytest.fixture(scope="module")
def arena():
    objectives = make_objectives(k=40)
    table = make_table(objectives)
    other = make_table(make_objectives(k=40, seed=5))
    worlds = {
        gap: World(tuple(make_cases(truth, truth, best_of(truth), min_objective=0.0)), (), 0)
        for gap, truth in ((False, table), (True, other))
    }
    measures = np.random.default_rng(0).random((40, 2))
    return Arena(
        prior=Prior(objectives[0], measures, 0.0),
        rehearsed=table,
        library=(HEALTHY, *DAMAGES[:4]),
        worlds=worlds,
        trials=TRIALS,
        seeds=SEEDS,
        noise=Noise(0.01, 0.0),
        seed=3,
    )


@pytest.fixture(scope="module")
def results(arena):
    told = []
    found = replay_all(
        arena,
        robot="made up",
        tracks=TRACKS,
        selectors=("random", "best-first", "rehearsed", "oracle"),
        processes=1,
        on_progress=told.append,
    )
    assert told[-1] == 1
    assert told == sorted(told)
    return found


def same(first, second):
    return all(np.array_equal(value, getattr(second, name)) for name, value in vars(first).items())


def test_the_shape_of_the_results(results):
    assert len(results.runs) == 4 * len(TRACKS)
    for runs in results.runs.values():
        assert (
            runs.ratios.shape == runs.falls.shape == runs.recommended.shape == (len(DAMAGES), SEEDS, TRIALS)
        )
        assert runs.stops.shape == (len(DAMAGES), SEEDS)
        assert ((runs.stops >= 1) & (runs.stops <= TRIALS)).all()


def test_the_oracle_is_right_at_once(results):
    for track in results.tracks:
        assert (results.runs[track.name, "oracle"].ratios == 1).all()


def test_selectors_without_a_library_run_once_for_the_same_robots(results):
    for name in ("random", "best-first", "oracle"):
        assert results.runs["T0", name] is results.runs["T3", name] is results.runs["T2", name]
    assert not same(results.runs["T0", "best-first"], results.runs["T1", "best-first"])
    assert results.runs["T0", "rehearsed"] is not results.runs["T3", "rehearsed"]


def test_a_library_that_holds_the_damage_helps(results):
    with_it, without = (results.runs[name, "rehearsed"].ratios[..., 2].mean() for name in ("T2", "T0"))
    assert with_it > 0.9
    assert with_it > without + 0.1


def test_ratios_are_those_of_what_was_recommended(arena, results):
    runs = results.runs["T1", "random"]
    for index, case in enumerate(arena.worlds[True].cases):
        expected = case.scores[runs.recommended[index]] / case.scores.max()
        np.testing.assert_allclose(runs.ratios[index], expected)


def test_luck_is_the_same_for_all_selectors_and_differs_between_damages(arena):
    track, seen = TRACKS[0], []
    noisy = replace(arena, noise=Noise(0.5, 0.0))
    for name in ("best-first", "map-bo"):
        seen.append(recover_from(noisy, Job(track, name, 0)))
    assert (seen[0].recommended[..., 0] == seen[1].recommended[..., 0]).all()  # both begin with the best
    again = recover_from(noisy, Job(track, "best-first", 0))
    assert same(seen[0], again)


def test_processes_change_nothing(arena, results):
    tracks = find_tracks(["T0", "T2"])
    found = replay_all(arena, robot="made up", tracks=tracks, selectors=("random", "rehearsed"), processes=2)
    for (track, name), runs in found.runs.items():
        assert same(runs, results.runs[track, name])


def test_what_has_to_run():
    groups = groups_of(TRACKS, ("random", "rehearsed"))
    assert [(track.name, name) for track, name in groups] == [
        *(("T0", "random"), ("T0", "rehearsed"), ("T1", "random")),
        *((track.name, "rehearsed") for track in TRACKS[1:]),
    ]


def test_selectors_by_name():
    assert find_selectors(["random", "oracle"]) == ("random", "oracle")
    assert "oracle" not in find_selectors(None)
    assert "rehearsed" in find_selectors(None)
    with pytest.raises(UnknownNameError, match="unknown selector 'magic'"):
        find_selectors(["magic"])


def test_an_estimate_grows_with_the_work(arena):
    work = {"tracks": TRACKS, "selectors": ("random",), "trials": 5, "processes": 1}
    seconds = [
        replay_seconds(arena.prior, arena.rehearsed, **work, damages=damages, seeds=10)
        for damages in (1, 10_000)
    ]
    assert 0 < seconds[0] < seconds[1]
