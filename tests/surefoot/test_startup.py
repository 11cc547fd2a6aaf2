"""Whatever the environment of a command is, it works or says in one sentence what is wrong with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKS = {
    "PYTHONIOENCODING": "ascii",
    "MPLBACKEND": "nope",
    "COLUMNS": "-5",
}
REFUSED = {
    "MUJOCO_GL=nope": "the environment variable MUJOCO_GL is 'nope': it must be a kind of OpenGL that this",
    "HDF5_USE_FILE_LOCKING=nope": "the environment variable HDF5_USE_FILE_LOCKING is 'nope': it must be TRUE",
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
def test_what_a_library_cannot_be_imported_with_is_refused_in_a_sentence(wrong: str) -> None:
    ended = surefoot(f"export {wrong}", "robots")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"surefoot: {REFUSED[wrong]}")


MALICIOUS = "open('EXECUTED', 'w'); raise ImportError"
STATE = """
import os, signal, sys
import h5py, matplotlib, mujoco, numba, scipy.optimize
from numba.core import caching, ccallback, dispatcher
def state():
    caches = [caching.FunctionCache, ccallback.FunctionCache, dispatcher.FunctionCache]
    handlers = [mujoco.get_mju_user_warning(), *map(signal.getsignal, (signal.SIGINT, signal.SIGTERM))]
    return dict(os.environ), [*sys.path], [*sys.meta_path], numba.config.CACHE_DIR, handlers, caches
before = state()
import robots.robot, robots.simulation.stepper, repertoire.training.training, adapt.recovery, suites.study
import surefoot, surefoot.api, surefoot.mission, surefoot.search
for one, other in zip(state(), before):
    assert one == other, (one, other)
"""


def test_importing_changes_nothing_in_a_process() -> None:
    ended = subprocess.run([sys.executable, "-c", STATE], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture
def hostile(tmp_path, monkeypatch) -> Path:
    """The current folder: it holds modules and settings that libraries would run or obey."""
    for name in ("ctypes", "struct", "multiprocessing", "numpy", "robots", "yaml"):
        (tmp_path / f"{name}.py").write_text(MALICIOUS)
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nbackend: module://robots\n")
    (tmp_path / ".numba_config.yaml").write_text("- no settings\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_code_in_the_current_folder_is_run(hostile: Path, tmp_path_factory) -> None:
    """Nor in processes that are started; and pictures are the same everywhere."""
    few = ("--evaluations", 20, "--out", "run", "--cluster", "local:1")
    for command in (("show", "hexapod", "--picture", "a.png"), ("train", "ant", "--episode-steps", 10, *few)):
        ended = surefoot("true", *command)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert not {"EXECUTED", "kernels"} & {path.name for path in hostile.iterdir()}
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "a.png"
    assert surefoot(f"cd {elsewhere.parent}", "show", "hexapod", "--picture", elsewhere).returncode == 0
    assert (hostile / "a.png").read_bytes() == elsewhere.read_bytes()
