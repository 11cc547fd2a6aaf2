"""Replays of whole benchmarks from tables that were made up."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robots.errors import UnknownNameError
from suites.recovery.cases import TRACKS, find_tracks
from suites.recovery.metrics import by_damage, ratios_of
from suites.recovery.recoveries import ReplayTask, Results, find_selectors, plan_runs, replay_all, replay_task
from suites.recovery.replay import Noise
from tests.suites.recovery.made_recoveries import DAMAGES, cases_of, make_objectives, make_setting, make_table

TRIALS, SEEDS = 6, 3


def made_setting():
    table, other = (make_table(make_objectives(k=40, seed=seed)) for seed in (0, 5))
    cases = {False: cases_of(table), True: cases_of(other)}
    return make_setting(table, cases, trials=TRIALS, seeds=SEEDS)


@pytest.fixture(scope="module")
def setting():
    return made_setting()


@pytest.fixture(scope="module")
def results(setting):
    shares = []
    found = replay_all(
        setting,
        tracks=TRACKS,
        selectors=("random", "best-first", "rehearsed", "oracle"),
        processes=1,
        on_progress=shares.append,
    )
    assert shares[-1] == 1
    assert shares == sorted(shares)
    return Results("made up", TRACKS, {False: (), True: ()}, found)


def runs(results, track, selector):
    (found,) = find_tracks([track])
    return results.of(found, selector)


def test_the_shape_of_the_results(results):
    assert len(results.recoveries) == (3 * 2 + len(TRACKS)) * len(DAMAGES) * SEEDS
    assert results.gaps == [False, True]
    assert results.trials == TRIALS
    assert results.recoveries["stop"].between(1, TRIALS).all()
    assert (results.recoveries["falls"] == 0).all()
    for track in TRACKS:
        for selector in results.selectors:
            found = runs(results, track.name, selector)
            assert by_damage(found, "seed").tolist() == [list(range(SEEDS))] * len(DAMAGES)
            assert found["damage"].unique().tolist() == list(DAMAGES)


def test_the_oracle_is_right_at_once(results):
    for track in results.tracks:
        assert (ratios_of(results.of(track, "oracle")) == 1).all()


def test_selectors_without_a_library_run_once_for_the_same_robots(results):
    for name in ("random", "best-first", "oracle"):
        assert runs(results, "T0", name).equals(runs(results, "T3", name))
    t0, t1 = (ratios_of(runs(results, track, "best-first")) for track in ("T0", "T1"))
    assert (t0 != t1).any()
    assert (
        not runs(results, "T0", "rehearsed").index.intersection(runs(results, "T3", "rehearsed").index).size
    )
    labels = set(results.across(True)["label"])
    assert labels == {"random", "best-first", "oracle", "rehearsed T1", "rehearsed T1-family"}
    plan = plan_runs(find_tracks(["T0", "T1", "T3"]), ("random", "rehearsed"))
    assert [(name, [track.name for track in tracks]) for name, tracks in plan] == [
        *(("random", ["T0", "T3"]), ("rehearsed", ["T0"]), ("rehearsed", ["T3"])),
        *(("random", ["T1"]), ("rehearsed", ["T1"])),
    ]


def test_a_library_that_holds_the_damage_helps(results):
    with_it, without = (runs(results, name, "rehearsed")["rr_3"].mean() for name in ("T2", "T0"))
    assert with_it > 0.9
    assert with_it > without + 0.1


def test_ratios_are_those_of_what_was_recommended(setting, results):
    found = runs(results, "T1", "random")
    for case in setting.cases[True]:
        own = found[found["damage"] == case.damage]
        np.testing.assert_allclose(own[f"rr_{TRIALS}"], case.scores[own["gait"]] / case.scores.max())
        np.testing.assert_allclose(own["retention"], case.scores[own["gait"]] / case.intact)
        assert (own["binding"] == int(case.unadapted < 0.9)).all()


def test_trial_noise_is_the_same_for_all_selectors(setting):
    noisy = replace(setting, noise=Noise(0.5, 0.0), trials=1)
    first, second, again = (
        replay_task(noisy, ReplayTask(TRACKS[:1], name, 0)) for name in ("best-first", "map-bo", "best-first")
    )
    assert [row["gait"] for row in first] == [row["gait"] for row in second]  # both begin with the best
    assert first == again


def test_processes_change_nothing(setting, results):
    tracks = find_tracks(["T0", "T2"])
    selectors = ("random", "rehearsed")
    found = replay_all(setting, tracks=tracks, selectors=selectors, processes=2)
    found = Results("made up", tracks, {False: ()}, found)
    for track in tracks:
        for name in selectors:
            some, all_of_it = (one.of(track, name).drop(columns="track") for one in (found, results))
            assert some.reset_index(drop=True).equals(all_of_it.reset_index(drop=True))


PLUGIN = """
import os, time
from pathlib import Path
from adapt.selectors.baselines import BestFirst
from adapt.selectors.catalogue import register

@register("slow", "takes its time")
class Slow(BestFirst):
    def _choose(self, untried):
        Path(os.environ["STARTED"], str(os.getpid())).touch()
        time.sleep(60)
        return super()._choose(untried)
"""
REPLAYS = """
from robots.plugins import load_plugins
from test_replays import TRACKS, made_setting, replay_all
if __name__ == "__main__":
    load_plugins(["slow.py"])
    replay_all(made_setting(), tracks=TRACKS[:1], selectors=("slow",), processes=2)
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_know_plugins_and_end_with_their_parent(tmp_path, end):
    (tmp_path / "slow.py").write_text(PLUGIN)
    (tmp_path / "run.py").write_text(REPLAYS)
    (started := tmp_path / "started").mkdir()
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parents[2])))
    environment = os.environ | {"PYTHONPATH": path, "STARTED": str(started)}
    with subprocess.Popen(
        [sys.executable, "run.py"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as parent:
        deadline = time.monotonic() + 60
        while len(workers := [path.name for path in started.iterdir()]) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        parent.send_signal(end)
        complaint = parent.communicate(timeout=30)[1]
    assert len(workers) == 2, complaint
    assert complaint.count("Traceback") <= 1  # that of the parent
    deadline = time.monotonic() + 10
    while any(map(runs_still, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(runs_still, workers))


def runs_still(process: str) -> bool:
    """Whether a process exists and is not only waiting to be collected."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_selectors_by_name():
    assert find_selectors(["random", "oracle"]) == ("random", "oracle")
    assert "oracle" not in find_selectors(None)
    assert "rehearsed" in find_selectors(None)
    with pytest.raises(UnknownNameError, match="unknown selector 'magic'"):
        find_selectors(["magic"])
