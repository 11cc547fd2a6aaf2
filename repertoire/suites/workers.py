"""`Workers`: processes that run trials in parallel, and `StudyProgress`: how far their study is."""

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from queue import Empty
from statistics import fmean

import numpy as np

from repertoire.suites.results import Key, TrialResult
from repertoire.suites.trial import Trial
from robots.errors import SurefootError

_REPORT_SECONDS = 0.5


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        plan: all trials.
        processes: how many run at a time.
        ended: trials that are done, including those of earlier commands.
        running: share done of each trial that runs.
        began: when each of these began [s, monotonic].
        seconds: how long the finished trials of each domain and algorithm took [s].
        last: result of the trial that finished last.
    """

    plan: Sequence[Trial]
    processes: int
    ended: set[Key] = field(default_factory=set)
    running: dict[Key, float] = field(default_factory=dict)
    began: dict[Key, float] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    last: TrialResult | None = None

    @property
    def trials(self) -> int:
        """Number of all trials."""
        return len(self.plan)

    @property
    def finished(self) -> int:
        """Number of trials that are done."""
        return len(self.ended)

    @property
    def done(self) -> float:
        """Number of trials done, where a running trial counts with its share."""
        return len(self.ended) + sum(self.running.values())

    def update(self, key: Key, share: float) -> None:
        """Note how far a trial is; a message may arrive after its trial has finished."""
        if key not in self.ended:
            self.began.setdefault(key, time.monotonic())
            self.running[key] = share

    def finish(self, result: TrialResult) -> None:
        """Note a trial's result."""
        self.running.pop(result.key, None)
        self.ended.add(result.key)
        self.seconds.setdefault(result.key[:2], []).append(result.seconds)
        self.last = result

    def seconds_left(self) -> float:
        """Return the time left [s]; nan while it is not known for some domain and algorithm."""
        now = time.monotonic()
        expected = {group: fmean(seconds) for group, seconds in self.seconds.items()}
        for key, share in self.running.items():
            if share > 0:
                expected.setdefault(key[:2], (now - self.began[key]) / share)
        left = [
            (1 - self.running.get(trial.key, 0.0)) * expected.get(trial.key[:2], math.nan)
            for trial in self.plan
            if trial.key not in self.ended
        ]
        # one trial is not shared among processes
        return float(np.max([sum(left) / self.processes, *left]))


class Workers:
    """Processes that run trials.

    Args:
        processes: how many.
    """

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._messages: Queue[tuple[Key, float]] = context.Queue()
        self._pool = ProcessPoolExecutor(
            processes, mp_context=context, initializer=_prepare, initargs=(self._messages,)
        )

    def run(
        self,
        trials: Sequence[Trial],
        save: Callable[[TrialResult], None],
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials, and save each result as soon as it is there.

        Args:
            trials: to run.
            save: takes the result of a trial.
            progress: is kept up to date.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
        """
        try:
            with _interrupts_blocked():
                pending = {self._pool.submit(_work, trial) for trial in trials}
            while pending:
                done, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
                self._read_messages(progress)
                # results first: a process that died must not discard what others finished at the same time
                for future in sorted(done, key=lambda future: future.exception() is not None):
                    result = _result_of(future)
                    save(result)
                    progress.finish(result)
                    on_progress(progress)
                on_progress(progress)
        finally:
            self._terminate()

    def _read_messages(self, progress: StudyProgress) -> None:
        """Read what the processes report."""
        while True:
            try:
                progress.update(*self._messages.get_nowait())
            except Empty:
                return

    def _terminate(self) -> None:
        """Stop whatever still runs."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _result_of(future: "Future[TrialResult]") -> TrialResult:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise SurefootError(
            "the process of a trial died, perhaps because there was too little memory; finished trials are "
            "saved: run the same command again"
        ) from error


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C; processes that are started meanwhile never see it, not even before `_prepare`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_messages: "Queue[tuple[Key, float]] | None" = None


def _prepare(messages: "Queue[tuple[Key, float]]") -> None:
    """Prepare a process; Ctrl-C is left to the parent, which then terminates it."""
    global _messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _messages = messages


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is None or parent.is_alive()


def _work(trial: Trial) -> TrialResult:
    """Run a trial in a process of the pool."""
    reported = -math.inf

    def report(share: float) -> None:
        nonlocal reported
        if not _parent_lives():
            os._exit(1)  # nobody is there to take the result
        if _messages is not None and time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            _messages.put((trial.key, share))

    report(0.0)
    return trial.run(report)
