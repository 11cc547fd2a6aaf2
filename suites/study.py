"""`Study`: many trials in a folder, run in parallel processes; finished trials are never run again."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from robots.errors import InvalidFileError, InvalidValueError, shown
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.locks import locked
from robots.files.texts import read_json
from robots.workers import starting_processes, worker_pool
from suites.suite import Key, StudyResult, StudyTrial, Suite, result_path

_STUDY = "study.json"
_REPORT_SECONDS = 0.5
_PATIENCE = 1e6  # [s] for a process of this study that runs the trial whose result another one needs
_IGNORED = (
    "# Working folders of trials are large and can be made again; results lie next to them.\n*/*/\n.*.lock\n"
)


@dataclass
class StudyProgress:
    """How far a study is."""

    trials: int  # number of those to run
    ended: set[Key]  # trials that are done, including those of earlier commands
    running: dict[Key, float] = field(default_factory=dict)  # share done of each trial that runs
    last: StudyResult | None = None  # result of the trial that finished last

    @property
    def done(self) -> float:
        """Number of trials done, where a running trial counts with its share."""
        return len(self.ended) + sum(self.running.values())

    def update(self, key: Key, share: float) -> None:
        """Note how far a trial is; a message may arrive after its trial has finished."""
        if key not in self.ended:
            self.running[key] = share

    def finish(self, key: Key, result: StudyResult) -> None:
        """Note a trial's result."""
        self.running.pop(key, None)
        self.ended.add(key)
        self.last = result


class Study:
    """A study in a folder: `study.json` describes it, `trials/` holds the results of finished trials.

    Nothing is written until it runs.

    Args:
        suite: what to run. A folder may be used again with more or fewer trials or cases.
        folder: made if it is missing.
    """

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.suite, self.folder = suite, folder
        self.trials: Sequence[StudyTrial] = suite.plan()
        _united(folder, suite.identity())

    def path_of(self, trial: StudyTrial | StudyResult) -> Path:
        """The file of a trial's result, which says that the trial is finished."""
        return result_path(self.folder, trial.key, self.suite.suffix)

    def results(self) -> list[Any]:
        """The results of the finished trials among those of the suite."""
        return [self._read(self.path_of(trial)) for trial in self.trials if file_exists(self.path_of(trial))]

    def all_results(self) -> list[Any]:
        """The results of all finished trials in the folder, also of earlier settings."""
        pattern = f"*/[!.]*{self.suite.suffix}"
        return [self._read(path) for path in sorted((self.folder / "trials").glob(pattern))]

    def remaining(self) -> list[StudyTrial]:
        """The trials that are not finished."""
        return [trial for trial in self.trials if not file_exists(self.path_of(trial))]

    def run(self, *, processes: int, on_progress: Callable[[StudyProgress], None] = lambda _: None) -> None:
        """Run the trials that are not finished, each of whose results is saved at once.

        Args:
            processes: trials at a time.
            on_progress: called about twice a second.
        """
        make_folder(self.folder / "trials")
        with locked(self.folder / _STUDY):
            keep_identity(self.folder, self.suite.identity())
            write_text(self.folder / "trials" / ".gitignore", _IGNORED)
            self.results()  # what would make the report fail is better known before hours of work
            left = self.remaining()
            finished = {trial.key for trial in self.trials} - {trial.key for trial in left}
            if left:
                self._run(left, processes, StudyProgress(len(self.trials), finished), on_progress)

    def _run(
        self,
        trials: Sequence[StudyTrial],
        processes: int,
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
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
        """Write the report on results of the folder; returns its files."""
        if not results:
            raise InvalidValueError("there are no results to report")
        return self.suite.report(results, self.folder)

    def _read(self, path: Path) -> Any:
        """Read a result; raise if it is that of another trial than the file's name says."""
        result = self.suite.read(path)
        if self.path_of(result) != path or self.suite.trial_seed(result.key) != result.seed:
            raise InvalidFileError(f"{path} holds another trial: remove it to run the trial again")
        return result


# Of a worker process: what it runs, where, and what it tells
_worker: "tuple[Suite, Path, Queue[tuple[Key, float]]] | None" = None


def _prepare(suite: Suite, folder: Path, shares: "Queue[tuple[Key, float]]") -> None:
    global _worker
    _worker = suite, folder, shares


def _work(trial: StudyTrial) -> StudyResult:
    """Run a trial in a worker process and save its result."""
    assert _worker is not None
    (suite, folder, shares), reported = _worker, 0.0

    def report(share: float) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            shares.put((trial.key, share))

    result: StudyResult = run_trial(suite, folder, trial, report)
    return result


def run_trial(suite: Suite, folder: Path, trial: StudyTrial, report: Callable[[float], None]) -> Any:
    """Run a trial in this process and save its result; if another process runs it now, wait for that."""
    path = result_path(folder, trial.key, suite.suffix)
    make_folder(path.parent)
    with locked(path, patience=_PATIENCE):
        if file_exists(path):
            return suite.read(path)
        report(0.0)
        result = suite.run(trial, folder, report)
        suite.write(path, result)
        return result


def keep_identity(folder: Path, identity: Mapping[str, Any]) -> None:
    """Write what all results in a folder have in common to its `study.json`, or check it against that.

    Args:
        folder: that exists.
        identity: by name. A value that is a mapping, such as the evaluations by robot, may have other entries
            than in the folder: entries of both must agree, and all are kept.
    """
    write_text(folder / _STUDY, json.dumps(_united(folder, identity), indent=2) + "\n")


def _united(folder: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
    """The identity with the entries of that in the folder, if there is one, which must agree with it."""
    if not file_exists(folder / _STUDY):
        return dict(identity)
    read = read_json(folder / _STUDY)
    found = read if isinstance(read, dict) else {"of": "unknown kind"}
    whole = _overlaid(found, identity)
    if found.keys() != identity.keys() or whole != _overlaid(identity, found):
        raise InvalidValueError(
            f"{folder} holds another study ({_describe(found)}), not this one "
            f"({_describe(identity)}): choose another folder"
        )
    return dict(whole)


def _overlaid(below: Any, above: Any) -> Any:
    """The entries of two mappings, or of what is not a mapping the one above."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{name: _overlaid(below.get(name, value), value) for name, value in above.items()}}


def _describe(identity: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} ({_describe(value)})"
        if isinstance(value, Mapping)
        else f"{name} {value if isinstance(value, str) else shown(value)}"
        for name, value in identity.items()
    )
