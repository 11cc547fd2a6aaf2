"""Threads of the linear algebra libraries."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread.

    Its results depend on how many it has, and those of a run must not; and a search has threads of its own.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield
