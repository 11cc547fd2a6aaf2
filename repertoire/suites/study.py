"""`Study`: many trials in a folder, run in parallel processes, of which finished ones are never run again."""

import json
import math
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from statistics import fmean

from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.result import TrialResult
from repertoire.suites.runner import TrialPlan, run_trial
from robots.atomic import file_exists, make_folder, write_text
from robots.errors import InvalidFileError, InvalidValueError, SurefootError

_REPORT_SECONDS = 0.5
Key = tuple[str, str, int]


@dataclass(frozen=True)
class StudySettings:
    """What decides the results of a study.

    Attributes:
        name: of the study, e.g. `optimization`.
        algorithms: names, in the order of the tables.
        domains: names, in the order of the tables.
        trials: of each algorithm in each domain.
        evaluations: of each trial.
        seed: from which every trial's seed derives.
    """

    name: str
    algorithms: tuple[str, ...]
    domains: tuple[str, ...]
    trials: int
    evaluations: int
    seed: int

    def plans(self) -> list[TrialPlan]:
        """All trials, the first of everything before the second of anything."""
        return [
            TrialPlan(domain, algorithm, trial, self.evaluations, self.seed)
            for trial in range(self.trials)
            for domain in self.domains
            for algorithm in self.algorithms
        ]


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        plans: all trials.
        processes: how many run at a time.
        finished: how many of them are done, those of earlier runs included.
        running: share done of each trial under way, by domain, algorithm and number.
        began: when each of these began [s, monotonic].
        seconds: how long the finished trials of each domain and algorithm took [s].
        last: the trial that finished last.
    """

    plans: Sequence[TrialPlan]
    processes: int
    finished: int = 0
    running: dict[Key, float] = field(default_factory=dict)
    began: dict[Key, float] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    last: TrialResult | None = None

    @property
    def trials(self) -> int:
        """How many there are."""
        return len(self.plans)

    @property
    def done(self) -> float:
        """Trials done, those under way by their share."""
        return self.finished + sum(self.running.values())

    def seconds_left(self) -> float:
        """Time left [s], nan while it is not known for some domain and algorithm."""
        now = time.monotonic()
        expected = {group: fmean(seconds) for group, seconds in self.seconds.items()}
        for key, share in self.running.items():
            if share > 0:
                expected.setdefault(key[:2], (now - self.began[key]) / share)
        planned = Counter((plan.domain, plan.algorithm) for plan in self.plans)
        left = 0.0
        for group, count in planned.items():
            shares = sum(share for key, share in self.running.items() if key[:2] == group)
            trials = count - len(self.seconds.get(group, ())) - shares
            left += trials * expected.get(group, math.nan) if trials > 0 else 0.0
        return left / self.processes


class Study:
    """A study in a folder: `study.json` says what it is, `trials/` holds what is done.

    Args:
        settings: what to run. A folder may be used again with more or fewer trials, algorithms or domains.
        folder: made if it is missing.

    Raises:
        InvalidValueError: the folder holds a study of another configuration.
        InvalidFileError: the folder cannot be made or read.
    """

    def __init__(self, settings: StudySettings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        identity = {"study": settings.name, "evaluations": settings.evaluations, "seed": settings.seed}
        self._claim(identity)

    def results(self) -> list[TrialResult]:
        """The finished trials among those that the settings ask for.

        Raises:
            InvalidFileError: a trial's file is damaged.
        """
        paths = [self._path(plan) for plan in self.settings.plans()]
        return [read_trial(path) for path in paths if file_exists(path)]

    def run(
        self,
        *,
        processes: int,
        on_progress: Callable[[StudyProgress], None] | None = None,
    ) -> None:
        """Run what is not done yet; what finishes is kept whatever happens then.

        Args:
            processes: trials at a time.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
            InvalidFileError: a result cannot be saved.
        """
        plans = self.settings.plans()
        waiting = [plan for plan in plans if not file_exists(self._path(plan))]
        progress = StudyProgress(plans, processes, finished=len(plans) - len(waiting))
        for result in self.results():
            progress.seconds.setdefault((result.domain, result.algorithm), []).append(result.seconds)
        if waiting:
            _Workers(processes).run(waiting, self._save, progress, on_progress or (lambda _: None))

    def _save(self, result: TrialResult) -> None:
        path = self._path_of(result.domain, result.algorithm, result.trial)
        make_folder(path.parent)
        write_trial(path, result)

    def _path(self, plan: TrialPlan) -> Path:
        return self._path_of(plan.domain, plan.algorithm, plan.trial)

    def _path_of(self, domain: str, algorithm: str, trial: int) -> Path:
        return self.folder / "trials" / domain / f"{algorithm}-{trial:02d}.h5"

    def _claim(self, identity: dict[str, object]) -> None:
        """Write down what the folder's trials have in common, or check it."""
        make_folder(self.folder)
        path = self.folder / "study.json"
        if not file_exists(path):
            write_text(path, json.dumps(identity, indent=2) + "\n")
            return
        try:
            found = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise InvalidFileError(f"{path} cannot be read: {error}") from error
        if found != identity:
            raise InvalidValueError(
                f"{self.folder} holds another study ({_describe(found)}), not this one "
                f"({_describe(identity)}): choose another folder with --out"
            )


