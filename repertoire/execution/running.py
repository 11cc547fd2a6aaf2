"""How work is run, with checkpoints and one thread of BLAS; and the software that its result depends on."""

import math
import platform
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from robots.arrays import real_number

_PACKAGES = ("surefoot", "mujoco", "numpy", "numba", "scipy", "h5py")  # SciPy for its BLAS and nearest cells
_PLAIN = (str, bytes, int, float, complex, type(None), type)
_lock = threading.Lock()
_limits: list[Any] = []  # one for each `one_blas_thread` that has not ended


def run_with_checkpoints(
    step: Callable[[], object],
    save: Callable[[], None] | None,
    *,
    finished: Callable[[], bool],
    seconds: float,
    stop: Callable[[], bool] | None,
) -> None:
    """Take steps until the work is finished or `stop` says so, saving on the way and at the end.

    It is saved first after the first step: from then on the work can be resumed. With 0 seconds between saves
    it is saved after every step.
    """
    seconds = real_number("checkpoint_seconds", seconds, 0, unit="s")
    saved_at = -math.inf
    with one_blas_thread():
        while not finished() and not (stop and stop()):
            step()
            if save and not finished() and time.monotonic() - saved_at >= seconds:
                save()
                saved_at = time.monotonic()
        if save:
            save()


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


def software_versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on, by name."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def processor_name() -> str:
    """Name of this machine's processor, as far as it is known."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
