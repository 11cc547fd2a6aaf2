"""Whatever the environment of a command is, it works or says in one sentence what is wrong with it."""

import os
import subprocess
import sys

import pytest

WORKS = {
    "PYTHONIOENCODING": "ascii",
    "MPLBACKEND": "nope",
    "NUMBA_NUM_THREADS": "-1",
    "NUMBA_THREADING_LAYER": "nope",
    "COLUMNS": "-5",
}
REFUSED = {
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


def test_more_files_are_opened_where_the_limit_can_be_raised() -> None:
    assert surefoot("ulimit -S -n 24", "robots").returncode == 0
