"""A mission's log has everything decided again: what differs is found, and what is no log is told."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import surefoot
from adapt.mission.events import Event, read_log
from adapt.mission.pose import Pose
from adapt.mission.recording import DepartureError
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InvalidFileError
from surefoot.commands.mission import mission
from surefoot.mission import _Log, replay
from tests.adapt.mission.small import small_hexapod


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """A repertoire, and the lines of the log of a mission in which a leg broke."""
    folder = tmp_path_factory.mktemp("replay")
    file, log = folder / "gaits.h5", folder / "log.jsonl"
    repertoire, _ = small_hexapod()
    some = repertoire.elites.take(np.arange(0, len(repertoire), 5))
    write_repertoire(file, replace(repertoire, elites=some))
    asked = ["--goal", "2,0", "--break", "left_front:lost@1", "--seconds", "9", "--log", str(log)]
    thinks = ["--think-episodes", "20", "--refine", "5", "--cores", "1"]
    done = CliRunner().invoke(mission, [str(file), *asked, *thinks])
    assert done.exit_code == 0, done.output
    return file, [json.loads(line) for line in log.read_text().splitlines()]


def tampered(lines: list[dict], folder: Path, change: object) -> Path:
    """The log after a change to a copy of its lines."""
    lines = json.loads(json.dumps(lines))
    change(lines)
    path = folder / "other.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def find(lines: list[dict], **wanted: object) -> dict:
    return next(line for line in lines if all(line.get(key) == value for key, value in wanted.items()))


def test_everything_is_decided_again(walked: tuple[Path, list[dict]], run, tmp_path: Path) -> None:
    file, lines = walked
    log = tampered(lines, tmp_path, lambda _: None)
    code, out, err = run("mission", file, "--replay", log)
    assert code == 0, err
    kinds = [line["kind"] for line in lines[1:] if "words" in line and line["kind"] != "change"]
    assert {"alarm", "fall"} & set(kinds)
    assert {"trial", "thought"} <= set(kinds)
    assert f"all {len(kinds)} events" in out
    cut = tampered(lines, tmp_path, lambda found: found.__delitem__(slice(len(found) // 2, None)))
    with cut.open("a") as other:
        other.write('{"kind": "walk", "wo')  # the disk was full
    assert "there the log ends" in replay(file, cut)
    rehearsed = tampered(lines, tmp_path, lambda found: found[0].update(rehearsal="gone.h5"))
    with pytest.raises(InvalidFileError, match=r"gone\.h5"):  # the log says which rehearsal to use
        replay(file, rehearsed)


def test_what_was_tampered_with_is_found(walked: tuple[Path, list[dict]], tmp_path: Path) -> None:
    file, lines = walked

    def other_belief(found: list[dict]) -> None:
        find(found, kind="thought")["facts"]["believed"] = {"healthy": 1.0}

    def other_gait(found: list[dict]) -> None:
        find(found, call="drive")["row"] += 1

    def other_place(found: list[dict]) -> None:
        find(found, call="drive")["pose"] = [-1.0, 0.5, 2.0]

    for change, message in (
        (other_belief, "the selector"),
        (other_gait, "the planner chooses gait"),
        (other_place, "planner"),
    ):
        with pytest.raises(DepartureError, match=message):
            replay(file, tampered(lines, tmp_path, change))


def test_what_is_no_log_is_told(walked: tuple[Path, list[dict]], refused, run, tmp_path: Path) -> None:
    file, lines = walked
    words, empty = tmp_path / "words.jsonl", tmp_path / "empty.jsonl"
    words.write_text("no log\n")
    empty.write_text("")
    refused(
        [
            ([file, "--replay", words], "is no log of a mission"),
            ([file, "--replay", empty], "is no log of a mission"),
            ([file, "--replay", file], "not a text file"),
            ([file, "--replay", tmp_path / "none.jsonl"], "none.jsonl"),
            (["hexapod", "--replay", tampered(lines, tmp_path, lambda _: None)], "another repertoire"),
        ],
        "mission",
    )
    for change, message in (
        (lambda found: found[0].pop("seed"), "not a whole one"),
        (lambda found: found[0].update(version=2), "no log of a mission"),
        (lambda found: found[0].update(refine=float("inf")), "no log of a mission"),
        (lambda found: find(found, call="begin").update(sensors=3), "damaged"),
        (lambda found: find(found, call="drive").pop("over"), "damaged"),
        (lambda found: find(found, call="drive").update(trace="AAAA"), "damaged"),
        (lambda found: find(found, call="drive").update(trace="eJwDAAAAAAE="), "damaged"),  # no rows
        (lambda found: find(found, call="drive").update(driving=float("inf")), "no log of a mission"),
        (lambda found: find(found, call="drive").update(clock="nan"), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(fell=3), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(steps=[1e30]), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(distances=[]), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(distances=["a"]), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(distances=[None]), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].update(contacts=[[1, 0]]), "damaged"),
        (lambda found: find(found, call="drive")["episodes"].pop("turned"), "damaged"),
        (lambda found: find(found, call="drive").update(pose=["x"]), "damaged"),
        (lambda found: found.__setitem__(slice(None), [x for x in found if "call" not in x]), "observed"),
    ):
        with pytest.raises(InvalidFileError, match=message):
            replay(file, tampered(lines, tmp_path, change))
    code, out, _ = run(
        "mission",
        file,
        "--replay",
        tampered(lines, tmp_path, lambda found: find(found, call="drive").update(gait=1)),
    )
    assert (code, "departs from the log" in out) == (1, True)


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.symlink_to("/dev/full")
    with pytest.raises(InvalidFileError, match="cannot be written: no space left on device"):
        _Log(log).add(Event(0.0, "start", "It sets off.", Pose()))


def test_a_mission_in_python_writes_a_log_that_can_be_replayed(
    walked: tuple[Path, list[dict]], tmp_path: Path
) -> None:
    file, log, clocks = walked[0], tmp_path / "log.jsonl", []
    ways = {"episodes": np.int64(20), "refinement": 5, "seed": 3}
    mission = surefoot.Mission(
        file, seconds=1.0, log=log, on_step=lambda world: clocks.append(world.clock), **ways
    )
    assert not log.exists()
    assert [event.kind for event in mission][-1] == "end"
    assert clocks[-1] == pytest.approx(1.0)
    asked, _ = read_log(log)
    assert (asked.seconds, asked.think_episodes, asked.refine, asked.seed) == (1.0, 20, 5, 3)
    assert "as they were" in replay(file, log)


def test_a_replay_takes_a_repertoire_too(walked: tuple[Path, list[dict]], tmp_path: Path) -> None:
    file, lines = walked
    assert "as they were" in replay(surefoot.load(file), tampered(lines, tmp_path, lambda _: None))
