"""`Workers`: processes that run trials side by side."""

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.queues import Queue
from queue import Empty

from repertoire.suites.plan import Key, Plan
from repertoire.suites.progress import StudyProgress
from repertoire.suites.results import TrialResult
from robots.errors import SurefootError

_REPORT_SECONDS = 0.5


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
        plans: Sequence[Plan],
        save: Callable[[TrialResult], None],
        progress: StudyProgress,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        """Run trials, and save each as it finishes.

        Args:
            plans: of the trials.
            save: takes the result of a trial.
            progress: is told of what happens.
            on_progress: called about twice a second.

        Raises:
            SurefootError: a trial cannot be run, or its process died.
        """
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


def _work(plan: Plan) -> TrialResult:
    """Run a trial in a process of the pool."""
    told = -math.inf

    def tell(share: float) -> None:
        nonlocal told
        if not _parent_lives():
            os._exit(1)  # nobody is there to take the result
        if _messages is not None and time.monotonic() - told >= _REPORT_SECONDS:
            told = time.monotonic()
            _messages.put((plan.key, share))

    tell(0.0)
    return plan.run(tell)
