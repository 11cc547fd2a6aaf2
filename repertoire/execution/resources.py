"""What a run takes of the machine: threads of BLAS, and memory of arrays."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from threadpoolctl import threadpool_limits

_PLAIN = (str, bytes, int, float, complex, type(None), type)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS, the library of linear algebra, to one thread: its results depend on how many it has."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


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
