"""A mission's log is played back: what the page shows is where the robot was."""

import base64
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from click.testing import CliRunner

import surefoot
from adapt.requests import RecoveryRequest
from repertoire.storage.repertoires import write_repertoire
from surefoot.commands.mission import mission
from surefoot.explorer.answers import Answers, Request
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.export import export_page
from surefoot.explorer.mission import SCENE
from tests.surefoot.explorer.test_explorer import numbers

CHANGES = ["left_front:lost@1", "repaired@2"]
ASKED = {"goals": [(0.4, 0.0), (2.0, 0.0)], "changes": CHANGES, "seconds": 4.0}
THINKING = {"think_episodes": 10, "refine": 0}


def short_mission(folder: Path) -> Path:
    """Write a repertoire with some good gaits of the Hexapod, and next to it the log of a mission."""
    whole, path = surefoot.load("hexapod"), folder / "few.h5"
    rows = np.sort(np.argsort(-whole.elites.objectives)[:40])
    write_repertoire(path, replace(whole, elites=whole.elites.take(rows), specialists=None, spread=None))
    command = [str(path), "--goal", "0.4,0", "--goal", "2,0", "--seconds", "4", "--think-episodes", "10"]
    breaks = [word for change in CHANGES for word in ("--break", change)]
    log = str(path.with_name("log.jsonl"))
    done = CliRunner().invoke(mission, [*command, *breaks, "--refine", "0", "--log", log])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return short_mission(tmp_path_factory.mktemp("mission"))


@pytest.fixture(scope="module")
def explorer(file: Path) -> Explorer:
    return Explorer(
        file, str(file), RecoveryRequest(trials=2, selector="map-bo"), log=file.with_name("log.jsonl")
    )


@pytest.fixture(scope="module")
def played(explorer: Explorer) -> list[dict]:
    messages: list[dict] = []
    Answers(explorer, messages.append).answer(Request(do="mission"))
    return messages


def shown_poses(played: list[dict]) -> np.ndarray:
    """Poses of all bodies from moment to moment, (t, bodies, 7)."""
    scene, _, *parts, _ = played
    poses = np.concatenate([numbers(part["poses"]) for part in parts])
    return poses.reshape(-1, scene["bodies"], 7)


def test_the_page_shows_where_all_bodies_were(file: Path, played: list[dict]) -> None:
    seen: list[tuple[str, np.ndarray, np.ndarray]] = []

    def note(world) -> None:
        if world.steps % 2 == 0:
            data = world.posed_data()
            posed = mujoco.MjData(world.robot.model)
            posed.qpos[:] = data.qpos.astype(np.float32)  # as the log has them
            mujoco.mj_kinematics(world.robot.model, posed)
            seen.append((world.damage, posed.xpos.copy(), world.touching.copy()))

    for _ in surefoot.Mission(file, **ASKED, **THINKING, on_step=note):
        pass
    scene, walk, *parts, end = played
    assert (scene["type"], scene["damage"], end["type"]) == ("scene", SCENE, "walked")
    poses, rows = shown_poses(played), sum(part["rows"] for part in parts)
    touching = np.concatenate([numbers(part["touching"], "u1") for part in parts]).reshape(rows, -1)
    assert walk["duration"] == pytest.approx(rows * walk["seconds"])
    assert len(seen) == rows > 50
    firsts = {"healthy": 0, "left_front:lost": surefoot.load("hexapod").robot.model.nbody}
    assert {damage for damage, _, _ in seen} == firsts.keys()
    for row, (damage, places, feet) in enumerate(seen):
        here = slice(firsts[damage], firsts[damage] + len(places))
        np.testing.assert_array_equal(poses[row, here, :3], places.astype(np.float32))
        np.testing.assert_array_equal(touching[row], feet)
        others = np.delete(poses[row], np.r_[here, scene["torso"]], axis=0)
        changes = row + 1 < rows and seen[row + 1][0] != damage  # then the next robot is there already
        assert (others[:, 2] == -1e4).all() != changes


