"""Plugins: files and installed packages of users that add a damage, a selector or another kind of thing.

A plugin is a Python module that registers what it adds when it is imported. Modules of installed packages are
named by entry points of the group `surefoot.plugins`; single files are named on the command line or in the
environment variable `SUREFOOT_PLUGINS`, through which worker processes load them too.
"""

import importlib.util
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from robots.errors import InvalidFileError, one_line
from robots.files.atomic import explain_errors

GROUP = "surefoot.plugins"
VARIABLE = "SUREFOOT_PLUGINS"
_loaded: set[str] = set()


def load_plugins(files: str | Path | Sequence[str | Path] = ()) -> None:
    """Import plugins that are not imported yet: files, those of the environment variable, and entry points.

    Worker processes of this process will load the files too. A plugin runs as any Python code does.
    """
    known = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    named = [*known, *([files] if isinstance(files, str | Path) else files)]
    paths = list(dict.fromkeys(str(Path(path).resolve()) for path in named))
    for path in paths:
        if path not in _loaded:
            _load_file(path)
    if paths:
        os.environ[VARIABLE] = os.pathsep.join(paths)
    for point in entry_points(group=GROUP):
        if point.value not in _loaded:
            _load(point.value, point.name, point.load)


def _load_file(path: str) -> None:
    with explain_errors(f"the plugin {path} cannot be read"):
        if not Path(path).is_file():
            raise OSError("there is no such file")
        if os.pathsep in path:
            raise OSError(f"its path must not contain {os.pathsep!r}")
    name = f"surefoot_plugin_{zlib.crc32(path.encode())}_{Path(path).stem}"  # the same if it is loaded again
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidFileError(f"the plugin {path} is not a Python file: its name must end in .py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        _load(path, path, partial(spec.loader.exec_module, module))
    except InvalidFileError:
        del sys.modules[name]
        raise


def _load(key: str, plugin: str, load: Callable[[], object]) -> None:
    """Load a plugin, which counts as loaded meanwhile, or say why it cannot be."""
    _loaded.add(key)
    try:
        load()
    except (Exception, SystemExit) as error:
        _loaded.discard(key)
        raise InvalidFileError(
            f"the plugin {plugin} cannot be loaded: {type(error).__name__}: {one_line(error)}"
        ) from error
