"""Locks: one process at a time, released by a crash, and the second one is told who holds it."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from robots.errors import InUseError, InvalidFileError
from robots.files.locks import locked

HOLD = """
import sys, time
from pathlib import Path
from robots.files.locks import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_a_lock_leaves_nothing_behind(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "run"):
            assert [path.name for path in tmp_path.iterdir()] == [".run.lock"]
        assert list(tmp_path.iterdir()) == []


def test_the_second_is_told_who_holds_it_until_that_process_dies(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        told = rf"run is in use by process {process.pid} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d: wait"
        with pytest.raises(InUseError, match=told), locked(path):
            pass
        with locked(tmp_path / "another"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    with locked(path):
        pass


def test_never_two_at_a_time(tmp_path: Path) -> None:
    inside = 0

    def work(_: int) -> int:
        nonlocal inside
        entered = 0
        for _ in range(200):
            try:
                with locked(tmp_path / "run"):
                    inside += 1
                    assert inside == 1
                    entered += 1
                    inside -= 1
            except InUseError:
                pass
        return entered

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) > 0


def test_a_lock_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidFileError, match="cannot be locked: no such file"),
        locked(tmp_path / "a" / "b"),
    ):
        pass


def test_what_a_link_in_place_of_a_lock_leads_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".run.lock").symlink_to("precious")
    with pytest.raises(InvalidFileError, match=r"\.run\.lock is a link"), locked(tmp_path / "run"):
        pass
    assert (tmp_path / "precious").read_text() == "text"


def test_an_interrupt_while_a_lock_is_made_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("robots.files.locks.socket.gethostname", interrupted)
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "run"):
        pass
    assert list(tmp_path.iterdir()) == []
