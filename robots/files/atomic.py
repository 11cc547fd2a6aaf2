"""Files that are replaced in one step: a reader finds the old file or the new one, never half of one.

Whatever the system refuses is an `InvalidFileError` that says what failed, and why, in a sentence.
"""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robots.errors import InvalidFileError


def file_behind(path: str | Path) -> Path:
    """Follow symbolic links; raises OSError where no folder holds the file, as of the root of all folders."""
    target = Path(os.path.realpath(path))
    if not target.name:
        raise OSError("it is the root of all folders")
    if not target.parent.is_dir():
        raise OSError(f"there is no folder {target.parent}")
    return target


@contextmanager
def replace_file(path: str | Path) -> Iterator[Path]:
    """Write a file in one step.

    The body writes to the temporary file whose path it is given: `.stem.<process id>.partial.suffix` in the
    same folder, which must exist. When the body ends, the temporary file is flushed to the disk and takes the
    place of `path`. If the body raises, it is removed and `path` stays as it was. Temporary files of the same
    `path` that killed processes left behind are removed first. Of a symbolic link the target is replaced.
    """
    with explain_errors(f"{path} cannot be written"):
        target = file_behind(path)
        temporary = target.with_name(f".{target.stem}.{os.getpid()}.partial{target.suffix}")
        try:
            if target.exists():
                check_regular(target)
            _remove_abandoned(target)
            temporary.touch()  # now, so that a read-only folder is found before the body does its work
            yield temporary
            _flush(temporary)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):  # otherwise the next writer removes it
                temporary.unlink()
            raise
    with suppress(OSError):  # some network file systems cannot flush folders, and the file is in place by now
        _flush(target.parent)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8 in one step, see `replace_file`."""
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def check_writable(path: str | Path) -> None:
    """Check that `replace_file` could write a file, before the long work whose result it will hold."""
    with suppress(_NotReplacedError), replace_file(path):
        raise _NotReplacedError


def check_regular(path: Path) -> None:
    """Raise `OSError` if a path is not that of a regular file, such as a folder or a pipe."""
    if path.stat() and not path.is_file():
        raise OSError("it is a folder" if path.is_dir() else "it is not a regular file")


def file_exists(path: str | Path) -> bool:
    """Whether a file or folder exists."""
    with explain_errors(f"{path} cannot be read"):
        return Path(path).exists()


def make_folder(path: str | Path) -> None:
    """Make a folder and its parents if they are missing."""
    with explain_errors(f"cannot make the folder {path}"):
        Path(path).mkdir(parents=True, exist_ok=True)


@contextmanager
def new_folder(path: str | Path) -> Iterator[None]:
    """Make a folder for what the body writes; if the body raises, new folders that are empty are removed."""
    missing = [folder for folder in (Path(path), *Path(path).parents) if not file_exists(folder)]
    make_folder(path)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


@contextmanager
def explain_errors(failure: str) -> Iterator[None]:
    """Report an `OSError` of the body as `InvalidFileError`: what failed, and why in words alone."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, FileExistsError):
            reason = "it is a file"
        raise InvalidFileError(f"{failure}: {reason[0].lower()}{reason[1:]}") from error
    except ValueError as error:
        if "null" in str(error) or isinstance(error, UnicodeEncodeError):
            raise InvalidFileError(f"{failure}: no file can have this name") from error
        raise


class _NotReplacedError(Exception):
    """Leaves `replace_file` without replacing anything."""


def _remove_abandoned(target: Path) -> None:
    """Remove the target's temporary files whose process no longer runs on this machine."""
    stem, suffix = glob.escape(target.stem), glob.escape(target.suffix)
    for path in target.parent.glob(f".{stem}.*.partial{suffix}"):
        process = path.name.removeprefix(f".{target.stem}.").removesuffix(f".partial{target.suffix}")
        with suppress(OSError, ValueError, OverflowError):
            try:
                os.kill(int(process), 0)  # signal 0 tests whether the process exists and sends nothing
            except ProcessLookupError:
                path.unlink()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
