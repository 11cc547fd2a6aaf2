"""Work that writes one file, and after an interruption goes on where it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from robots.errors import InvalidFileError, InvalidValueError
from robots.words import duration
from surefoot.interrupts import interrupt_flag
from surefoot.printing import note
from surefoot.progress import ProgressBar

if TYPE_CHECKING:
    from repertoire.evaluation.evaluator import Evaluation

_Result = TypeVar("_Result")


class Stopped(KeyboardInterrupt):
    """Work was interrupted after a batch; what is finished is saved, if anything is."""


def check_output(file: Path | None, out: Path, overwrite: bool) -> None:
    """Refuse an output file that cannot be written, or that would replace something.

    Raises:
        InvalidValueError: `out` is the input file, or is there already and must not be overwritten.
        InvalidFileError: `out` cannot be written.
    """
    from robots.files.atomic import check_writable, file_exists

    if file_exists(out):
        if file is not None and out.samefile(file):
            raise InvalidValueError(f"{out} is the repertoire to be read: choose another out=...")
        if not overwrite:
            raise InvalidValueError(f"{out} exists already: choose another out=..., or use overwrite=True")
    check_writable(out)


def run_to_file(
    evaluation: "Evaluation",
    save: Callable[[], _Result],
    *,
    file: Path | None,
    out: str | Path | None,
    overwrite: bool,
    progress: bool,
) -> _Result:
    """Run an evaluation, or go on with it, and return what is made of it.

    Args:
        evaluation: to be run.
        save: makes something of the finished evaluation, and saves it to `out`.
        file: that was read.
        out: file that `save` writes, which other processes are kept from; None if it writes none.
        overwrite: whether to replace it, and what another evaluation left unfinished next to it.
        progress: whether to show a bar. An interrupt then lets the current batch finish.

    Raises:
        InUseError: another process is about to write the file.
        InvalidValueError: see `check_output`.
        InvalidFileError: another evaluation was left unfinished.
        Stopped: the evaluation was interrupted.
    """
    from repertoire.storage.files import RunFiles

    unfinished = None if out is None else RunFiles.unfinished(Path(out))
    with nullcontext() if out is None else _locked_output(file, Path(out), overwrite):
        if unfinished is not None:
            take_up(evaluation, unfinished, overwrite, say=progress)
        if progress:
            note(plan_words(evaluation))
            with interrupt_flag(note) as interrupted, ProgressBar("episodes", evaluation.total) as show:
                evaluation.run(unfinished, on_progress=show, stop=interrupted)
        else:
            evaluation.run(unfinished)
        if not evaluation.finished:
            note(
                f"Stopped and saved to {unfinished}. The same command goes on." if unfinished else "Stopped."
            )
            raise Stopped
        result = save()
        if unfinished is not None:
            with suppress(OSError):  # what was computed is safe
                unfinished.unlink()
        return result


@contextmanager
def _locked_output(file: Path | None, out: Path, overwrite: bool) -> Iterator[None]:
    """Keep other processes from an output file meanwhile; see `check_output` for what else is refused."""
    from robots.files.locks import locked

    check_output(file, out, overwrite)
    with locked(out):
        check_output(file, out, overwrite)  # again: another process may just have written it
        yield


def plan_words(evaluation: "Evaluation") -> str:
    """What an evaluation will do, and how long it will take."""
    conditions, gaits = len(evaluation.evaluator.conditions), len(evaluation.repertoire)
    under = f"{conditions} conditions x " if conditions > 1 else ""
    work = f"{under}{gaits:,} gaits x {evaluation.episodes} episodes = {evaluation.total:,} episodes"
    left = "nothing left to do" if evaluation.finished else f"about {duration(evaluation.seconds_left())}"
    threads = evaluation.evaluator.threads
    return f"{work}: {left} on {threads} thread{'s' * (threads != 1)}"


def take_up(evaluation: "Evaluation", unfinished: Path, overwrite: bool, *, say: bool) -> None:
    """Go on from what an interrupted evaluation left, and say so if that is asked for.

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
            raise InvalidFileError(
                f"{error}: remove it, choose another out=..., or use overwrite=True"
            ) from error
    if evaluation.done and say:
        note(f"going on after {evaluation.done:,} of {evaluation.total:,} episodes")
