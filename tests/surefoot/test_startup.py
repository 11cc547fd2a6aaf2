"""Whatever the environment and the current folder are, a command works or says what is wrong with them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKS = {
    "PYTHONIOENCODING": "ascii",
    "MPLBACKEND": "nope",
    "COLUMNS": "0",
    "HDF5_DRIVER": "bad",
    "SOURCE_DATE_EPOCH": "",
}


def surefoot(*words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own."""
    line = [sys.executable, "-m", "surefoot", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, env=os.environ | environment)


def test_commands_work_whatever_libraries_are_told(tmp_path: Path) -> None:
    drawn = surefoot("show", "hexapod", "--picture", tmp_path / "é.png", **WORKS)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert r"\xe9" in drawn.stdout
    assert (tmp_path / "é.png").exists()


def test_what_a_library_cannot_be_imported_with_is_refused_in_a_sentence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    settings = surefoot("robots")
    (tmp_path / ".numba_config.yaml").unlink()
    for ended in (settings, surefoot("robots", MUJOCO_GL="nope")):
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


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


CLUSTER = "train hopper --episode-steps 10 --evaluations 20 --out run --cluster local:1"


@pytest.mark.parametrize(
    "command", ["show hexapod --picture a.png", pytest.param(CLUSTER, marks=pytest.mark.slow)]
)
def test_no_code_in_the_current_folder_is_run(run, tmp_path: Path, monkeypatch, command: str) -> None:
    """Nor in processes that are started; and pictures are the same everywhere."""
    monkeypatch.chdir(tmp_path)
    for name in ("ctypes", "struct", "multiprocessing", "numpy", "robots", "yaml"):
        Path(f"{name}.py").write_text(MALICIOUS)
    Path("matplotlibrc").write_text("lines.linewidth: 9\nbackend: module://robots\n")
    ended = surefoot(*command.split())
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not {"EXECUTED", "kernels"} & {path.name for path in tmp_path.iterdir()}
    if command != CLUSTER:
        assert run("show hexapod --picture b.png")[0] == 0
        assert Path("a.png").read_bytes() == Path("b.png").read_bytes()


def test_without_a_working_directory_paths_are_refused_in_a_sentence(refused, tmp_path, monkeypatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    refused([(["deploy ant --best --csv a.csv"], "the working directory")])
