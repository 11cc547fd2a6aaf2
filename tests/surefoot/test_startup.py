"""Whatever the environment of a command is, it works or says in one sentence what is wrong with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKS = {
    "PYTHONIOENCODING": "ascii",
    "MPLBACKEND": "nope",
    "NUMBA_NUM_THREADS": "-1",
    "NUMBA_THREADING_LAYER": "nope",
    "COLUMNS": "-5",
}
REFUSED = {
    "SOURCE_DATE_EPOCH=": "the environment variable SOURCE_DATE_EPOCH is '': it must be a time in seconds",
    "HDF5_DRIVER=bad": "the environment variable HDF5_DRIVER is 'bad': it must be sec2 or core, or not set",
    "HDF5_VOL_CONNECTOR=bad": "the environment variable HDF5_VOL_CONNECTOR is 'bad': it must be native",
    "MUJOCO_GL=nope": "the environment variable MUJOCO_GL is 'nope': it must be a kind of OpenGL that this",
    "HDF5_USE_FILE_LOCKING=nope": "the environment variable HDF5_USE_FILE_LOCKING is 'nope': it must be TRUE",
    "ulimit -n 24": "only 24 files can be open at a time, but 64 are needed: see ulimit -n",
    "ulimit -v 60000": "61 MB of virtual memory are too few, at least ",
    "ulimit -v 500000": "512 MB of virtual memory are too few, at least ",
}


def surefoot(first: str, *words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a shell after something else."""
    line = ["bash", "-c", f'{first}; exec "$@"', "bash", sys.executable, "-m", "surefoot", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, env=os.environ | environment)


def test_commands_work_whatever_libraries_are_told(tmp_path) -> None:
    trained = surefoot(
        "true",
        "train",
        "sphere-4",
        "--archive",
        "3,3",
        "--evaluations",
        200,
        "--out",
        tmp_path / "é",
        **WORKS,
    )
    assert (trained.returncode, trained.stderr) == (0, "")
    assert r"surefoot show" in trained.stdout
    assert r"\xe9" in trained.stdout
    drawn = surefoot("true", "show", tmp_path / "é", "--picture", tmp_path / "a.png", **WORKS)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert (tmp_path / "a.png").exists()


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_leaves_no_room_to_work_is_refused_in_a_sentence(wrong: str) -> None:
    ended = surefoot(wrong if "ulimit" in wrong else f"export {wrong}", "robots")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"surefoot: {REFUSED[wrong]}")


MALICIOUS = "open('EXECUTED', 'w'); raise ImportError"


@pytest.fixture
def hostile(tmp_path, monkeypatch) -> Path:
    """The current folder: it holds modules and settings that libraries would run or obey."""
    for name in ("ctypes", "struct", "multiprocessing", "numpy", "robots", "yaml"):
        (tmp_path / f"{name}.py").write_text(MALICIOUS)
    (tmp_path / "matplotlibrc").write_bytes(b"text.usetex: True\nbackend: module://robots\n\xff\xfe")
    (tmp_path / ".numba_config.yaml").write_text("- a\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_in_the_current_folder_is_run_or_obeyed(hostile: Path, tmp_path_factory) -> None:
    drawn = surefoot("true", "show", "hexapod", "--picture", "hexapod.png")
    assert (drawn.returncode, drawn.stderr) == (0, "")
    (hostile / ".numba_config.yaml").write_text("cache_dir: kernels\n")
    assert surefoot("true", "robots").returncode == 0
    assert not {"EXECUTED", "kernels"} & {path.name for path in hostile.iterdir()}
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "hexapod.png"
    assert surefoot(f"cd {elsewhere.parent}", "show", "hexapod", "--picture", elsewhere).returncode == 0
    assert (hostile / "hexapod.png").read_bytes() == elsewhere.read_bytes()


def test_processes_that_are_started_run_nothing_in_the_current_folder(hostile: Path) -> None:
    few = ("--evaluations", 20, "--out", "run", "--cluster", "local:1")
    trained = surefoot("true", "train", "ant", "--episode-steps", 10, *few)
    assert (trained.returncode, trained.stderr) == (0, "")
    assert not (hostile / "EXECUTED").exists()


def test_more_files_are_opened_where_the_limit_can_be_raised() -> None:
    assert surefoot("ulimit -S -n 24", "robots").returncode == 0
