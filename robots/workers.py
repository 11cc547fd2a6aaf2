"""`worker_pool`: processes that know the user's plugins, never see Ctrl-C, and end with their parent."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker

from robots.errors import SurefootError
from robots.plugins import load_plugins

_SAFE = "PYTHONSAFEPATH"  # without it a struct.py there would be imported by every process


@contextmanager
def worker_pool(
    processes: int, prepare: Callable[..., None], *arguments: object, advice: str
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; whatever ends the body early, such as an interruption, ends them too.

    Each calls `prepare` with the arguments before its first task. Submit all work within
    `starting_processes`, which is when they start. `advice` is what a user can do if a process dies.
    """
    context = multiprocessing.get_context("spawn")
    initializer = partial(_start, prepare, *arguments)
    with starting_processes():
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=initializer)
    try:
        yield pool
        pool.shutdown()  # waits for a process that only starts, or it would miss what it is to share
    except BaseException as error:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SurefootError(
                f"a worker process died, perhaps because there was too little memory: {advice}"
            ) from error
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def starting_processes() -> Iterator[None]:
    """Block Ctrl-C meanwhile, and keep Python from importing what lies in the current folder.

    Processes that start here inherit both for good: their parent ends them, and names the folders of modules.
    """
    trusting = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    resource_tracker.ensure_running()  # or it would start with the first process, and unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if trusting is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = trusting
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM wait for the end of the body; only the main thread is ever interrupted."""
    caught: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handlers[number] = signal.signal(number, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])


def _start(prepare: Callable[..., None], *arguments: object) -> None:
    end_with_parent()
    load_plugins()
    prepare(*arguments)


def end_with_parent() -> None:
    """Have this process, started by `multiprocessing`, end as soon as its parent does, however that ends."""

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
