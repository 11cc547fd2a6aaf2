"""Random faults, and recoveries from them that are simulated: drawn by a seed, resumed, reported."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from adapt.damage import HEALTHY
from adapt.damage.text import damage_from, parse_damage
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.selectors.selector import Context, Selector
from repertoire.storage.repertoires import write_repertoire
from robots.catalogue import robot_names
from robots.errors import InUseError, InvalidFileError, InvalidValueError
from robots.robot import load_robot
from suites.recovery import simulated_study
from suites.recovery.cases import SIMULATED_TRACKS, find_tracks
from suites.recovery.faults import draw_faults, lost_legs, random_faults
from suites.recovery.simulated_report import simulated_tables
from suites.recovery.simulated_study import SimulatedSettings, SimulatedStudy
from tests.adapt.rehearsal.small import small_repertoire


@pytest.mark.parametrize("name", robot_names())
def test_random_faults(name: str) -> None:
    robot = load_robot(name)
    faults = [str(fault) for fault in random_faults(robot, 20, seed=4)]
    assert faults == [str(fault) for fault in random_faults(robot, 20, seed=4)]
    assert faults[:10] == [str(fault) for fault in random_faults(robot, 10, seed=4)]
    assert len(set(faults) & {str(fault) for fault in random_faults(robot, 20, seed=40)}) < 5
    assert len(set(faults)) == 20
    assert [text.count("+") for text in faults] == [0, 1] * 10
    for text in faults:
        parse_damage(text, robot).apply(robot)


def test_lost_legs() -> None:
    faults = [str(fault) for fault in lost_legs(load_robot("hexapod"), seed=4)]
    assert [text.count("lost") for text in faults] == [2, 3] * 15 + [3] * 5
    assert len(set(faults)) == 35
    assert all(damage_from(text).families == {"lost", "pair"} for text in faults)
    assert len(lost_legs(load_robot("ant"), seed=4)) == 6


def study(folder: Path, **settings: object) -> SimulatedStudy:
    few = {"faults": 2, "trials": 2, "think_episodes": 30, "selectors": ("self-model", "map-bo"), "seed": 2}
    repertoire = small_repertoire()
    with rehearsal(repertoire, [], episodes=1, seed=1, threads=1) as evaluation:
        evaluation.run()
        library = rehearsed_table(evaluation)
    return SimulatedStudy(repertoire, library, SimulatedSettings(**few | settings), folder, threads=1)


@pytest.mark.parametrize("track", ["T0", "T1", "T2", "T3-pairs", "T4", "T4-left-out", "T4-gap"])
def test_a_study_is_resumed_and_reported(tmp_path: Path, monkeypatch, track: str) -> None:
    monkeypatch.setattr(simulated_study, "BINDING", math.inf)
    begun: list[int] = []
    found = study(tmp_path, track=track).run(lambda number, _: begun.append(number))
    assert begun == [0, 1]
    assert list(found["selector"]) == ["self-model", "map-bo"] * 2
    assert found[["rr_0", "rr_1", "rr_2"]].notna().all().all()
    assert (found["seconds"] > 0).tolist() == [True, False] * 2
    (tmp_path / "fault-001.json").unlink()
    again = study(tmp_path, track=track).run(lambda number, _: begun.append(number))
    assert begun == [0, 1, 1]
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), found.drop(columns="seconds"))
    assert json.loads((tmp_path / "study.json").read_text())["track"] == track
    assert simulated_tables(found).startswith("2 faults, of which 2 are binding.")
    with pytest.raises(InvalidValueError, match="holds another study"):
        study(tmp_path, track=track, trials=3)
    (tmp_path / "fault-000.json").write_text((tmp_path / "fault-001.json").read_text())
    with pytest.raises(InvalidFileError, match=r"fault-000.json holds recoveries from .*, not from "):
        study(tmp_path, track=track).run()
    (tmp_path / "fault-000.json").write_text("[")
    with pytest.raises(InvalidFileError, match=r"fault-000.json: it is not valid JSON"):
        study(tmp_path, track=track).run()


def test_one_process_at_a_time_works_on_a_study(tmp_path: Path) -> None:
    def intrude(number: int, _: str) -> None:
        study(tmp_path).run()

    with pytest.raises(InUseError, match="is in use by process"):
        study(tmp_path).run(intrude)
    assert not list(tmp_path.glob("fault-*.json"))


def test_nobody_recovers_from_what_is_not_binding(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(simulated_study, "BINDING", -math.inf)
    found = study(tmp_path).run()
    assert list(found.columns) == ["damage", "oracle", "rr_0"]
    assert simulated_tables(found) == "2 faults, of which 0 are binding."


def test_the_library_holds_what_the_track_says(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(simulated_study, "BINDING", math.inf)
    given: list[tuple[str, ...]] = []
    start = simulated_study.make_selector

    def make_selector(name: str, context: Context) -> Selector:
        given.append(context.table.conditions)
        return start(name, context)

    monkeypatch.setattr(simulated_study, "make_selector", make_selector)
    (truth, *_) = study(tmp_path / "T2", track="T2", selectors=("self-model",)).run()["damage"]
    study(tmp_path / "T0", track="T0", selectors=("self-model",)).run()
    assert given[0] == (HEALTHY, truth)
    assert given[2] == (HEALTHY,)


def test_random_faults_are_the_same_however_many() -> None:
    robot, (track,) = load_robot("hexapod"), find_tracks(["T4"], among=SIMULATED_TRACKS)
    assert draw_faults(track, robot, None, seed=5)[:3] == draw_faults(track, robot, 3, seed=5)
    (listed,) = find_tracks(["T3"])
    assert len(draw_faults(listed, robot, None, seed=5)) == 24
    with pytest.raises(InvalidValueError, match="there are 24 faults of track T3 for the hexapod, not 25"):
        draw_faults(listed, robot, 25, seed=5)


def test_a_report_by_selector_and_family() -> None:
    rows: list[dict[str, object]] = [
        {"damage": damage, "selector": name, "oracle": 1.0, "rr_0": 0.1, "stop": 2}
        | {f"rr_{trial}": ratio for trial in range(1, 6)}
        | {"falls_10": 1, "seconds": 3.0}
        for damage, ratios in (
            ("front_left:lost", (0.95, 0.5)),
            ("front_left:dead", (0.91, 0.92)),
            ("front_left:short@0.5", (0.85, 0.2)),
            ("right_rear:short@0.5", (0.87, 0.8)),
        )
        for name, ratio in zip(("self-model", "rehearsed"), ratios, strict=True)
    ]
    rows.append({"damage": "all:weak@0.9", "oracle": 1.0, "rr_0": 0.95})
    lines = simulated_tables(pd.DataFrame(rows)).splitlines()
    assert lines[0] == "5 faults, of which 4 are binding."
    assert lines[2] == "|  | self-model | rehearsed |"
    assert "| RR@5 | 0.89 [0.85, 0.95] | 0.65 [0.20, 0.92] |" in lines
    assert any(line.startswith("| solved@5 | 0.50 [") for line in lines)
    assert "| seconds of thinking a trial | 3.0 | 3.0 |" in lines
    assert "| family | faults | self-model RR@5 | rehearsed RR@5 | RR@5: self-model - rehearsed |" in lines
    assert "| dead | 1 | 0.91 | 0.92 | -0.01 |" in lines
    reach = 12.706 * 0.29  # Student's t with one degree of freedom, half the range of 0.65 and 0.07
    assert f"| short | 2 | 0.86 | 0.50 | +0.36 [{0.36 - reach:+.2f}, {0.36 + reach:+.2f}] |" in lines


def test_the_command(run, tmp_path: Path) -> None:
    write_repertoire(tmp_path / "gaits.h5", small_repertoire())
    few = ["--faults", 1, "--trials", 1, "--think-episodes", 20, "--threads", 1, "--out", tmp_path / "out"]
    options = [*few, "--selectors", "self-model"]
    code, out, err = run(
        "suite", "recovery-simulated", tmp_path / "gaits.h5", *options, "--selectors", "self-model"
    )
    assert (code, err) == (0, "")
    assert out.startswith("fault 1 of 1: ")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "report.md",
        "recoveries.csv",
        "fault-000.json",
    }
    report = (tmp_path / "out" / "report.md").read_text()
    assert report.startswith("# T4: ")
    assert "Trials of each recovery: 1; seed 5. Selectors that think simulate for 20 episodes after" in report
    assert "1 faults, of which" in out
    assert "1 faults, of which" in report
    code, _, err = run("suite", "recovery-simulated", tmp_path / "gaits.h5", *options, "--track", "T9")
    assert code == 2
    assert "unknown track 'T9'" in err
