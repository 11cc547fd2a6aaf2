"""Training runs, each in a folder where one process at a time works: how they start and are resumed."""

from collections.abc import Iterator
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
from robots.files.atomic import file_exists, new_folder
from robots.files.locks import locked
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
    with Training(found, configure(found, algorithm, settings)) as training:
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
        with Training(problem, repertoire.settings) as training:
            if len(repertoire) and not len(repertoire.history.get("evaluations", ())):
                raise InvalidFileError(f"{path}: there are elites, but no history of how they came about")
            try:
                training.restore(repertoire, state)
            except (KeyError, ValueError, TypeError, IndexError, OverflowError, InvalidValueError) as error:
                raise InvalidFileError(
                    f"{path}: the search state does not fit the settings: {error}"
                ) from error
            yield training
