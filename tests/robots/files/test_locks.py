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
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_never_two_at_a_time(tmp_path: Path) -> None:
    inside = 0

    def work(_: int) -> int:
        nonlocal inside
        entered = 0
        for _ in range(100):
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
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".run.lock").symlink_to("precious")
    for path in (tmp_path / "a" / "b", tmp_path / "run"):
        with pytest.raises(InvalidFileError, match="cannot be locked"), locked(path):
            pass
    assert (tmp_path / "precious").read_text() == "text"
