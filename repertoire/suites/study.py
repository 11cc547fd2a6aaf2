"""`Study`: many trials in a folder, run in parallel processes, of which finished ones are never run again."""

import json
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty

from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.progress import StudyProgress
from repertoire.suites.result import TrialResult
from repertoire.suites.runner import Key, TrialPlan, run_trial
from robots.atomic import file_exists, make_folder, write_text
from robots.errors import InvalidFileError, InvalidValueError, SurefootError

_REPORT_SECONDS = 0.5


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
            InvalidFileError: a trial's file is damaged, or holds another trial.
        """
        return [self._read(plan) for plan in self.settings.plans() if file_exists(self._path(plan))]

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
        progress = StudyProgress(plans, processes)
        for result in self.results():
            progress.finish(result)
        progress.last = None
        if waiting:
            _Workers(processes).run(waiting, self._save, progress, on_progress or (lambda _: None))

    def _read(self, plan: TrialPlan) -> TrialResult:
        path = self._path(plan)
        result = read_trial(path)
        if (result.domain, result.algorithm, result.trial, result.seed) != (*plan.key, plan.seed):
            raise InvalidFileError(f"{path} holds another trial: remove it, and it is run again")
        return result

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
        except (OSError, ValueError, RecursionError) as error:
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
        try:
            with _interrupts_held_back():
                pending = {self._pool.submit(_work, plan) for plan in plans}
            while pending:
                done, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                self._listen(progress)
                # a process that died must not take along what others finished at the same time
                for future in sorted(done, key=lambda future: future.exception() is not None):
                    self._finish(future, save, progress)
                    on_progress(progress)
                on_progress(progress)
        finally:
            self._end()

    def _listen(self, progress: StudyProgress) -> None:
        """Take in what the processes say of their progress."""
        while True:
            try:
                progress.hear(*self._messages.get_nowait())
            except Empty:
                return

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
        progress.finish(result)

    def _end(self) -> None:
        """Stop whatever still runs."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back; processes that are started meanwhile never see it, not even before `_prepare`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_messages: "Queue[tuple[Key, float]] | None" = None


def _prepare(messages: "Queue[tuple[Key, float]]") -> None:
    """Make a process ready: Ctrl-C is the parent's business."""
    global _messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _messages = messages


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is None or parent.is_alive()


def _work(plan: TrialPlan) -> TrialResult:
    """Run a trial in a process of the pool."""
    told = -math.inf

    def tell(evaluations: int) -> None:
        nonlocal told
        if not _parent_lives():
            os._exit(1)  # nobody is there to take the result
        if _messages is not None and time.monotonic() - told >= _REPORT_SECONDS:
            told = time.monotonic()
            share = min(evaluations / plan.evaluations, 1.0)  # the last batch may exceed it
            _messages.put((plan.key, share))

    tell(0)
    return run_trial(plan, on_progress=tell)
