"""What a run takes of the machine: threads of BLAS, and memory of arrays."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

_PLAIN = (str, bytes, int, float, complex, type(None), type)
_lock = threading.Lock()
_limits: list[Any] = []  # one for each `one_blas_thread` that has not ended


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS, the library of linear algebra, to one thread: its results depend on how many it has.

    Several may overlap in the threads of a process: the last one to end restores what the first one found.
    """
    from threadpoolctl import ThreadpoolController  # here, as importing it changes the environment

    limit = partial(ThreadpoolController().limit, limits=1, user_api="blas")
    with _lock:
        _limits.append(_apart(limit))
    try:
        with limit():  # for libraries that count for each thread
            yield
    finally:
        with _lock:
            last = _limits.pop()
            if not _limits:
                _apart(last.restore_original_limits)


def _apart(action: Callable[[], Any]) -> Any:
    """Do something in a thread of its own: while one that set a limit lives, no other can change it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(action).result()


def array_bytes(*objects: object) -> int:
    """Sum the sizes of all arrays in the attributes and collections of objects, each counted once."""
    seen: set[int] = set()
    total = 0
    waiting = list(objects)
    while waiting:
        item = waiting.pop()
        while isinstance(item, np.ndarray) and isinstance(item.base, np.ndarray):
            item = item.base  # a view keeps all of what it looks at
        if isinstance(item, _PLAIN) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, np.ndarray):
            total += item.nbytes
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, tuple | list | set | frozenset):
            waiting += item
        elif hasattr(item, "__dict__"):
            waiting += vars(item).values()
    return total
