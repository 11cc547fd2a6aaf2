"""`Study`: many trials in a folder, run in parallel processes; finished trials are never run again."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path

from repertoire.suites.files import keep_identity, read_trial, write_trial
from repertoire.suites.results import Key, TrialResult
from repertoire.suites.settings import StudySettings, trial_folder
from repertoire.suites.trial import Trial, trial_seed
from repertoire.workers import interrupts_blocked, worker_pool
from robots.errors import InvalidFileError
from robots.files import file_exists, make_folder, write_text
from robots.locks import locked

_REPORT_SECONDS = 0.5
_IGNORED = "# Working folders of trials are large and can be made again; results lie next to them.\n*/*/\n"


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        trials: number of all trials.
        ended: trials that are done, including those of earlier commands.
        running: share done of each trial that runs.
        last: result of the trial that finished last.
    """

    trials: int
    ended: set[Key]
    running: dict[Key, float] = field(default_factory=dict)
    last: TrialResult | None = None

    @property
    def done(self) -> float:
        """Number of trials done, where a running trial counts with its share."""
        return len(self.ended) + sum(self.running.values())

    def update(self, key: Key, share: float) -> None:
        """Note how far a trial is; a message may arrive after its trial has finished."""
        if key not in self.ended:
            self.running[key] = share

    def finish(self, result: TrialResult) -> None:
        """Note a trial's result."""
        self.running.pop(result.key, None)
        self.ended.add(result.key)
        self.last = result


class Study:
    """A study in a folder: `study.json` describes it, `trials/` holds the results of finished trials.

    Args:
        settings: what to run. A folder may be used again with more or fewer trials, algorithms or domains.
        folder: made if it is missing.
        dry: whether only to look at the folder, and to write nothing; such a study cannot be run.

    Raises:
        InvalidValueError: the folder holds a study of other settings.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(self, settings: StudySettings, folder: Path, *, dry: bool = False) -> None:
        self.settings = settings
        self.folder = folder
        self.trials = settings.plan(folder)
        keep_identity(folder, settings.identity(), dry=dry)
        ignored = folder / "trials" / ".gitignore"
        if settings.episodes and not dry and not file_exists(ignored):
            make_folder(ignored.parent)
            write_text(ignored, _IGNORED)

    def results(self) -> list[TrialResult]:
        """Return the finished trials among those of the settings.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(_result_path(trial.folder)) for trial in self.trials if _is_finished(trial)]

    def all_results(self) -> list[TrialResult]:
        """Return all finished trials in the folder, also of earlier settings.

        Raises:
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(path) for path in sorted((self.folder / "trials").glob("*/[!.]*.h5"))]

    def remaining(self) -> list[Trial]:
        """Return the trials that are not finished.

        Raises:
            InvalidFileError: the folder cannot be read.
        """
        return [trial for trial in self.trials if not _is_finished(trial)]

    def run(self, *, processes: int, on_progress: Callable[[StudyProgress], None] | None = None) -> None:
        """Run the trials that are not finished; results are saved one by one, whatever happens then.

        Args:
            processes: trials at a time.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
            InvalidFileError: a result cannot be saved.
            InUseError: another process runs a study in the folder.
        """
        with locked(self.folder):
            progress = StudyProgress(len(self.trials), {result.key for result in self.results()})
            remaining = self.remaining()
            if remaining:
                self._run(remaining, processes, progress, on_progress or (lambda _: None))

    def _run(
        self,
        trials: Sequence[Trial],
        processes: int,
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials, and save each result as soon as it is there."""
        shares: Queue[tuple[Key, float]] = get_context("spawn").Queue()
        advice = "finished trials are saved, and the same command runs the others"
        with worker_pool(processes, _prepare, shares, advice=advice) as pool:
            with interrupts_blocked():
                pending = {pool.submit(_work, trial) for trial in trials}
            while pending:
                done, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                while not shares.empty():
                    progress.update(*shares.get())
                # results first: a process that died must not discard what others finished at the same time
                for future in sorted(done, key=lambda future: future.exception() is not None):
                    result = future.result()
                    self._save(result)
                    progress.finish(result)
                    on_progress(progress)
                on_progress(progress)

    def _read(self, path: Path) -> TrialResult:
        """Read a result; raise if it is that of another trial than the file's name says."""
        result = read_trial(path)
        own = _result_path(trial_folder(self.folder, result.key))
        if own != path or result.seed != trial_seed(self.settings.seed, result.key):
            raise InvalidFileError(f"{path} holds another trial: remove it to run the trial again")
        return result

    def _save(self, result: TrialResult) -> None:
        path = _result_path(trial_folder(self.folder, result.key))
        make_folder(path.parent)
        write_trial(path, result)


def _result_path(folder: Path) -> Path:
    """Return the file of the result of the trial that works in a folder, whose name may contain a dot."""
    return folder.with_name(f"{folder.name}.h5")


def _is_finished(trial: Trial) -> bool:
    return file_exists(_result_path(trial.folder))


_shares: "Queue[tuple[Key, float]] | None" = (
    None  # of a worker process, to tell its parent how far trials are
)


def _prepare(shares: "Queue[tuple[Key, float]]") -> None:
    """Prepare a worker process."""
    global _shares
    _shares = shares


def _work(trial: Trial) -> TrialResult:
    """Run a trial in a worker process."""
    assert _shares is not None
    shares, reported = _shares, 0.0

    def report(share: float) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            shares.put((trial.key, share))

    report(0.0)
    return trial.run(report)
