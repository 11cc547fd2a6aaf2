"""`Study`: many trials in a folder, run in parallel processes; finished trials are never run again."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from repertoire.execution.workers import starting_processes, worker_pool
from robots.errors import InUseError, InvalidFileError, InvalidValueError, shown
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.locks import locked
from robots.files.texts import read_json
from suites.suite import Key, StudyResult, StudyTrial, Suite, result_path

_STUDY = "study.json"
_REPORT_SECONDS = 0.5
_PATIENCE = 30.0  # [s] for other processes that begin at the same moment
_REPORT_PATIENCE = 900.0  # [s] for another process that writes the same report
_IGNORED = (
    "# Working folders of trials are large and can be made again; results lie next to them.\n*/*/\n.*.lock\n"
)


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        trials: number of those to run.
        ended: trials that are done, including those of earlier commands.
        elsewhere: trials that other processes run when there is nothing else left to do.
        running: share done of each trial that runs.
        last: result of the trial that finished last.
    """

    trials: int
    ended: set[Key]
    elsewhere: set[Key] = field(default_factory=set)
    running: dict[Key, float] = field(default_factory=dict)
    last: StudyResult | None = None

    @property
    def done(self) -> float:
        """Number of trials done, where a running trial counts with its share."""
        return len(self.ended) + sum(self.running.values())

    def update(self, key: Key, share: float) -> None:
        """Note how far a trial is; a message may arrive after its trial has finished."""
        if key not in self.ended:
            self.running[key] = share

    def finish(self, key: Key, result: StudyResult | None) -> None:
        """Note a trial's result; None if another process was quicker to claim it."""
        self.running.pop(key, None)
        if result is not None:
            self.ended.add(key)
            self.last = result


