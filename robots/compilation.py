"""`compiled`: the one decorator for functions that numba compiles, and where their machine code is kept.

Numba notices that a function changed, but not that another function that it calls did. The machine code is
therefore kept in a folder named after a hash of the modules with such functions and of all that they import,
where their constants come from: whatever is edited there, nothing stale is used.
"""

import atexit
import glob
import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import ccallback, dispatcher
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.serialize import dumps

_Function = TypeVar("_Function", bound=Callable[..., Any])

_settings: Any = numba.config
INTERPRETED = bool(_settings.DISABLE_JIT)  # whether `NUMBA_DISABLE_JIT` keeps kernels from being compiled
_PACKAGES = ("robots", "repertoire", "adapt", "suites", "surefoot")
# an import of a module of ours, and the names that are taken from it, which may be modules
_IMPORT = re.compile(
    r"\n *(?:from|import) ((?:{})\b[\w.]*)(?: import (\([^)]*\)|.*))?".format("|".join(_PACKAGES)).encode()
)
_WEEKS = 4  # after which the code of other versions of the sources is removed
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Return a decorator that compiles a function, without Python's global lock, and keeps the machine code.

    A division by zero gives infinity or NaN. `options` are further ones of `numba.njit`, such as `fastmath`.
    """
    return numba.njit(nogil=True, cache=True, error_model="numpy", **options)


@cache
def function_pointer(function: Callable[..., None], signature: Any) -> Callable[..., None]:
    """Compile a function so that other compiled functions can take it as an argument.

    What calls it is then compiled once, whichever function it is given.

    Args:
        function: of arrays and numbers, without a result.
        signature: numba's, of its arguments.
    """
    if INTERPRETED:
        return function
    return numba.cfunc(signature, cache=True, error_model="numpy")(function)


def sources_hash(root: Path) -> str:
    """A hash of the sources of all packages in a folder, 16 hexadecimal digits."""
    return _hash(_sources(root))


def kernels_hash(root: Path) -> str:
    """A hash of the sources on which machine code depends, 16 hexadecimal digits.

    These are the modules that import this one, and transitively what those import.
    """
    sources, needed = _sources(root), dict[str, bytes]()
    waiting = [name for name, source in sources.items() if __name__.encode() in source]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in sources:
            continue
        needed[name] = sources[name]
        waiting.append(name.rpartition(".")[0])
        for module, names in _IMPORT.findall(b"\n" + sources[name]):
            waiting.append(module.decode())
            waiting += [f"{module.decode()}.{taken.decode()}" for taken in re.findall(rb"\w+", names)]
    return _hash(needed)


def _sources(root: Path) -> dict[str, bytes]:
    """The sources of all packages in a folder, by the dotted name of the module."""
    start, sources = len(str(root)) + 1, {}
    for package in _PACKAGES:
        for path in (root / package).rglob("*.py"):
            name = str(path)[start:-3].replace(os.sep, ".")  # `relative_to` takes as long as all the rest
            sources[name.removesuffix(".__init__")] = path.read_bytes()
    return sources


def _hash(sources: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        digest.update(f"{name}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """The user's folder for machine code, for all versions of the sources.

    `NUMBA_CACHE_DIR` names another place for it.
    """
    if _settings.CACHE_DIR:
        return Path(_settings.CACHE_DIR)
    try:
        home = Path.home()
    except RuntimeError:  # a user whom the system does not know, as in containers
        home = Path(os.devnull)  # in which nothing can be made: `prepare_cache` then takes another place
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
    elif sys.platform == "darwin":
        caches = home / "Library" / "Caches"
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(caches) / "surefoot"


def prepare_cache(root: Path, folder: Path) -> Path:
    """Make the folder for the machine code of the sources as they are, and remove those that are long unused.

    Args:
        root: folder of the packages.
        folder: for all versions of the sources, see `cache_folder`.

    Returns:
        The folder; if `folder` cannot be written, one that processes of this one share and that is removed
        when this one ends.
    """
    own = folder / f"kernels-{kernels_hash(root)}"
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(own)  # it is used as of now
        tempfile.TemporaryFile(dir=own).close()  # raises an error where nothing can be written
    except OSError as error:
        own = Path(tempfile.mkdtemp(prefix="surefoot-"))  # readable by this user alone: the cache holds code
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = str(own)
        os.environ.setdefault("MPLCONFIGDIR", str(own))  # Matplotlib would complain of the same home
        print(f"surefoot: {folder} cannot be written ({error.strerror}): compiling anew", file=sys.stderr)
        return own
    _remove_unused(folder, keep=own)
    return own


def _remove_unused(folder: Path, *, keep: Path) -> None:
    """Remove the machine code of sources that no process has used for some weeks."""
    for path in folder.iterdir():
        if path == keep or path.is_symlink() or not _FOLDER.fullmatch(path.name):
            continue
        try:
            unused = time.time() - path.stat().st_mtime > _WEEKS * 7 * 86_400
        except OSError:  # another process is removing it
            continue
        if unused:
            shutil.rmtree(path, ignore_errors=True)


class _Entries(CompileResultCacheImpl):
    """Machine code in files of the folder for it, and nowhere else, with checksums."""

    _locator_classes = [UserProvidedCacheLocator]  # noqa: RUF012

    def reduce(self, data: Any) -> tuple[bytes, bytes]:
        """What is written of a compiled function."""
        content = dumps(super().reduce(data))
        return hashlib.sha256(content).digest(), content

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """The compiled function of which this was written."""
        digest, content = payload
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("the machine code is not what was written")
        return super().rebuild(target_context, pickle.loads(content))


class _Cache(FunctionCache):
    """The kept machine code of a function: what is damaged is compiled anew, what cannot be kept is not."""

    _impl_class = _Entries

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)
        except (OSError, RuntimeError):  # the folder cannot be written, or the function comes from no file
            self.disable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for a signature; None where it is not kept."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling raises anything, `MemoryError` too
            _say(f"machine code in {_settings.CACHE_DIR} was damaged, as by a power cut: compiling anew")
            self._remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function compiled for a signature."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say(f"machine code cannot be kept in {_settings.CACHE_DIR} ({error.strerror}): going on without")
            self._remove()

    def _remove(self) -> None:
        # all files of the function: with another index, what is left would be taken for another signature's
        for path in Path(self._cache_path).glob(glob.escape(self._impl.filename_base) + ".*"):
            with suppress(OSError):
                path.unlink()


@cache  # says the same only once, however many functions it is about
def _say(text: str) -> None:
    print(f"surefoot: {text}", file=sys.stderr)


ccallback.FunctionCache = dispatcher.FunctionCache = _Cache  # type: ignore[attr-defined]
_settings.CACHE_DIR = str(prepare_cache(Path(__file__).resolve().parents[1], cache_folder()))
