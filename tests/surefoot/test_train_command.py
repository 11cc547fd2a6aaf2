"""`surefoot train` as a user types it: trained, interrupted, resumed, shown."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import resume_training, start_training
from surefoot.explorer.archive import describe_archive

FEW = "--evaluations 96 --emitters 2 --batch-size 8 --sigma0 0.1 --episode-steps 40"
STEERING = "hexapod --measures forward_speed=-0.5:0.5,turn_rate=-2:2 --reward steering --archive 6,6"
SHORT = "--evaluations 32 --emitters 1 --batch-size 16 --episode-steps 50"


def test_from_training_to_a_picture(tmp_path: Path, works) -> None:
    for seed in (2, 1):
        options = f"--evaluations 600 --emitters 2 --batch-size 30 --seed {seed} --overwrite"
        out = works(f"train maze {options} --out {tmp_path}/a")
    assert "after 600 evaluations" in out
    repertoire = read_repertoire(tmp_path / "a" / FILE_NAME)
    assert (repertoire.problem.name, repertoire.settings.seed) == ("maze", 1)
    out = works(f"show {tmp_path}/a --picture {tmp_path}/a.png --history {tmp_path}/h.png")
    assert f"problem maze, {repertoire.problem.solution_dim} parameters" in out
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_algorithm_controller_and_cells_can_be_chosen(run, works, tmp_path: Path) -> None:
    algorithm = "--algorithm map-elites-line --line-sigma 0.3"
    works(f"train ant --out {tmp_path} {algorithm} --hidden 8,4 --archive 2,3,2,3 {FEW}")
    found = read_repertoire(tmp_path / FILE_NAME)
    assert (found.settings.algorithm, found.settings.search["line_sigma"]) == ("map-elites-line", 0.3)
    assert (found.controller, found.grid) == ("mlp-28-8-4-8", (2, 3, 2, 3))
    assert "map-elites-line, seed 1" in run(f"show {tmp_path}")[1]


def test_a_repertoire_over_speed_and_turn_rate(tmp_path: Path, run, works) -> None:
    works(f"train {STEERING} {SHORT} --out {tmp_path}/a")
    steering = read_repertoire(tmp_path / "a" / FILE_NAME)
    assert steering.robot.description.measures == {"forward_speed": (-0.5, 0.5), "turn_rate": (-2.0, 2.0)}
    assert steering.robot.description.reward.preset == "steering"
    labels = ("forward speed [m/s]", "turn rate [rad/s]")
    assert steering.problem.measure_labels == labels
    assert all(label in describe_archive(steering)["axes"] for label in labels)
    write_repertoire(tmp_path / "again.h5", steering)
    assert fingerprint(read_repertoire(tmp_path / "again.h5")) == fingerprint(steering)
    works(f"recover {tmp_path}/a --damage left_front:dead --selector map-bo --trials 1")
    other = STEERING.replace("--reward steering", "--reward distance")
    works(f"train {other} {SHORT} --out {tmp_path}/b")
    assert run(f"merge {tmp_path}/a {tmp_path}/b --out {tmp_path}/both.h5")[0] == 2, "another task"


def test_a_run_is_resumed(tmp_path: Path, run) -> None:
    with start_training("sphere-9", "sep-cma-mae", out=tmp_path, evaluations=400, seed=1) as training:
        training.step()
        training.save(tmp_path / FILE_NAME)
    assert run(f"train --resume {tmp_path}")[0] == 0
    assert read_repertoire(tmp_path / FILE_NAME).evaluations == 400
    assert "has finished already" in run(f"train --resume {tmp_path}")[1]


def test_an_interrupted_run_is_saved_and_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "surefoot", "train", "sphere-50", "--evaluations", str(10**9)]
    with subprocess.Popen([*command, "--out", tmp_path], stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / FILE_NAME).exists():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        out = process.stdout.read()
    assert process.returncode == 130
    assert f"Stopped and saved. Go on with: surefoot train --resume {tmp_path}" in " ".join(out.split())
    with resume_training(tmp_path) as resumed:
        assert resumed is not None


@pytest.mark.parametrize("state", ["begun", "saved"])
@pytest.mark.parametrize("line", ["sphere-5 --out", "sphere-5 --overwrite --out", "--resume"])
def test_a_run_is_worked_on_by_one_process_from_its_start(run, tmp_path: Path, state: str, line: str) -> None:
    """Also before the first checkpoint, where the folder is still empty."""
    path = tmp_path / "run" / FILE_NAME
    with start_training("sphere-5", "cma-mae", out=path.parent, evaluations=60, seed=1) as training:
        if state == "saved":
            training.step()
            training.save(path)
        before = path.read_bytes() if path.exists() else None
        code, _, err = run(f"train {line} {path.parent}")
        assert code == 2
        holder = rf"is in use by process {os.getpid()} on \S+ since \d{{4}}"
        assert re.search("there is no" if line == "--resume" and before is None else holder, err)
        assert (path.read_bytes() if path.exists() else None) == before


def limited(size: int, *command: object) -> tuple[int, str]:
    """Run a command that may write files of so many bytes; returns its exit code and standard error."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size},) * 2)\n"
    code += "from surefoot.__main__ import run; run()"
    program = [sys.executable, "-B", "-c", code, *map(str, command)]
    ended = subprocess.run(program, capture_output=True, text=True)
    return ended.returncode, ended.stderr


def test_a_disk_that_is_full_from_the_start_is_no_run_to_resume(tmp_path: Path) -> None:
    code, err = limited(2000, "train", "sphere-20", "--evaluations", 400, "--out", tmp_path / "run")
    assert code == 2
    assert "file too large; nothing was saved" in err
    assert not (tmp_path / "run").exists()


def test_a_disk_that_is_full_in_the_middle_of_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    settings = {"evaluations": 1200, "seed": 3, "emitters": 2, "batch_size": 30}
    file = tmp_path / FILE_NAME
    with start_training("sphere-20", "lm-ma-mae", out=tmp_path, **settings) as part:
        part.run(file, stop=lambda: part.evaluations >= 480)
    before = file.read_bytes()  # the next checkpoint is larger by a row of the history
    code, err = limited(len(before), "train", "--resume", tmp_path)
    assert code == 2
    assert err.count("\n") == 1
    assert err.endswith(f"file too large; once that is mended: surefoot train --resume {tmp_path}\n")
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert file.read_bytes() == before
