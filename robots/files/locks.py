"""`locked`: one process at a time works on a file or folder, and a second one is told who does."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from robots.errors import InUseError
from robots.files.atomic import explain_errors, file_behind

_PAUSE = 0.05  # between two attempts to get a lock [s]


@contextmanager
def locked(path: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Keep other processes from working on a file or folder while the body runs.

    The lock is the operating system's, on a file `.NAME.lock` next to the path, and ends with the process,
    however that ends. It only keeps out those that ask for it.

    Args:
        path: the file or folder; need not exist, its parent folder must.
        patience: how long to wait for another holder to finish [s].

    Raises:
        InUseError: another process, or another part of this one, holds the lock.
        InvalidFileError: the lock's file cannot be made.
    """
    file = None
    try:
        with explain_errors(f"{path} cannot be locked"):
            target = file_behind(path)
            name = target.with_name(f".{target.name}.lock")
            deadline = time.monotonic() + patience
            while (file := _acquire(name)) is None and time.monotonic() < deadline:
                time.sleep(_PAUSE)
        if file is None:
            raise InUseError(path, _read(name))
        yield
    finally:
        if file is not None:
            with suppress(OSError):
                name.unlink()  # before the lock ends: whoever opened it before finds out that it is gone
            file.close()


def _acquire(name: Path) -> IO[str] | None:
    """Open and lock a file, and write down who did; None if someone else holds the lock."""
    while True:
        with ExitStack() as stack:
            file = stack.enter_context(open(name, "a+", encoding="utf-8", opener=_open))
            if not _try_to_lock(file):
                return None
            if _is_still(name, file):
                stack.callback(name.unlink, missing_ok=True)  # by an interrupt from here on
                since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}")
                file.flush()
                stack.pop_all()
                return file


def _open(name: str, flags: int) -> int:
    """Open a lock's file, but never what a link in its place leads to: its content would be lost."""
    if Path(name).is_symlink():
        raise OSError(f"{name} is a link")
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _is_still(name: Path, file: IO[str]) -> bool:
    """Whether a name still leads to an open file, which its previous holder may have removed."""
    try:
        return os.path.samestat(name.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _read(name: Path) -> str:
    """Who holds a lock, as far as that can be read."""
    try:
        return name.read_text(encoding="utf-8", errors="replace") or "another process"
    except OSError:
        return "another process"


if sys.platform == "win32":
    import msvcrt

    def _try_to_lock(file: IO[str]) -> bool:
        """Lock a byte far behind the end of the file, so that the text can be read."""
        file.seek(1 << 30)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        file.seek(0)
        return True

else:
    import fcntl

    def _try_to_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
