"""`locked`: one process at a time works on a file or folder, and a second one is told who does."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from robots.errors import InUseError
from robots.files.atomic import explain_errors, file_behind


@contextmanager
def locked(path: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Keep other processes from working on a file or folder while the body runs.

    The lock is the operating system's, on a file `.NAME.lock` next to the path, and ends with the process,
    however that ends. It only keeps out those that ask for it. `patience` is how long to wait for another
    holder to finish [s].
    """
    with explain_errors(f"{path} cannot be locked"):
        target = file_behind(path)
        name = target.with_name(f".{target.name}.lock")
        lock = FileLock(name, timeout=patience)
        try:
            lock.acquire()
        except Timeout as error:
            raise InUseError(path, _holder(name)) from error
    try:
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        with suppress(OSError):
            name.write_text(f"process {os.getpid()} on {socket.gethostname()} since {since}")
        yield
    finally:
        with suppress(OSError):
            name.unlink()  # before the lock ends: whoever opened it before finds out that it is gone
        lock.release()


def _holder(name: Path) -> str:
    try:
        return name.read_text(encoding="utf-8", errors="replace") or "another process"
    except OSError:
        return "another process"