class Study:
    """A study in a folder: `study.json` describes it, `trials/` holds the results of finished trials.

    Any number of processes, on any machines that share the folder, may run the same study: each claims a
    trial before it runs it, by a lock that ends with the process.

    Args:
        suite: what to run. A folder may be used again with more or fewer trials or cases.
        folder: made if it is missing.
        dry: whether only to look at the folder, and to write nothing; such a study cannot be run.

    Raises:
        InvalidValueError: the folder holds a study of other settings.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(self, suite: Suite, folder: Path, *, dry: bool = False) -> None:
        self.suite = suite
        self.folder = folder
        self.trials: Sequence[StudyTrial] = suite.plan()
        keep_identity(folder, suite.identity(), dry=dry)
        ignored = folder / "trials" / ".gitignore"
        if not dry and not file_exists(ignored):
            make_folder(ignored.parent)
            with locked(ignored, patience=_PATIENCE):
                write_text(ignored, _IGNORED)

    def path_of(self, trial: StudyTrial | StudyResult) -> Path:
        """The file of a trial's result, which says that the trial is finished."""
        return result_path(self.folder, trial.key, self.suite.suffix)

    def results(self) -> list[Any]:
        """The results of the finished trials among those of the suite."""
        return [self._read(self.path_of(trial)) for trial in self.trials if self._is_finished(trial)]

    def all_results(self) -> list[Any]:
        """The results of all finished trials in the folder, also of earlier settings."""
        pattern = f"*/[!.]*{self.suite.suffix}"
        return [self._read(path) for path in sorted((self.folder / "trials").glob(pattern))]

    def remaining(self) -> list[StudyTrial]:
        """The trials that are not finished."""
        return [trial for trial in self.trials if not self._is_finished(trial)]

    def run(
        self,
        *,
        processes: int,
        only: StudyTrial | None = None,
        on_progress: Callable[[StudyProgress], None] = lambda _: None,
    ) -> StudyProgress:
        """Run the trials that are neither finished nor run by others; each result is saved at once.

        Args:
            processes: trials at a time.
            only: the only trial to run; all of them by default.
            on_progress: called about twice a second.

        Returns:
            What was done, and which trials other processes run.
        """
        self.results()  # what would make the report fail is better known before hours of work
        wanted = self.trials if only is None else [only]
        progress = StudyProgress(len(wanted), {trial.key for trial in wanted if self._is_finished(trial)})
        # again, for trials whose process has died meanwhile
        while trials := [one for one in wanted if not (self._is_finished(one) or self._is_claimed(one))]:
            self._run(trials, processes, progress, on_progress)
        progress.elsewhere = {trial.key for trial in wanted if not self._is_finished(trial)}
        return progress

    def _run(
        self,
        trials: Sequence[StudyTrial],
        processes: int,
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials in worker processes."""
        with starting_processes():
            shares: Queue[tuple[Key, float]] = get_context("spawn").Queue()
        advice = "finished trials are saved, and the same command runs the others"
        arguments = self.suite, self.folder, shares
        with worker_pool(min(processes, len(trials)), _prepare, *arguments, advice=advice) as pool:
            with starting_processes():
                pending = {pool.submit(_work, trial): trial.key for trial in trials}
            while pending:
                done, _ = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                while not shares.empty():
                    progress.update(*shares.get())
                # results first: a process that died must not hide what others finished at the same time
                for future in sorted(done, key=lambda future: future.exception() is not None):
                    progress.finish(pending.pop(future), future.result())
                    on_progress(progress)
                on_progress(progress)

    def report(self, results: Sequence[Any]) -> list[Path]:
        """Write the report on results of the folder; returns its files.

        Another process that reports on the same study comes first or later: the files are of the same trials.

        Raises:
            InvalidValueError: there are no results.
        """
        if not results:
            raise InvalidValueError("there are no results to report")
        with locked(self.folder / "report.md", patience=_REPORT_PATIENCE):
            return self.suite.report(results, self.folder)

    def _read(self, path: Path) -> Any:
        """Read a result; raise if it is that of another trial than the file's name says."""
        result = self.suite.read(path)
        if self.path_of(result) != path or self.suite.trial_seed(result.key) != result.seed:
            raise InvalidFileError(f"{path} holds another trial: remove it to run the trial again")
        return result

    def _is_finished(self, trial: StudyTrial) -> bool:
        return file_exists(self.path_of(trial))

    def _is_claimed(self, trial: StudyTrial) -> bool:
        """Whether another process runs a trial."""
        path = self.path_of(trial)
        make_folder(path.parent)
        try:
            with locked(path):
                return False
        except InUseError:
            return True


# Of a worker process: what it runs, where, and what it tells
_worker: "tuple[Suite, Path, Queue[tuple[Key, float]]] | None" = None


def _prepare(suite: Suite, folder: Path, shares: "Queue[tuple[Key, float]]") -> None:
    """Prepare a worker process."""
    global _worker
    _worker = suite, folder, shares


def _work(trial: StudyTrial) -> StudyResult | None:
    """Run a trial in a worker process and save its result, unless another process claimed it: then None."""
    assert _worker is not None
    (suite, folder, shares), reported = _worker, 0.0

    def report(share: float) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            shares.put((trial.key, share))

    return run_claimed(suite, folder, trial, report)


def run_claimed(suite: Suite, folder: Path, trial: StudyTrial, report: Callable[[float], None]) -> Any:
    """Claim a trial, run it in this process, and save its result.

    Args:
        suite: of the trial.
        folder: of the study.
        trial: to run.
        report: see `Suite.run`.

    Returns:
        The result, also if another process has finished the trial; None if another process runs it now.
    """
    path = result_path(folder, trial.key, suite.suffix)
    make_folder(path.parent)
    with ExitStack() as claim:
        try:
            claim.enter_context(locked(path))
        except InUseError:
            return None
        if file_exists(path):
            return suite.read(path)
        report(0.0)
        result = suite.run(trial, folder, report)
        suite.write(path, result)
        return result


def keep_identity(folder: Path, identity: Mapping[str, Any], *, dry: bool = False) -> None:
    """Write what all results in a folder have in common to its `study.json`, or check it against that.

    Args:
        folder: made if it is missing.
        identity: by name. A value that is a mapping, such as the evaluations by robot, may have other entries
            than in the folder: entries of both must agree, and all are kept.
        dry: whether only to check, and to write nothing.

    Raises:
        InvalidValueError: the folder belongs to another study.
    """
    path = folder / _STUDY
    found = _read_identity(path)
    if _united(path, found, identity) == found or dry:
        return  # as for most of many processes that share the folder
    make_folder(folder)
    with locked(path, patience=_PATIENCE):
        whole = _united(path, _read_identity(path), identity)
        write_text(path, json.dumps(whole, indent=2) + "\n")


def _read_identity(path: Path) -> dict[str, Any] | None:
    """What is written down, if anything; an entry that fits no study if it is something else."""
    if not file_exists(path):
        return None
    found = read_json(path)
    return found if isinstance(found, dict) else {"of": "unknown kind"}


def _united(path: Path, found: dict[str, Any] | None, identity: Mapping[str, Any]) -> dict[str, Any]:
    """The identity with the entries of the one that was found, which must agree with it."""
    if found is None:
        return dict(identity)
    whole = _overlaid(found, identity)
    if found.keys() != identity.keys() or whole != _overlaid(identity, found):
        raise InvalidValueError(
            f"{path.parent} holds another study ({_describe(found)}), not this one "
            f"({_describe(identity)}): choose another folder"
        )
    return whole


def _overlaid(below: Any, above: Any) -> Any:
    """The entries of two mappings, or of what is not a mapping the one above."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{name: _overlaid(below.get(name, value), value) for name, value in above.items()}}


def _describe(identity: Mapping[str, Any]) -> str:
    """Return an identity in words."""
    return ", ".join(
        f"{name} ({_describe(value)})"
        if isinstance(value, Mapping)
        else f"{name} {value if isinstance(value, str) else shown(value)}"
        for name, value in identity.items()
    )
