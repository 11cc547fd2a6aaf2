"""`replace_file`, `write_text`: a file is its old self or its new self, whatever happens in between."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robots.errors import InvalidFileError


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Write a file in one step: readers, and whoever comes after a crash, see the old one or the new one.

    The body writes to the temporary file that it is given. It lies in the same folder, as
    `.stem.<process id>.partial.suffix`: with the suffix of `path`, which some libraries go by. When the body
    ends it is flushed to the disk and takes the place of `path`; if the body raises, it is removed and `path`
    stays as it was. Temporaries that processes left behind when they were killed while writing the same
    `path` are removed first. If `path` is a link, what it leads to is replaced.

    Args:
        path: the file to write; need not exist, its folder must.

    Raises:
        InvalidFileError: the file cannot be written; any `OSError` of the body counts as that.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(_temporary_name(target, str(os.getpid())))
    try:
        _check_replaceable(target)
        _sweep(target)
        temporary.touch()  # here, so that a folder that cannot be written to is found before the work is done
        yield temporary
        _flush(temporary)
        temporary.replace(target)
    except OSError as error:
        _remove(temporary)
        raise InvalidFileError(f"{path} cannot be written: {_reason(error)}") from error
    except BaseException:
        _remove(temporary)
        raise
    # some network file systems cannot flush folders, and the file is in place by now
    with suppress(OSError):
        _flush(target.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text to a file in one step, see `replace_file`.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _temporary_name(target: Path, process: str) -> str:
    """Name of the file that a process writes before it replaces the target."""
    return f".{target.stem}.{process}.partial{target.suffix}"


def _check_replaceable(target: Path) -> None:
    """Raise if something is there that a file must not take the place of, such as a device."""
    if not target.parent.is_dir():
        raise OSError(f"there is no folder {target.parent}")
    if target.is_dir():
        raise OSError("it is a folder")
    if target.exists() and not target.is_file():
        raise OSError("it is not a regular file")


def _sweep(target: Path) -> None:
    """Remove temporaries of the target whose process is no more."""
    head, tail = _temporary_name(target, "\0").split("\0")
    pattern = re.compile(re.escape(head) + r"(\d{1,9})" + re.escape(tail))
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _alive(int(match[1])):
            _remove(path)


def _alive(process: int) -> bool:
    """Whether a process runs on this machine."""
    try:
        os.kill(process, 0)  # signal 0 only asks
    except ProcessLookupError:
        return False
    except OSError:  # it runs, and is someone else's
        return True
    return True


def _flush(path: Path) -> None:
    """Have what was written to a file or folder reach the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    """Remove a file if that is possible: what cannot be removed is left to the next sweep."""
    with suppress(OSError):
        path.unlink()


def _reason(error: OSError) -> str:
    """Why, in words and without the number and path that Python adds."""
    reason = error.strerror or " ".join(str(error).split())
    return reason[0].lower() + reason[1:] if reason else type(error).__name__


def check_writable(path: Path) -> None:
    """Find out whether `replace_file` could write a file, which stays as it is.

    For before long work: what cannot be saved should not be computed.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    with suppress(_NotNowError), replace_file(path):
        raise _NotNowError


class _NotNowError(Exception):
    """Leaves `replace_file` without replacing anything."""


def file_exists(path: Path) -> bool:
    """Whether there is a file.

    Raises:
        InvalidFileError: that cannot be told, for example because its folder cannot be read.
    """
    try:
        return path.exists()
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {_reason(error)}") from error


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """Make a folder, and those above it, for what the body writes; if it raises, what is empty is removed.

    Raises:
        InvalidFileError: the folder cannot be made.
    """
    made = [folder for folder in (path, *path.parents) if not file_exists(folder)]
    make_folder(path)
    try:
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def make_folder(path: Path) -> None:
    """Make a folder and those above it.

    Raises:
        InvalidFileError: that is not possible.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else _reason(error)
        raise InvalidFileError(f"cannot make the folder {path}: {reason}") from error
