"""`prepare_process`: what the environment of a command may not spoil, settled before anything is imported.

The current folder may be anybody's, as one for downloads or a shared one is: no code of it is run, and no
settings in it are obeyed, by this process and those that it starts.
"""

import io
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir, nullcontext
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_FEWEST_FILES = 64  # open at a time; a worker of a local cluster takes some 20 more
_MOST_FILES = 4096
_LEAST_MEMORY = 900_000_000  # [bytes] of addresses, of which libraries alone take most
_PER_CORE = 100_000_000  # [bytes] for the threads and buffers of linear algebra
_LOCKING = ("", "0", "1", "true", "false", "best_effort")
_CANVASES = "0 1 on off true false enable enabled disable disabled glfw glx wgl cgl"
_LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}  # without which MuJoCo cannot be imported
_OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - `pathlib` would be imported here
_READERS = ("matplotlib", "numba.core.config")  # modules that read settings of the current folder


def distrust_current_folder() -> None:
    """Have this process and those that it starts neither run nor obey what lies in the current folder."""
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["MATPLOTLIBRC"] = os.devnull  # a picture is the same whatever the user's own look like
    home = os.path.dirname(_OWN)  # noqa: PTH120
    if not sys.flags.safe_path:  # `python -m` puts the current folder first
        sys.path[:1] = [path for path in sys.path[:1] if path == home or path not in ("", _current_folder())]
    if _Elsewhere not in sys.meta_path:
        sys.meta_path.insert(0, _Elsewhere)


class _Elsewhere:
    """Finds modules that read settings of the current folder, and has them loaded in another one."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        spec = PathFinder.find_spec(name, path, target) if name in _READERS else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_elsewhere(module: Any) -> None:
                with _elsewhere():
                    load(module)
                if hasattr(module, "_config_fname"):  # numba reads it again whenever it compiles
                    module._config_fname = os.devnull

            spec.loader.exec_module = load_elsewhere  # type: ignore[method-assign]
        return spec


def _elsewhere() -> AbstractContextManager[None]:
    """Make the folder of this file the current one, unless there would be no way back."""
    try:
        os.chdir(_current_folder())
    except OSError:
        return nullcontext()  # and so nothing in it can be opened by its name
    return chdir(_OWN)


def _current_folder() -> str:
    """The current folder; "" where it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


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
    _check("HDF5_DRIVER", lambda value: value in ("", "sec2", "core"), "sec2 or core")
    _check("HDF5_VOL_CONNECTOR", lambda value: value in ("", "native"), "native")
    _check("MUJOCO_GL", _can_draw, "a kind of OpenGL that this machine has")
    canvas = os.environ.get("MUJOCO_GL", "").lower().strip()
    if canvas in _LIBRARIES:
        _check("PYOPENGL_PLATFORM", lambda value: value in ("", canvas), f"{canvas}, as MUJOCO_GL is")
    if "SOURCE_DATE_EPOCH" in os.environ:
        _check("SOURCE_DATE_EPOCH", lambda value: value.isdecimal() and len(value) < 12, "a time in seconds")
    if sys.platform != "win32":
        _check_limits()


def _check(name: str, accepts: Callable[[str], bool], expected: str) -> None:
    """Refuse a value of an environment variable with which a library cannot be imported."""
    from robots.errors import SurefootError

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

    from robots.errors import SurefootError

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
