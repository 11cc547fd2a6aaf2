"""Studies of missions: what is measured off events, run, kept and reported."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.mission.log import Event
from adapt.mission.pose import Pose
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InUseError, InvalidFileError, InvalidValueError, UnknownNameError
from robots.files.locks import locked
from robots.files.records import validate
from suites import study as study_module
from suites.markdown import NOTHING
from suites.mission import suite as suite_module
from suites.mission.report import interval, runs_table, share, write_report
from suites.mission.results import MissionRecord, measured
from suites.mission.suite import MissionSuite
from suites.records import read_record, write_record
from suites.study import Study, run_claimed
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
    assert found["late"] == pytest.approx(0.3)
    assert found["late_falls"] == 1
    assert found["regained"] == pytest.approx(16 - 0.5, abs=0.51)  # a window that holds nine tenths of it
    healthy = measured([events[0], events[1], events[-1]], float("inf"))
    assert (healthy["delay"], healthy["early"], healthy.get("late")) == (None, 1, None)


def test_a_plan_compares_methods_on_the_same_seeds(repertoire) -> None:
    suite = MissionSuite(repertoire=repertoire, tasks=("goal", "distance"), seeds=2)
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
    with pytest.raises(UnknownNameError, match="swim"):
        replace(suite, tasks=("swim",)).check()


def test_a_goal_is_reached_within_the_distance_that_is_asked_for(repertoire) -> None:
    suite = MissionSuite(repertoire=repertoire, tasks=("goal",), worlds=("nominal",), goal=1.0, seeds=1)
    for within, least in ((0.9, 0.0), (0.5, 1.0)):
        asked = replace(suite, within=within)
        found = asked.run(asked.plan()[0], Path(), lambda _: None)
        assert found.reached
        assert found.seconds > least
    assert asked.identity() != suite.identity()
    with pytest.raises(InvalidValueError, match="a goal 1 m ahead that is reached within"):
        replace(suite, within=1.5).check()


@pytest.mark.slow
def test_missions_run_and_are_reported(repertoire, tmp_path: Path, monkeypatch) -> None:
    tasks = {"watch": (7.0, ("watch",)), "hours": (6.0, ("cycles",)), "distance": (7.0, ("old", "oracle"))}
    monkeypatch.setattr(suite_module, "TASKS", tasks)
    lost = parse_damage("left_rear:lost", repertoire.robot)
    monkeypatch.setattr(suite_module, "benchmark_damages", lambda robot: [lost])
    suite = MissionSuite(repertoire=repertoire, tasks=tuple(tasks), damages=(lost,), seeds=1)
    study = Study(suite, tmp_path / "study")
    for trial in study.trials:
        run_claimed(suite, study.folder, trial, lambda _: None)
    found = {(one.key[0], one.method): one for one in study.results()}
    assert len(found) == 2 * (2 + 1 + 2)
    watched, whole = found["watch-001", "watch"], found["watch-000", "watch"]
    assert 0 < watched.delay < 3
    assert whole.delay is None
    assert watched.distance < whole.distance
    hour, across = found["hours-000", "cycles"], found["hours-gap-000", "cycles"]
    assert (hour.seconds, hour.falls, hour.alarms) == (pytest.approx(6.0), 0, 0)
    assert hour.distance != across.distance
    assert (found["distance-001", "oracle"].trials, found["distance-001", "oracle"].falls) == (0, 0)
    assert found["distance-001", "old"].alarms > 0
    report = study.report(study.results())[1].read_text()
    assert "| nominal | lost | 1 | 100% (21% to 100%) |" in report
    assert "| nominal | lost | oracle | 1 |" in report


def test_results_are_kept_and_nothing_else_is_read(tmp_path: Path) -> None:
    record = MissionRecord(
        case="goal-001",
        method="mission",
        number=0,
        seed=3,
        damage="left_front:lost",
        seconds=20.0,
        distance=5.0,
    )
    path = tmp_path / "mission-00.json"
    write_record(path, record)
    read = partial(read_record, what="mission", parse=partial(validate, MissionRecord))
    assert read(path) == record
    for text in ("[]", "{}", path.read_text().replace("20.0", '"long"')):
        path.write_text(text)
        with pytest.raises(InvalidFileError, match="holds no mission"):
            read(path)


def test_a_result_with_another_damage_under_the_same_number_is_refused(repertoire, tmp_path: Path) -> None:
    lost = {name: parse_damage(f"{name}:lost", repertoire.robot) for name in ("left_rear", "right_rear")}
    ours, others = (
        MissionSuite(repertoire=repertoire, tasks=("goal",), damages=(damage,), seeds=1)
        for damage in lost.values()
    )
    record = MissionRecord(
        case="goal-001", method="mission", number=0, seed=3, damage="left_rear:lost", seconds=20, distance=5
    )
    path = tmp_path / "mission-00.json"
    write_record(path, record)
    assert ours.read(path) == record
    with pytest.raises(InvalidFileError, match="with left_rear:lost, not with right_rear:lost"):
        others.read(path)


def test_reports_of_two_processes_are_not_mixed(repertoire, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(study_module, "_REPORT_PATIENCE", 0.0)
    study = Study(MissionSuite(repertoire=repertoire, tasks=("goal",), seeds=1), tmp_path)
    known = {"case": "goal-000", "method": "mission", "number": 0, "seed": 1, "damage": "healthy"}
    results = [MissionRecord(**known, seconds=9.0, distance=5.0)]
    with locked(tmp_path / "report.md"), pytest.raises(InUseError, match=r"report\.md is in use"):
        study.report(results)
    assert not list(tmp_path.glob("*.csv"))
    assert [path.name for path in study.report(results)] == ["missions.csv", "report.md"]
    with pytest.raises(InvalidValueError, match="no results to report"):
        study.report([])


def test_a_healthy_goal_that_is_not_reached_takes_infinitely_long(tmp_path: Path) -> None:
    known = {"method": "mission", "number": 0, "seed": 1, "distance": 5.0}
    results = [
        MissionRecord(case="goal-000", damage="healthy", seconds=90.0, reached=False, **known),
        MissionRecord(case="goal-001", damage="left_front:lost", seconds=24.0, reached=True, **known),
    ]
    text = write_report("hexapod", 5.0, results, tmp_path)[1].read_text()
    (row,) = [line for line in text.splitlines() if "| lost |" in line]
    assert "| 0.0 |" in row


def test_goals_are_compared_with_the_healthy_robot_s(tmp_path: Path) -> None:
    def record(case: str, damage: str, seconds: float, reached: bool) -> MissionRecord:
        return MissionRecord(
            case=case, method="mission", number=0, seed=1, damage=damage, seconds=seconds, distance=5.0,
            reached=reached, delay=None if damage == "healthy" else 1.0,
        )  # fmt: skip

    damaged = [
        record("goal-001", "left_front:lost", 24.0, True),
        record("goal-002", "left_rear:lost", 30.0, True),
        record("goal-003", "right_rear:lost", 90.0, False),
    ]
    results = [record("goal-000", "healthy", 12.0, True), *damaged, *damaged]
    assert list(runs_table(results)["kind"]) == ["healthy", *["lost"] * 6]
    csv, report = write_report("hexapod", 5.0, results, tmp_path)
    assert len(csv.read_text().splitlines()) == 8
    (row,) = [line for line in report.read_text().splitlines() if "| lost |" in line]
    assert "67% (30% to 90%)" in row
    assert "| 30.0 (24.0 to ∞) | 2.5 |" in row


def test_hexaheal_s_rule_asks_for_half_of_the_speed_without_a_fall(tmp_path: Path) -> None:
    def record(case: str, number: int, damage: str, late: float | None, falls: int = 0) -> MissionRecord:
        return MissionRecord(
            case=f"rule-{case}", method="mission", number=number, seed=1, damage=damage, seconds=44.0,
            distance=17.6, late=late, late_falls=falls,
        )  # fmt: skip

    left = [record("001", number, "left_front:lost", 0.25) for number in range(7)]
    left += [record("001", number, "left_front:lost", 0.1) for number in range(7, 10)]
    right = [record("002", number, "right_front:lost", 0.3, falls=int(number < 4)) for number in range(10)]
    _, report = write_report("hexapod", 5.0, [record("000", 0, "healthy", None), *left, *right], tmp_path)
    assert "| nominal | lost | 20 | 65% (43% to 82%) | 1 of 2 | 0.69 |" in report.read_text()


def test_intervals() -> None:
    assert share(95, 100) == "95% (89% to 98%)"  # Wilson 1927
    assert interval(np.array([]), np.mean) == NOTHING
    assert interval(np.full(9, 2.0), np.mean) == "2.0", "nothing varied, so nobody knows how much it may"
    assert interval(np.arange(5.0), np.mean) == "2.0", "too few"
    low, high = re.fullmatch(r"2\.5 \((.*) to (.*)\)", interval(np.arange(6.0), np.mean)).groups()
    assert (float(low), float(high)) == pytest.approx((1.2, 3.8), abs=0.25)


def test_the_command_plans_a_study(repertoire, run, tmp_path: Path) -> None:
    file = tmp_path / "gaits.h5"
    write_repertoire(file, repertoire)
    code, out, err = run(
        "suite", "mission", file, "--dry-run", "--tasks", "goal", "--seeds", 1, "--out", tmp_path / "study"
    )
    assert code == 0, err
    assert (
        "the study has 110 trials" in out
    )  # 27 damages with two methods, and a healthy robot, in two worlds