def test_where_a_log_has_no_poses_for_a_while_the_robot_stands(file, played, tmp_path):
    def later(line: str) -> str:
        record = json.loads(line)
        if record.get("kind") != "poses":
            return line
        times = numbers(record["times"])
        times = times + np.where(times > 3.02, np.float32(5), np.float32(0))
        return json.dumps({**record, "times": base64.b64encode(times.tobytes()).decode()})

    again: list[dict] = []
    log = tmp_path / "log.jsonl"
    log.write_text(
        "".join(later(line) + "\n" for line in file.with_name("log.jsonl").read_text().splitlines())
    )
    explorer = Explorer(file, str(file), log=log)
    Answers(explorer, again.append).answer(Request(do="mission"))
    poses, stood = shown_poses(played), round(5 / played[1]["seconds"])
    expected = [poses[:75], np.repeat(poses[74:75], stood, axis=0), poses[75:]]
    np.testing.assert_array_equal(shown_poses(again), np.concatenate(expected))
    assert again[1]["duration"] == pytest.approx(played[1]["duration"] + 5)


def test_all_robots_of_a_mission_are_one_scene(explorer: Explorer, played: list[dict]) -> None:
    scene = played[0]
    whole, lame = (explorer.robot(damage).model for damage in ("", "left_front:lost"))
    assert scene["bodies"] == whole.nbody + lame.nbody + 1 == scene["torso"] + 1
    assert sum(geom["kind"] == "plane" for geom in scene["geoms"]) == 1
    assert {geom["mesh"] for geom in scene["geoms"]} == {None, *scene["meshes"]}
    assert len(scene["meshes"]) == whole.nmesh  # the same mesh is sent once
    last = [geom for geom in scene["geoms"] if geom["body"] >= whole.nbody]
    assert "left_front" not in {geom["leg"] for geom in last}


def test_the_page_tells_what_happened_in_its_order(explorer: Explorer, played: list[dict]) -> None:
    about = explorer.hello()["mission"]
    times = [event["time"] for event in about["events"]]
    assert times == sorted(times)
    change = next(event for event in about["events"] if event["kind"] == "change")
    assert (change["time"], change["words"][:15]) == (1.0, "left_front:lost")
    assert about["map"].count('data-time="1.000"') >= 1
    assert played[1]["curve"] == "distance to the goal"
    options = shlex.split(about["command"])
    assert options[:2] == ["surefoot", "mission"]
    assert [options[i + 1] for i, word in enumerate(options) if word == "--break"] == CHANGES
    assert options[options.index("--think-episodes") + 1] == "10"


@pytest.mark.slow
def test_an_exported_page_holds_the_mission(explorer: Explorer, tmp_path: Path) -> None:
    assert export_page(explorer, tmp_path / "page.html") > 5


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [  # a regular expression, what takes its place, and what is said of the log
        (r"(?s).+", "x", "no log of a mission"),
        (r"\Z", 100_000 * "[" + "\n", "no log of a mission"),
        (r'"goals": \[', '"goals": {}, "x": [', "no log of a mission"),
        (r'"time": ', '"time": 1e400, "x": ', "no log of a mission"),
        (r'"path": \[\[', '"path": [["x", "x", ', "no log of a mission"),
        (r".{50}\n\Z", "\n", "not a whole one"),
        (r'"repertoire": "', '"repertoire": "0', "another repertoire"),
        (r'.*"poses".*\n', "", "no poses"),
        (r'"times": "', '"times": "AAAA', "damaged"),
        (r'"times": "[^"]*"', '"times": "AACAfw=="', "damaged"),  # infinity
        (r"left_front:lost", "healthy", "another robot"),
        (r'"damage": "healthy"', '"damage": "tail:lost"', "tail"),
        (r"healthy", lambda found: f"left_front:weak:0.{found.start()}", "at most 3"),
    ],
)
def test_a_bad_log_is_refused_in_a_sentence(file, tmp_path, refused, monkeypatch, old, new, sentence):
    monkeypatch.setattr("surefoot.explorer.mission._MOST_DAMAGES", 3)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(re.sub(old, new, file.with_name("log.jsonl").read_text()))
    refused([((file, "--mission", bad, "--export", tmp_path / "page.html"), sentence)], "explore")
