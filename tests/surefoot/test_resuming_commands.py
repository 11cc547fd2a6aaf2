"""`surefoot evaluate` and `surefoot rehearse` go on where they were interrupted, whatever the threads."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from repertoire.storage.repertoires import write_repertoire
from robots.files.locks import locked
from tests.adapt.rehearsal.small import small_repertoire


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small repertoire, and a short list of damages next to it."""
    write_repertoire(tmp_path / "gaits.h5", small_repertoire())
    (tmp_path / "few.yaml").write_text("- front_left:lost\n- back_right:dead\n")
    return tmp_path / "gaits.h5"


@pytest.fixture(params=["evaluate", "rehearse"])
def command(request, file: Path) -> list[object]:
    """A command without its options."""
    few = ["--damages", file.with_name("few.yaml")] if request.param == "rehearse" else []
    return [request.param, file, *few]


def outputs(command: list[object], file: Path) -> tuple[Path, Path]:
    """The default output of a command, and where it keeps what is finished."""
    suffix = {"evaluate": "corrected", "rehearse": "rehearsal"}[str(command[0])]
    return file.with_name(f"gaits-{suffix}.h5"), file.with_name(f"gaits-{suffix}-unfinished.h5")


def test_threads_change_no_byte(run, command, file: Path) -> None:
    for name, threads in (("a.h5", 1), ("b.h5", 2)):
        more = ["--episodes", 3, "--out", file.with_name(name), "--threads", threads]
        assert run(*command, *more)[0] == 0
    assert file.with_name("a.h5").read_bytes() == file.with_name("b.h5").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "interruption"),
    [("evaluate", signal.SIGINT), ("rehearse", signal.SIGTERM)],
    indirect=["command"],
)
def test_after_an_interruption_the_same_command_goes_on(run, command, file: Path, interruption) -> None:
    options = [*command, "--episodes", 300 if command[0] == "evaluate" else 40, "--threads", 1]
    whole, (out, unfinished) = file.with_name("whole.h5"), outputs(command, file)
    assert run(*options, "--out", whole)[0] == 0
    words = [sys.executable, "-m", "surefoot", *map(str, options)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not unfinished.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(interruption)
        output, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert f"Stopped and saved to {unfinished}. The same command goes on." in output
    assert not out.exists()
    code, printed, err = run(*options)
    assert (code, err) == (0, "")
    assert "going on after " in printed
    assert not unfinished.exists()
    assert out.read_bytes() == whole.read_bytes()


def test_what_another_evaluation_left_is_replaced_only_when_asked_to(run, command, file: Path) -> None:
    out, unfinished = outputs(command, file)
    unfinished.write_bytes(b"something")
    code, _, err = run(*command, "--episodes", 1)
    assert (code, unfinished.read_bytes()) == (2, b"something")
    assert f"{unfinished} cannot be read" in err
    assert "remove it, choose another --out, or use --overwrite" in err
    out.write_bytes(b"something")
    assert "exists already: choose another --out, or use --overwrite" in run(*command, "--episodes", 1)[2]
    assert run(*command, "--episodes", 1, "--overwrite")[0] == 0
    assert len(out.read_bytes()) > 100
    assert not unfinished.exists()


@pytest.mark.parametrize("command", ["evaluate"], indirect=True)
def test_one_process_at_a_time_works_on_an_output(run, command, file: Path) -> None:
    out, unfinished = outputs(command, file)
    with locked(out):
        code, _, err = run(*command, "--episodes", 1)
    assert code == 2
    assert f"{out} is in use by" in err
    assert not out.exists()
    assert not unfinished.exists()


def test_what_another_process_has_just_written_stays(run, command, file: Path, monkeypatch) -> None:
    out, _ = outputs(command, file)

    @contextmanager
    def late(path: Path) -> Iterator[None]:
        path.write_bytes(b"its result")
        yield

    monkeypatch.setattr("robots.files.locks.locked", late)
    code, _, err = run(*command, "--episodes", 1)
    assert (code, out.read_bytes()) == (2, b"its result")
    assert "exists already" in err