def _describe(identity: object) -> str:
    """A study's identity in words."""
    if not isinstance(identity, dict):
        return "of unknown kind"
    return ", ".join(f"{name} {value}" for name, value in identity.items())


class _Workers:
    """Processes that run trials."""

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._messages: Queue[tuple[Key, float]] = context.Queue()
        self._pool = ProcessPoolExecutor(
            processes, mp_context=context, initializer=_prepare, initargs=(self._messages,)
        )

    def run(
        self,
        plans: Sequence[TrialPlan],
        save: Callable[[TrialResult], None],
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials, and save each as it finishes."""
        pending = {self._pool.submit(_work, plan) for plan in plans}
        try:
            while pending:
                done, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                self._listen(progress)
                for future in done:
                    self._finish(future, save, progress)
                on_progress(progress)
        finally:
            self._end()

    def _listen(self, progress: StudyProgress) -> None:
        """Take in what the processes say of their progress."""
        while True:
            try:
                key, share = self._messages.get_nowait()
            except Empty:
                return
            progress.began.setdefault(key, time.monotonic())
            progress.running[key] = share

    def _finish(
        self, future: "Future[TrialResult]", save: Callable[[TrialResult], None], progress: StudyProgress
    ) -> None:
        try:
            result = future.result()
        except BrokenProcessPool as error:
            raise SurefootError(
                "a trial's process died, perhaps for want of memory; finished trials are kept: run it again"
            ) from error
        save(result)
        self._listen(progress)  # what it said before it finished must not come after
        progress.running.pop((result.domain, result.algorithm, result.trial), None)
        progress.seconds.setdefault((result.domain, result.algorithm), []).append(result.seconds)
        progress.finished += 1
        progress.last = result

    def _end(self) -> None:
        """Stop whatever still runs."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


_messages: "Queue[tuple[Key, float]] | None" = None


def _prepare(messages: "Queue[tuple[Key, float]]") -> None:
    """Make a process ready: Ctrl-C is the parent's business."""
    global _messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _messages = messages


def _work(plan: TrialPlan) -> TrialResult:
    """Run a trial in a process of the pool."""
    key = plan.domain, plan.algorithm, plan.trial
    told = -math.inf

    def tell(evaluations: int) -> None:
        nonlocal told
        if _messages is not None and time.monotonic() - told >= _REPORT_SECONDS:
            told = time.monotonic()
            _messages.put((key, evaluations / plan.evaluations))

    tell(0)

    return run_trial(plan, on_progress=tell)
