"""`compiled`: the one decorator for functions that numba compiles, and where their machine code is kept.

Numba notices that a function changed, but not that another function that it calls did. The machine code is
therefore kept in a folder named after a hash of the modules with such functions and of all that they import,
where their constants come from: whatever is edited there, nothing stale is used. Functions of other packages
are none of its business: numba keeps them as it does without this module.
"""

import glob
import hashlib
import os
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
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

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

    def compile_when_called(function: _Function) -> _Function:
        kernel: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
        if not INTERPRETED:
            kernel._cache = _Cache(function)
        return kernel

    return compile_when_called


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
    options = {"error_model": "numpy"}
    pointer: Any = CFunc(function, normalize_signature(signature), locals={}, options=options)
    pointer._cache = _Cache(function)
    pointer.compile()
    return pointer


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


@cache
def machine_code() -> Path | None:
    """The folder for the machine code of the sources as they are; None where it cannot be written.

    It is in the user's folder for caches, or where `NUMBA_CACHE_DIR` says. Folders of other versions of the
    sources that were not used for some weeks are removed.
    """
    try:
        folder = Path(os.environ.get("NUMBA_CACHE_DIR") or _user_caches() / "surefoot")
    except RuntimeError:  # a user whom the system does not know, as in containers
        _say("this user has no home folder: machine code is not kept; NUMBA_CACHE_DIR names a folder for it")
        return None
    own = folder / f"kernels-{kernels_hash(Path(__file__).resolve().parents[1])}"
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(own)  # it is used as of now
        tempfile.TemporaryFile(dir=own).close()  # raises an error where nothing can be written
    except OSError as error:
        _say(
            f"{folder} cannot be written ({error.strerror}): machine code is not kept; NUMBA_CACHE_DIR names "
            "another folder"
        )
        return None
    for path in folder.iterdir():
        if path != own and _FOLDER.fullmatch(path.name) and not path.is_symlink():
            with suppress(OSError):  # another process is removing it
                if time.time() - path.stat().st_mtime > _WEEKS * 7 * 86_400:
                    shutil.rmtree(path, ignore_errors=True)
    return own


def _user_caches() -> Path:
    """The user's folder for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


class _Locator(UserProvidedCacheLocator):
    """Where the machine code of a function is kept."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str((machine_code() or Path()) / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator | None":
        """That of a function in a file; None where no file or folder is there."""
        return cls(function, file) if os.path.exists(file) and machine_code() else None  # noqa: PTH110


class _Entries(CompileResultCacheImpl):
    """Machine code in files of the folder for it, and nowhere else."""

    _locator_classes = [_Locator]  # noqa: RUF012


class _Cache(FunctionCache):
    """The kept machine code of a function: what is damaged is compiled anew, what cannot be kept is not."""

    _impl_class = _Entries

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)
        except (OSError, RuntimeError):  # there is no folder, or the function comes from no file
            self.disable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for a signature; None where it is not kept."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling raises anything, `MemoryError` too
            _say(f"machine code in {machine_code()} was damaged, as by a power cut: compiling anew")
            self._remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function compiled for a signature."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say(f"machine code cannot be kept in {machine_code()} ({error.strerror}): going on without")
            self._remove()

    def _remove(self) -> None:
        # all files of the function: with another index, what is left would be taken for another signature's
        for path in Path(self._cache_path).glob(glob.escape(self._impl.filename_base) + ".*"):
            with suppress(OSError):
                path.unlink()


@cache  # says the same only once, however many functions it is about
def _say(text: str) -> None:
    print(f"surefoot: {text}", file=sys.stderr)
