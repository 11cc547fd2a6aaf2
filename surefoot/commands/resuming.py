"""Commands that write one file, and after an interruption go on where they were."""

from pathlib import Path
from typing import Any

from robots.errors import InvalidFileError, InvalidValueError
from surefoot.commands.console import console


def unfinished_path(out: Path) -> Path:
    """Where what is finished is kept until all is."""
    return out.with_name(f"{out.stem}-unfinished{out.suffix}")


def check_output(file: Path, out: Path, overwrite: bool) -> None:
    """Refuse an output that cannot be written, or that something would be lost by."""
    from robots.files import check_writable, file_exists

    if file_exists(out):
        if out.samefile(file):
            raise InvalidValueError(f"{out} is the repertoire to be read: choose another --out")
        if not overwrite:
            raise InvalidValueError(f"{out} exists already: choose another --out, or use --overwrite")
    check_writable(out)


def take_up(work: Any, unfinished: Path, overwrite: bool) -> None:
    """Take up what an interrupted evaluation left, unless it is another's that may be overwritten."""
    from robots.files import file_exists

    if not file_exists(unfinished):
        return
    try:
        work.restore(unfinished)
    except InvalidFileError as error:
        if not overwrite:
            raise InvalidFileError(f"{error}: remove it, choose another --out, or use --overwrite") from error
    if work.done:
        console.print(f"going on after {work.done} of {work.total} episodes")
