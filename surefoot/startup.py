"""Settings of the command line's process, and of those that it starts.

Nothing else changes a process: whoever imports Surefoot keeps environment and handlers as they are.
"""

import io
import os
import sys
from contextlib import chdir
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_CANVASES = "0 1 on off true false enable enabled disable disabled glfw glx wgl cgl"
_LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}  # without which MuJoCo cannot be imported
_LOCKING = ("", "0", "1", "true", "false", "best_effort")
_MOST_FILES = 4096  # open at a time; a worker of a local cluster takes some 20
_OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - `pathlib` would be imported here


def distrust_current_folder() -> None:
    """Have this process and those that it starts neither run nor obey what lies in the current folder.

    It may be anybody's, as one for downloads is. Call this before anything else is imported.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["MATPLOTLIBRC"] = os.devnull  # a picture is the same whatever the user's own look like
    os.environ["MPLBACKEND"] = "agg"  # pictures are files
    home = os.path.dirname(_OWN)  # noqa: PTH120
    if not sys.flags.safe_path and sys.path[:1] != [home]:  # `python -m` puts the current folder first
        del sys.path[:1]
    sys.meta_path.insert(0, _NumbaElsewhere)


class _NumbaElsewhere:
    """Has numba, which has no option for it, not read its settings in the current folder."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        spec = PathFinder.find_spec(name, path, target) if name == "numba.core.config" else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_elsewhere(module: Any) -> None:
                try:
                    with chdir(_OWN):
                        load(module)
                except FileNotFoundError:  # the current folder is gone, and so are settings in it
                    load(module)
                module._config_fname = os.devnull  # which it reads again whenever it compiles

            spec.loader.exec_module = load_elsewhere  # type: ignore[method-assign]
        return spec


def prepare_process() -> None:
    """Have what is printed fit the terminal, and libraries be imported.

    Raises:
        SurefootError: MuJoCo or HDF5 cannot be imported with what the environment says.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # of an encoding without the character
    if sys.platform != "win32":
        import resource

        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY and files < _MOST_FILES:
            more = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, most))
    canvas, locking = (
        os.environ.get(name, "").lower().strip() for name in ("MUJOCO_GL", "HDF5_USE_FILE_LOCKING")
    )
    _check("MUJOCO_GL", _can_draw(canvas), "a kind of OpenGL that this machine has")
    _check("HDF5_USE_FILE_LOCKING", locking in _LOCKING, "TRUE, FALSE or BEST_EFFORT")


def _check(name: str, fine: bool, expected: str) -> None:
    """Refuse a value of an environment variable with which a library cannot be imported."""
    from robots.errors import SurefootError

    if not fine:
        value = os.environ[name]
        raise SurefootError(
            f"the environment variable {name} is {value!r}: it must be {expected}, or not set"
        )


def _can_draw(canvas: str) -> bool:
    """Whether MuJoCo can be imported with a value of MUJOCO_GL."""
    if canvas in _LIBRARIES:
        import ctypes.util

        return ctypes.util.find_library(_LIBRARIES[canvas]) is not None
    return not canvas or canvas in _CANVASES.split()
