"""Training runs in folders, where one process at a time works: how they start, go on and are logged."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from repertoire.algorithms.catalogue import AnyAlgorithm, configure
from repertoire.problems.catalogue import WalkSettings, find_problem, recorded_problem
from repertoire.problems.locomotion import Breaker
from repertoire.problems.problem import Problem
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, read_search
from repertoire.training.training import Training
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.atomic import check_writable, explain_errors, file_exists, new_folder, write_text
from robots.files.locks import locked
from robots.files.texts import read_text
from robots.robot import Robot
from robots.simulation.backend import Backend


@contextmanager
def start_training(
    problem: Problem | Robot | str | Path,
    algorithm: AnyAlgorithm,
    *,
    out: Path | None,
    overwrite: bool = False,
    backend: Backend | None = None,
    breaker: Breaker | None = None,
    **settings: object,
) -> Iterator[Training]:
    """Set up a new run, and keep other processes out of its folder meanwhile.

    `settings` are those of `WalkSettings` and `Settings`; see `find_problem` and `configure`. A run without a
    folder is not saved.
    """
    walk = {name: settings.pop(name) for name in WalkSettings.model_fields if name in settings}
    if out is not None and isinstance(problem, Robot):
        problem = problem.as_written()  # so that what is trained is what is saved
    found = find_problem(problem, backend=backend, breaker=breaker, **walk)
    training = Training(found, configure(found, algorithm, settings))
    if out is None:
        yield training
        return
    found.record.check_storable()
    path = RunFiles.of(out).repertoire
    with new_folder(out), locked(path):
        if file_exists(path) and not overwrite:
            raise InvalidValueError(
                f"{out} already holds a run: go on with surefoot train --resume {out}, or use --overwrite"
            )
        yield training


@contextmanager
def resume_training(
    out: Path, *, backend: Backend | None = None, breaker: Breaker | None = None
) -> Iterator[Training | None]:
    """Take a run up where it was last saved, and keep other processes out of its folder meanwhile.

    Yields:
        The run, or None if it had finished.
    """
    path = RunFiles.of(out).repertoire
    if not file_exists(path):
        raise InvalidFileError(f"{out} holds no run to resume: there is no {path.name} in it")
    with locked(path):  # before it is read, or another process might go on from there meanwhile
        repertoire = read_repertoire(path)
        state = read_search(path)
        if state is None:
            yield None
            return
        problem = recorded_problem(repertoire.problem, backend=backend, breaker=breaker)
        training = Training(problem, repertoire.settings)
        if len(repertoire) and not len(repertoire.history.get("evaluations", ())):
            raise InvalidFileError(f"{path}: there are elites, but no history of how they came about")
        try:
            training.restore(repertoire, state)
        except (KeyError, ValueError, TypeError, IndexError, OverflowError, InvalidValueError) as error:
            raise InvalidFileError(f"{path}: the search state does not fit the settings: {error}") from error
        yield training


_MOST = 2_000_000_000  # bytes of a log, which are millions of batches


class TrainingLog:
    """Writes a row after each batch to a CSV file, which begins with the first row.

    Of a file that an earlier process of the same run wrote, the rows up to its last checkpoint stay, and
    `seconds` goes on from there.

    Args:
        path: of the file.
        history: of the run so far, which is empty at its start.
    """

    def __init__(self, path: str | Path, history: Mapping[str, list[float]]) -> None:
        self._path, self._seconds = Path(path), 0.0
        self._names: list[str] = []  # histories that were read have another order
        self._kept: str | None = ""  # what the first row follows
        check_writable(self._path)
        if history and file_exists(self._path) and self._path.stat().st_size:
            self._keep(history)

    def _keep(self, history: Mapping[str, list[float]]) -> None:
        """Keep what belongs to the run so far, and know its columns and its time."""
        header, *lines = read_text(self._path, most=_MOST).splitlines(keepends=True) or ["\n"]
        self._names = header.strip().split(",")
        whole = [line for line in lines if line.endswith("\n")]  # the last one may have been cut off
        try:
            rows = [dict(zip(self._names, map(float, line.split(",")), strict=True)) for line in whole]
        except ValueError as error:
            raise InvalidFileError(f"{self._path} is not the log of a training: {error}") from error
        if {*self._names} != {*history, "seconds", "evaluations_per_s"}:
            raise InvalidFileError(f"{self._path} is not the log of this run: it has other columns")
        saved = [row for row in rows if row["evaluations"] <= history["evaluations"][-1]]
        self._seconds = saved[-1]["seconds"] if saved else 0.0
        self._kept = "".join([header, *whole[: len(saved)]])

    def __call__(self, row: Mapping[str, float]) -> None:
        """Write a row, whose columns are always the same."""
        row = {**row, "seconds": self._seconds + row["seconds"]}
        if self._kept is not None:
            self._names = self._names or [*row]
            write_text(self._path, self._kept or ",".join(self._names) + "\n")
            self._kept = None
        line = ",".join(str(row[name]) for name in self._names) + "\n"
        with explain_errors(f"{self._path} cannot be written"), self._path.open("a") as file:
            file.write(line)
