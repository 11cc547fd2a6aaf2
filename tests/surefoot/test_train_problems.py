"""`surefoot train` of problems without a robot: trained, resumed, shown and merged like robots."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import resume_training, start_training

SMALL = ("--evaluations", 600, "--emitters", 2, "--batch-size", 30)


@pytest.mark.parametrize("name", ["sphere-20", "arm-30", "maze"])
def test_from_training_to_a_picture(name: str, tmp_path: Path, run) -> None:
    code, out, err = run("train", name, *SMALL, "--out", tmp_path / "a")
    assert (code, err) == (0, "")
    assert "after 600 evaluations" in out
    repertoire = read_repertoire(tmp_path / "a" / FILE_NAME)
    assert repertoire.problem.name == name
    assert repertoire.settings.archive.cells == 10_000
    assert run("train", name, *SMALL, "--seed", 2, "--out", tmp_path / "b")[0] == 0
    assert run("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "both.h5")[0] == 0
    merged = read_repertoire(tmp_path / "both.h5")
    assert len(merged) >= len(repertoire)
    code, out, _ = run(
        "show", tmp_path / "a", "--picture", tmp_path / "a.png", "--history", tmp_path / "h.png"
    )
    assert code == 0
    assert f"problem {name}, {repertoire.problem.solution_dim} parameters" in out
    assert "single episodes" not in out
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_saved_and_says_how_to_go_on(tmp_path: Path, interruption) -> None:
    command = [sys.executable, "-m", "surefoot", "train", "sphere-50", "--evaluations", str(10**9)]
    with subprocess.Popen([*command, "--out", tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not (tmp_path / FILE_NAME).exists():
            assert process.poll() is None
        process.send_signal(interruption)
        out = process.stdout.read()
    assert process.returncode == 130
    assert f"Stopped and saved. Go on with: surefoot train --resume {tmp_path}" in " ".join(out.split())
    with resume_training(tmp_path) as resumed:
        assert resumed is not None


@pytest.mark.parametrize("state", ["begun", "saved"])
@pytest.mark.parametrize("more", [["sphere-5"], ["sphere-5", "--overwrite"], ["--resume"]])
def test_a_run_is_worked_on_by_one_process_from_its_start(run, tmp_path, state: str, more: list[str]) -> None:
    """Also before the first checkpoint, where the folder is still empty."""
    settings = {"evaluations": 60, "seed": 3, "emitters": 1, "batch_size": 30}
    path = tmp_path / "run" / FILE_NAME
    with start_training("sphere-5", "cma-mae", out=path.parent, **settings) as training:
        if state == "saved":
            training.step()
            training.save(path)
        before = path.read_bytes() if path.exists() else None
        folder = [path.parent] if more == ["--resume"] else ["--out", path.parent]
        code, _, err = run("train", *more, *folder)
        assert code == 2
        holder = rf"is in use by process {os.getpid()} on \S+ since \d{{4}}"
        expected = "there is no repertoire.h5" if more == ["--resume"] and before is None else holder
        assert re.search(expected, err)
        assert (path.read_bytes() if path.exists() else None) == before


def test_what_a_problem_or_machine_lacks_is_refused(tmp_path: Path, run, refused) -> None:
    file, out = tmp_path / "run", ["--out", tmp_path / "x"]
    assert run("train", "sphere-5", "--evaluations", 60, "--out", file)[0] == 0
    large = "1 emitter of pga-me would take 2,680 GB of memory for ant, and this machine has "
    cases = [
        (["sphere-9", "--hidden", 4], "sphere-9 is not a robot, so it cannot be given --hidden: leave it"),
        (["maze", "--episode-steps", 4], "so it cannot be given --episode-steps: leave it out"),
        (["sphere-9", "--archive", "10"], "has cells along 1 measure, but there are 2"),
        (["maze", "--algorithm", "cma-mega"], "cma-mega needs gradients, which maze does not know"),
        (["sphere-9", "--algorithm", "pga-me"], "pga-me learns from the transitions of robots that"),
        (["hexapod", "--algorithm", "cma-mega-td3-es"], "by networks, but hexapod has none: "),
        (["ant", "--algorithm", "pga-me", "--buffer-size", 10**10], large),
    ]
    refused([([*arguments, *out], message) for arguments, message in cases], "train")
    assert not (tmp_path / "x").exists()
    others = (["recover", file, "--damage", "front_left:lost"], ["deploy", file, "--best"])
    for command in (*others, ["rehearse", file], ["evaluate", file]):
        refused([(command, "is of sphere-5, which is not a robot")])


def test_a_disk_that_is_full_from_the_start_is_no_run_to_resume(tmp_path: Path) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000,) * 2)\n"
        "from surefoot.__main__ import run; run()"
    )
    train = [sys.executable, "-B", "-c", code, "train", "sphere-20", "--evaluations", "400"]
    ended = subprocess.run([*train, "--out", tmp_path / "run"], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.endswith("file too large; nothing was saved: train again once that is mended\n")
    assert not (tmp_path / "run").exists()


def test_a_disk_that_is_full_in_the_middle_of_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    settings = {"evaluations": 1200, "seed": 3, "emitters": 2, "batch_size": 30}
    files = {name: tmp_path / name / FILE_NAME for name in ("whole", "part")}
    with start_training("sphere-20", "lm-ma-mae", out=tmp_path / "whole", **settings) as whole:
        whole.run(files["whole"])
    with start_training("sphere-20", "lm-ma-mae", out=tmp_path / "part", **settings) as part:
        part.run(files["part"], stop=lambda: part.evaluations >= 480)
    before = files["part"].read_bytes()  # the next checkpoint is larger by a row of the history
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before)},) * 2)\n"
        "from surefoot.__main__ import run; run()"
    )
    resume = [sys.executable, "-B", "-c", code, "train", "--resume", tmp_path / "part"]
    ended = subprocess.run(resume, capture_output=True, text=True)
    advice = f"once that is mended: surefoot train --resume {tmp_path / 'part'}"
    assert ended.stderr == f"surefoot: {files['part']} cannot be written: file too large; {advice}\n"
    assert ended.returncode == 2
    assert [file.name for file in (tmp_path / "part").iterdir()] == [FILE_NAME]
    assert files["part"].read_bytes() == before
    with resume_training(tmp_path / "part") as resumed:
        assert resumed is not None
        assert resumed.evaluations == 480
        resumed.run(files["part"])
    assert files["part"].read_bytes() == files["whole"].read_bytes()
