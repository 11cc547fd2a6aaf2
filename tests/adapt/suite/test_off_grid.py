"""Random faults, and recoveries from them that are simulated: drawn by a seed, resumed, reported."""

import json
from pathlib import Path

import pandas as pd
import pytest

from adapt.damage.library import family
from adapt.damage.text import parse_damage
from adapt.suite.off_grid import (
    OFF_GRID_TRACKS,
    OffGridSettings,
    OffGridStudy,
    find_off_grid_track,
    lost_legs,
    off_grid_report,
    random_faults,
)
from repertoire.storage.repertoires import write_repertoire
from robots.catalogue import robot_names
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.robot import load_robot
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
    faults = [str(fault) for fault in lost_legs(load_robot("hexapod"), 10, seed=4)]
    assert [text.count("lost") for text in faults] == [2, 3] * 5
    assert len(set(faults)) == 10
    assert all(family(text) == {"lost", "pair"} for text in faults)
    with pytest.raises(InvalidValueError, match="the ant can lose legs in 6 such ways, not in 7"):
        lost_legs(load_robot("ant"), 7, seed=4)


def study(folder: Path, **settings: object) -> OffGridStudy:
    few = {"faults": 2, "trials": 2, "think_episodes": 30, "selectors": ("self-model", "map-bo"), "seed": 2}
    return OffGridStudy(small_repertoire(), None, OffGridSettings(**few | settings), folder, threads=1)


@pytest.mark.parametrize("track", [track.name for track in OFF_GRID_TRACKS])
def test_a_study_is_resumed_and_reported(tmp_path: Path, track: str) -> None:
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
    with pytest.raises(InvalidValueError, match="holds another study"):
        study(tmp_path, track=track, trials=3)
    (tmp_path / "fault-000.json").write_text((tmp_path / "fault-001.json").read_text())
    with pytest.raises(InvalidFileError, match=r"fault-000.json holds recoveries from .*, not from "):
        study(tmp_path, track=track).run()
    (tmp_path / "fault-000.json").write_text("[")
    with pytest.raises(InvalidFileError, match=r"fault-000.json: it is not valid JSON"):
        study(tmp_path, track=track).run()


def test_only_binding_faults_count() -> None:
    rows = [
        {"selector": "a", "oracle": 1.0, "rr_0": rr_0, "rr_1": 0.2, "rr_5": rr_5, "stop": 2}
        | {"rr_stop": 0.5, "falls": 1, "seconds": 3.0}
        for rr_0, rr_5 in ((0.1, 0.95), (0.5, 0.85), (0.95, 0.0), (0.3, 1.0), (0.3, 0.91))
    ]
    lines = off_grid_report(pd.DataFrame(rows)).splitlines()
    assert lines[0].startswith("| selector | faults | RR@1 | RR@5 | solved@5 |")
    assert lines[2] == "| a | 4 | 0.20 | 0.93 | 0.75 | 2.00 | 0.50 | 1.00 | 3.00 |"
    with pytest.raises(UnknownNameError, match="unknown track 'T5'; available: T4, T4-left-out"):
        find_off_grid_track("T5")


def test_the_command(run, tmp_path: Path) -> None:
    write_repertoire(tmp_path / "gaits.h5", small_repertoire())
    options = [
        "--faults",
        1,
        "--trials",
        1,
        "--think-episodes",
        20,
        "--threads",
        1,
        "--out",
        tmp_path / "out",
    ]
    code, out, err = run("suite", "off-grid", tmp_path / "gaits.h5", *options, "--selectors", "self-model")
    assert (code, err) == (0, "")
    assert out.startswith("fault 1 of 1: ")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "report.md",
        "recoveries.csv",
        "fault-000.json",
    }
    code, _, err = run("suite", "off-grid", tmp_path / "gaits.h5", *options, "--track", "T9")
    assert code == 2
    assert "unknown track 'T9'" in err
