"""Threads: those of the linear algebra libraries, and work for our own."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread.

    Its results depend on how many it has, and those of a run must not; and a search has threads of its own.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def share_out(tasks: Sequence[Callable[[], object]], pool: ThreadPoolExecutor, threads: int) -> list[object]:
    """Call functions on the calling thread and others, each as soon as a thread is free.

    To wake a thread takes as long as a small task, so that every other one is woken once, not for each task,
    and the caller works instead of waiting.

    Args:
        tasks: independent of each other.
        pool: of the other threads.
        threads: how many work at most, the caller included.

    Returns:
        What they return, in their order.
    """
    results: list[object] = [None] * len(tasks)
    waiting = iter(range(len(tasks)))  # its next is a single instruction, which no other thread interrupts

    def work() -> None:
        for index in waiting:
            results[index] = tasks[index]()

    others = [pool.submit(work) for _ in range(min(threads, len(tasks)) - 1)]
    try:
        work()
    finally:
        for other in others:
            other.result()
    return results
