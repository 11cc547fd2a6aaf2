"""Studies of missions: what is measured off events, run, kept and reported."""

import re
from pathlib import Path

import numpy as np
import pytest

from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from adapt.mission.log import Event
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InvalidValueError
from robots.pose import Pose
from suites.markdown import NOTHING, format_interval, format_share
from suites.mission import suite as suite_module
from suites.mission.report import MissionRecord, measured, runs_table, sections
from suites.mission.suite import MissionSuite
from suites.requests import MissionStudy
from suites.study import Study, run_trial
from tests.adapt.mission.small import small_hexapod


@pytest.fixture(scope="module")
def repertoire():
    return small_hexapod()[0]


def walked(speeds: dict[int, float]) -> list[list[float]]:
    """A path straight ahead: a place every second, with other speeds from some seconds on."""
    places, x, speed = [], 0.0, 0.0
    for second in range(121):
        places.append([float(second), x, 0.0, 0.0])
        speed = speeds.get(second, speed)
        x += speed
    return places


def test_what_is_measured_off_the_events_of_a_mission() -> None:
    path = walked({0: 0.4, 4: 0.0, 20: 0.3})
    events = [
        Event(0.0, "start", "", Pose()),
        Event(2.0, "alarm", "", Pose(0.8)),
        Event(5.5, "fall", "", Pose(1.6)),
        Event(7.0, "trial", "", Pose(1.6)),
        Event(9.0, "thought", "", Pose(1.6), {"seconds": 2.0}),
        Event(40.0, "fall", "", Pose(7.6)),
        Event(120.0, "walk", "", Pose(path[-1][1]), {"path": path}),
    ]
    found = measured(events, 4.0)
    assert (found["early"], found["delay"], found["falls"], found["alarms"]) == (1, 1.5, 2, 0)
    assert (found["trials"], found["thinking"], found["segments"]) == (1, 2.0, 1)
    assert found["distance"] == pytest.approx(1.6 + 100 * 0.3)
    assert found["regained"] == pytest.approx(16 - 0.5, abs=0.51)  # a window that holds nine tenths of it
    healthy = measured([events[0], events[1], events[-1]], float("inf"))
    assert (healthy["delay"], healthy["early"], healthy["regained"]) == (None, 1, None)


def suite_of(repertoire, *damages: Damage, **asked) -> MissionSuite:
    """A study of goals, unless asked for something else, with one mission each."""
    request = MissionStudy(**{"tasks": ("goal",), "seeds": 1} | asked)
    return MissionSuite(repertoire=repertoire, damages=damages or None, request=request)


def test_a_plan_compares_methods_on_the_same_seeds(repertoire) -> None:
    suite = suite_of(repertoire, tasks=("goal", "distance"), seeds=2)
    plan = suite.plan()
    keys = [trial.key for trial in plan]
    assert len(set(keys)) == len(keys)
    assert {trial.method for trial in plan if not trial.damage.singles} == {"mission"}
    assert not [trial for trial in plan if trial.gap and trial.method == "resets"]
    damages = {str(trial.damage) for trial in plan}
    assert len(damages) == 1 + 6 + 6 + 15
    seeds = {suite.trial_seed(key) for key in keys if key[0].endswith("-004") and key[2] == 1}
    assert len(seeds) == 1
    assert len({suite.trial_seed(key) for key in keys}) == 2 * (1 + 6 + 6 + 15)


def test_a_goal_is_reached_within_the_distance_that_is_asked_for(repertoire) -> None:
    for within, least in ((0.9, 0.0), (0.5, 1.0)):
        suite = suite_of(repertoire, worlds=("nominal",), goal=1.0, within=within)
        found = suite.run(suite.plan()[0], Path(), lambda _: None)
        assert found.reached
        assert found.seconds > least
    with pytest.raises(InvalidValueError):
        suite_of(repertoire, goal=1.0, within=1.5).check()


@pytest.mark.slow
def test_missions_run_and_are_reported(repertoire, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(suite_module, "TASKS", {"distance": (7.0, ("old", "oracle", "resets"))})
    lost = parse_damage("left_rear:lost", repertoire.robot)
    suite = suite_of(repertoire, lost, tasks=("distance",))
    study = Study(suite, tmp_path / "study")
    for trial in study.trials:
        run_trial(suite, study.folder, trial, lambda _: None)
    found = {one.key[:2]: one for one in study.results()}
    assert len(found) == 3 + 2
    told, old = (found["distance-001", method] for method in ("oracle", "old"))
    assert (told.trials, told.falls) == (0, 0)
    assert old.alarms > 0
    assert found["distance-001", "resets"].trials == 3
    assert found["distance-gap-001", "oracle"].distance != told.distance
    report = study.report(study.results())[1].read_text()
    assert "| nominal | lost | oracle | 1 |" in report


def record(case: str, damage: str, seconds: float, reached: bool) -> MissionRecord:
    known = {"method": "mission", "number": 0, "seed": 1, "distance": 5.0}
    told = {"reached": reached, "delay": None if damage == "healthy" else 1.0}
    return MissionRecord(case=case, damage=damage, seconds=seconds, **known, **told)


def test_a_healthy_goal_that_is_not_reached_takes_infinitely_long() -> None:
    results = [
        record("goal-000", "healthy", 90.0, False),
        record("goal-001", "left_front:lost", 24.0, True),
    ]
    text = "\n".join(sections("hexapod", "At 5 m", runs_table(results)))
    (row,) = [line for line in text.splitlines() if "| lost |" in line]
    assert "| 0.0 |" in row


def test_goals_are_compared_with_the_healthy_robot_s(repertoire, tmp_path: Path) -> None:
    damaged = [
        record("goal-001", "left_front:lost", 24.0, True),
        record("goal-002", "left_rear:lost", 30.0, True),
        record("goal-003", "right_rear:lost", 90.0, False),
    ]
    results = [record("goal-000", "healthy", 12.0, True), *damaged, *damaged]
    assert list(runs_table(results)["kind"]) == ["healthy", *["lost"] * 6]
    csv, report = suite_of(repertoire).report(results, tmp_path)
    assert len(csv.read_text().splitlines()) == 8
    (row,) = [line for line in report.read_text().splitlines() if "| lost |" in line]
    assert "67% (30% to 90%)" in row
    assert "| 30.0 (24.0 to ∞) | 2.5 |" in row


def test_intervals() -> None:
    assert format_share(95, 100) == "95% (89% to 98%)"  # Wilson 1927
    assert format_interval(np.array([]), np.mean) == NOTHING
    assert format_interval(np.full(9, 2.0), np.mean) == "2.0", (
        "nothing varied, so nobody knows how much it may"
    )
    assert format_interval(np.arange(5.0), np.mean) == "2.0", "too few"
    low, high = re.fullmatch(r"2\.5 \((.*) to (.*)\)", format_interval(np.arange(6.0), np.mean)).groups()
    assert (float(low), float(high)) == pytest.approx((1.2, 3.8), abs=0.25)


def test_the_command_plans_a_study(repertoire, works, tmp_path: Path) -> None:
    file = tmp_path / "gaits.h5"
    write_repertoire(file, repertoire)
    out = works(
        "suite", "mission", file, "--dry-run", "--tasks", "goal", "--seeds", 1, "--out", tmp_path / "study"
    )
    assert "the study has 110 trials" in out
