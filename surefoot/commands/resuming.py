"""Commands that write one file, and after an interruption go on where they were."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from robots.errors import InvalidFileError, InvalidValueError
from surefoot.commands.console import console
from surefoot.commands.progress import ProgressBar
from surefoot.interrupts import INTERRUPTED, interrupt_flag
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from repertoire.evaluation.evaluator import Evaluation
    from repertoire.repertoire import Repertoire


def caution(file: Path, repertoire: "Repertoire") -> str:
    """Why objectives flatter, if they do, and where corrected ones are or come from; "" if they do not."""
    if not repertoire.caution:
        return ""
    corrected = result_files(file).corrected
    where = f"see {corrected}" if corrected.exists() else f"correct them with: surefoot evaluate {file}"
    return f"note: {repertoire.caution}; {where}"


def check_output(file: Path, out: Path, overwrite: bool) -> None:
    """Refuse an output file that cannot be written, or that would replace something.

    Raises:
        InvalidValueError: `out` is the input file, or is there already and must not be overwritten.
        InvalidFileError: `out` cannot be written.
    """
    from robots.files.atomic import check_writable, file_exists

    if file_exists(out):
        if out.samefile(file):
            raise InvalidValueError(f"{out} is the repertoire to be read: choose another --out")
        if not overwrite:
            raise InvalidValueError(f"{out} exists already: choose another --out, or use --overwrite")
    check_writable(out)


@contextmanager
def locked_output(file: Path, out: Path, overwrite: bool) -> Iterator[None]:
    """Keep other processes from an output file meanwhile; see `check_output` for what else is refused.

    Raises:
        InUseError: another process is about to write it.
    """
    from robots.files.locks import locked

    with locked(out):
        check_output(file, out, overwrite)  # again: another process may just have written it
        yield


def take_up(evaluation: "Evaluation", unfinished: Path, overwrite: bool) -> None:
    """Go on from what an interrupted evaluation left.

    Raises:
        InvalidFileError: it was left by another evaluation, and must not be overwritten.
    """
    from robots.files.atomic import file_exists

    if not file_exists(unfinished):
        return
    try:
        evaluation.restore(unfinished)
    except InvalidFileError as error:
        if not overwrite:
            raise InvalidFileError(f"{error}: remove it, choose another --out, or use --overwrite") from error
    if evaluation.done:
        console.print(f"going on after {evaluation.done:,} of {evaluation.total:,} episodes")


def run_or_exit(evaluation: "Evaluation", unfinished: Path) -> None:
    """Run an evaluation with a progress bar; the process ends if that is interrupted."""
    with interrupt_flag(console.print) as interrupted, ProgressBar("episodes", evaluation.total) as show:
        evaluation.run(unfinished, on_progress=show, stop=interrupted)
    if not evaluation.finished:
        console.print(f"Stopped and saved to {unfinished}. The same command goes on.")
        sys.exit(INTERRUPTED)
