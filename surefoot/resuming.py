"""Work that writes one file, and after an interruption goes on where it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from robots.errors import InvalidFileError, InvalidValueError
from surefoot.interrupts import interrupt_flag
from surefoot.printing import note
from surefoot.progress import ProgressBar

if TYPE_CHECKING:
    from adapt.strengthening import Strengthening
    from repertoire.evaluation.evaluator import Evaluation

    Work = Evaluation | Strengthening  # episodes that take long

_Result = TypeVar("_Result")


class Stopped(KeyboardInterrupt):
    """Work was interrupted after a batch; what is finished is saved, if anything is."""


def check_output(file: Path | None, out: Path, overwrite: bool, name: str = "out") -> None:
    """Refuse an output that cannot be written, is the file that is read, or would replace another file.

    `name` is that of the argument for the output.
    """
    from robots.files.atomic import check_writable, file_exists

    if file_exists(out) and not out.is_dir():
        another = f"choose another --{name.replace('_', '-')}"
        if file is not None and out.samefile(file):
            raise InvalidValueError(f"{out} is the repertoire to be read: {another}")
        if not overwrite:
            raise InvalidValueError(f"{out} exists already: {another}, or use --overwrite")
    check_writable(out)


def run_to_file(
    work: "Work",
    save: Callable[[], _Result],
    *,
    file: Path | None,
    out: str | Path | None,
    overwrite: bool,
    progress: bool,
) -> _Result:
    """Do work, or go on with it, and return what is made of it.

    Args:
        work: to be run.
        save: makes something of what was finished, and saves it to `out`.
        file: that was read.
        out: file that `save` writes, which other processes are kept from; None if it writes none.
        overwrite: whether to replace it, and what other work left unfinished next to it.
        progress: whether to show a bar. An interrupt then lets the current batch finish and raises `Stopped`.
    """
    from repertoire.storage.files import RunFiles

    with nullcontext() if out is None else locked_output(file, Path(out), overwrite):
        unfinished = None if out is None else RunFiles.unfinished(Path(out))
        if unfinished is not None:
            _take_up(work, unfinished, overwrite, say=progress)
        if progress:
            note(work.plan_words())
            with interrupt_flag(note) as interrupted, ProgressBar("episodes", work.total) as show:
                work.run(unfinished, on_progress=show, stop=interrupted)
        else:
            work.run(unfinished)
        if not work.finished:
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
def locked_output(file: Path | None, out: Path, overwrite: bool, name: str = "out") -> Iterator[None]:
    """Keep other processes from an output file meanwhile; see `check_output` for what else is refused."""
    from robots.files.locks import locked

    check_output(file, out, overwrite, name)
    with locked(out):
        check_output(file, out, overwrite, name)  # again: another process may just have written it
        yield


def _take_up(work: "Work", unfinished: Path, overwrite: bool, *, say: bool) -> None:
    """Go on from what was left when work was interrupted, and say so if that is asked for."""
    from robots.files.atomic import file_exists

    if not file_exists(unfinished):
        return
    try:
        work.restore(unfinished)
    except InvalidFileError as error:
        if not overwrite:
            raise InvalidFileError(f"{error}: remove it, choose another --out, or use --overwrite") from error
    if work.done and say:
        note(f"going on after {work.done:,} of {work.total:,} episodes")
