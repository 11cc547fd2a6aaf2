"""`surefoot demo hexapod` as a user types it, and the repertoire that comes along."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapt.rehearsal.storage import read_table
from repertoire.evaluation.evaluator import Evaluator
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.errors import InvalidFileError
from surefoot import shipped
from surefoot.commands import demo
from surefoot.shipped import included, recovery_folder, repertoire_path, result_files
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repertoire with its rehearsal in the place of the included ones."""
    folder = tmp_path / "data"
    folder.mkdir()
    repertoire = small_repertoire()
    for robot in demo.INCLUDED:
        write_repertoire(folder / f"{robot}.h5", repertoire)
        save_rehearsal(
            folder / f"{robot}-rehearsal.h5", repertoire, ["healthy", "front_left:lost"], episodes=1
        )
    monkeypatch.setattr(shipped, "DATA", folder)
    for robot, settings in demo.INCLUDED.items():
        short = replace(
            settings, damage="front_left:lost", thinking=60, refinement=150, trials=3, seconds=0.3
        )
        monkeypatch.setitem(demo.INCLUDED, robot, short)
    return folder


def test_the_demo_breaks_diagnoses_and_recovers(run, small: Path, tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "out"
    code, printed, err = run("demo", "hexapod", "--out", out)
    assert code == 0, err
    made = {path.name for path in out.iterdir()}
    videos = {"1_healthy.mp4", "2_damaged_old_gait.mp4", "3_damaged_new_gait.mp4"}
    assert made == {"recovery.h5", "recovery.json", "recovery.png"} | videos
    record = json.loads((out / "recovery.json").read_text())
    assert (record["selector"], record["damage"]) == ("self-model", "front_left:lost")
    assert "5 gaits. 2. Each was rehearsed in 1 episodes under each of 2 conditions" in printed
    assert re.search(r"trial 1 cell .* (front_left:lost|healthy) \d\.\d\d", printed)
    assert re.search(r"diagnosis: .* \d\.\d\d; it was front_left:lost", printed)
    monkeypatch.setattr(demo, "_film", lambda *_: None)
    assert run("demo", "hexapod", "--out", out, "--damage", "all:weak@0.5")[0] == 0  # it replaces its own
    assert json.loads((out / "recovery.json").read_text())["damage"] == "all:weak@0.5"


@pytest.mark.slow
def test_the_ant_of_the_demo_relearns(run, small: Path, tmp_path: Path) -> None:
    code, _, err = run("demo", "ant", "--out", tmp_path / "out")
    assert code == 0, err
    record = json.loads((tmp_path / "out" / "recovery.json").read_text())
    assert record["refined"], "what the first trial showed is explained"
    assert all(gait["score"] > gait["before"] for gait in record["refined"])
    assert len(list((tmp_path / "out").glob("*.mp4"))) == 3


def test_bad_input_ends_in_one_sentence(run, small: Path, tmp_path: Path) -> None:
    cases = [
        (["walker"], "unknown robot to demonstrate 'walker'; available: ant, hexapod"),
        (["hexapod", "--evaluations", 9], "--evaluations and --overwrite are for training"),
        (["hexapod", "--overwrite"], "--evaluations and --overwrite are for training"),
        (["hexapod", "--damage", "tail:lost"], "'tail'"),
        (["--damage", "tail:lost"], "'tail'"),
        (["--damage", ""], "damage"),
    ]
    for arguments, message in cases:
        code, _, err = run("demo", *arguments, "--out", tmp_path / "out")
        assert (code, message in err) == (2, True), f"{arguments}: exit {code}, {err!r}"
        assert err.count("\n") == 1, f"{arguments}: more than one line: {err!r}"
    assert not (tmp_path / "out").exists()


def test_what_is_shipped_is_whole_and_small_and_walks() -> None:
    for robot, shortest in {"ant": 20.0, "hexapod": 1.5, "quadruped": 4.0}.items():
        file = repertoire_path(robot)
        repertoire = read_repertoire(file)
        assert repertoire.robot.name == robot
        assert repertoire.elites.objectives.min() >= repertoire.settings.min_objective
        evaluator = Evaluator(repertoire, {"intact": repertoire.robot})
        best = np.argmax(repertoire.elites.objectives)
        walks = evaluator.run(np.full(4, best), np.arange(4))
        assert walks.distances.min() > shortest
        assert not walks.fell.any()
        assert read_table(RunFiles(file).rehearsal, repertoire).conditions[0] == "healthy"
        assert file.stat().st_size + RunFiles(file).rehearsal.stat().st_size < 10_000_000
    assert included() == ["ant", "hexapod", "quadruped"]


def test_the_python_of_the_docs(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "tutorials" / "recover.md").read_text()
    from_a_file, on_a_robot = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for old, new in (("left_front", "front_left"),):
        assert old in from_a_file
        from_a_file = from_a_file.replace(old, new)
    tried = []

    def walk(solution):
        tried.append(solution)
        return 1.0, len(tried) == 2, []

    names = {"walk": walk}
    exec(from_a_file, names)
    assert "Performance(objective=" in capsys.readouterr().out
    exec(on_a_robot, names)
    assert any((names["best"] == solution).all() for solution in tried)


def test_names_folders_and_files_lead_to_repertoires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert repertoire_path("hexapod") == shipped.DATA / "hexapod.h5"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "repertoire.h5").touch()
    assert repertoire_path("run") == Path("run/repertoire.h5")
    assert repertoire_path("missing/gaits.h5") == Path("missing/gaits.h5")  # reading it says what is wrong
    with pytest.raises(InvalidFileError, match="an included repertoire; included: ant, hexapod"):
        repertoire_path("octopod")
    assert result_files(repertoire_path("hexapod")).repertoire == Path("hexapod.h5")
    assert result_files(Path("runs/a.h5")).repertoire == Path("runs/a.h5")
    assert recovery_folder(repertoire_path("hexapod")) == Path("hexapod-recovery")
    assert recovery_folder(Path("runs/a.h5")) == Path("runs")
