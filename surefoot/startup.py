"""`prepare_process`: what the environment of a command may not spoil, settled before anything is imported."""

import io
import os
import sys
from collections.abc import Callable

from robots.errors import SurefootError

_FEWEST_FILES = 64  # open at a time; a worker of a local cluster takes some 20 more
_MOST_FILES = 4096
_LEAST_MEMORY = 900_000_000  # [bytes] of addresses, of which libraries alone take most
_PER_CORE = 100_000_000  # [bytes] for the threads and buffers of linear algebra
_LOCKING = ("", "0", "1", "true", "false", "best_effort")
_CANVASES = "0 1 on off true false enable enabled disable disabled glfw glx wgl cgl"
_LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}  # without which MuJoCo cannot be imported


def prepare_process() -> None:
    """Make sure that what is printed can be, and that libraries find what they need.

    Raises:
        SurefootError: the environment or the limits of this process leave no room to work.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # of an encoding without the character
    os.environ["MPLBACKEND"] = "agg"  # pictures are files
    for name in ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"):  # of threads that are not used here
        os.environ.pop(name, None)
    _check("HDF5_USE_FILE_LOCKING", lambda value: value in _LOCKING, "TRUE, FALSE or BEST_EFFORT")
    _check("MUJOCO_GL", _can_draw, "a kind of OpenGL that this machine has")
    if sys.platform != "win32":
        _check_limits()


def _check(name: str, accepts: Callable[[str], bool], expected: str) -> None:
    """Refuse a value of an environment variable with which a library cannot be imported."""
    value = os.environ.get(name, "")
    if not accepts(value.lower().strip()):
        raise SurefootError(
            f"the environment variable {name} is {value!r}: it must be {expected}, or not set"
        )


def _can_draw(canvas: str) -> bool:
    """Whether MuJoCo can be imported with a value of MUJOCO_GL."""
    if canvas in _LIBRARIES:
        import ctypes.util

        return ctypes.util.find_library(_LIBRARIES[canvas]) is not None
    return not canvas or canvas in _CANVASES.split()


def _check_limits() -> None:
    """Raise the limit of open files where that is possible, and refuse limits too low to work with."""
    import resource

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _MOST_FILES:
        files = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
        if files < _FEWEST_FILES:
            raise SurefootError(
                f"only {files} files can be open at a time, but {_FEWEST_FILES} are needed: see ulimit -n"
            )
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    least = _LEAST_MEMORY + _PER_CORE * (os.cpu_count() or 1)
    if memory != resource.RLIM_INFINITY and memory < least:
        raise SurefootError(
            f"{memory / 1e6:.0f} MB of virtual memory are too few, at least {least / 1e6:.0f} MB are needed: "
            "see ulimit -v"
        )
