"""`compiled`: the one decorator for functions that numba compiles, and where their machine code is kept.

Numba does not notice that a function which a kernel calls was changed. The machine code is therefore kept in
a folder named after a hash of the sources that a kernel may depend on.
"""

import ctypes
import hashlib
import os
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
from numba import types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic
from numba.misc.appdirs import AppDirs

_Function = TypeVar("_Function", bound=Callable[..., Any])

_settings: Any = numba.config
INTERPRETED = bool(_settings.DISABLE_JIT)  # whether `NUMBA_DISABLE_JIT` keeps kernels from being compiled
_PACKAGES = ("robots", "repertoire", "adapt", "suites", "surefoot")  # each imports those before it alone
_APART = ("link", "importing", "rendering")  # rooms of robots that no kernel imports
_WEEKS = 4  # after which the code of other versions of the sources is removed


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


def _interpreted_call(address: int, first: int, second: int) -> None:
    """Call the function at an address with two pointers or numbers, where compilation is switched off."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(first, second)


def _compiled_call(_context: Any, _address: Any, _first: Any, _second: Any) -> tuple[Any, Callable]:
    """The same for compiled code. Numba's own function arguments cost 30 µs where Python passes them."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = cgutils.voidptr_t
        kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), (pointer, pointer)).as_pointer()
        function, *addresses = arguments
        builder.call(
            builder.inttoptr(function, kind), [builder.inttoptr(value, pointer) for value in addresses]
        )
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


call_address: Any = _interpreted_call if INTERPRETED else intrinsic(_compiled_call)


def sources_hash(root: Path, packages: tuple[str, ...] = _PACKAGES, without: tuple[str, ...] = ()) -> str:
    """A hash of the sources of packages in a folder, 16 hexadecimal digits, but for rooms of `robots`."""
    digest = hashlib.sha256()
    for path in sorted(path for package in packages for path in (root / package).rglob("*.py")):
        package, *rooms = path.parent.relative_to(root).parts
        if package != "robots" or not set(rooms) & set(without):
            source = path.read_bytes()
            digest.update(f"{package}/{'/'.join(rooms)}/{path.name}\0{len(source)}\0".encode())
            digest.update(source)
    return digest.hexdigest()[:16]


@cache
def machine_code(package: str) -> Path | None:
    """The folder for the machine code of a package; None where it cannot be written.

    It is in the user's folder for caches, or where `NUMBA_CACHE_DIR` says. Folders of other versions of the
    sources that were not used for some weeks are removed.
    """
    place = os.environ.get("NUMBA_CACHE_DIR") or AppDirs("surefoot", appauthor=False).user_cache_dir
    needed = _PACKAGES[: _PACKAGES.index(package) + 1] if package in _PACKAGES else _PACKAGES
    try:
        folder = Path(place).expanduser()  # raises RuntimeError for a user without a home, as in containers
        own = folder / f"kernels-{sources_hash(Path(__file__).resolve().parents[1], needed, _APART)}"
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(own)  # it is used as of now
        tempfile.TemporaryFile(dir=own).close()  # raises an error where nothing can be written
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        _say(f"machine code is not kept, as {place} cannot be written ({reason}); see NUMBA_CACHE_DIR")
        return None
    for path in folder.glob("kernels-" + 16 * "[0-9a-f]"):
        with suppress(OSError):  # another process is removing it
            if time.time() - path.stat().st_mtime > _WEEKS * 7 * 86_400:
                shutil.rmtree(path, ignore_errors=True)
    return own


class _Locator(UserProvidedCacheLocator):
    """Where the machine code of a function is kept."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str((_folder_of(function) or Path()) / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator | None":
        return cls(function, file) if Path(file).exists() and _folder_of(function) else None


def _folder_of(function: Callable[..., Any]) -> Path | None:
    return machine_code(function.__module__.partition(".")[0])


class _Entries(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 (numba's)


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
            _say("kept machine code was damaged, as by a power cut: compiling anew")
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say(f"machine code cannot be kept ({error.strerror}): going on without")
            self._forget()

    def _forget(self) -> None:
        # without its index numba writes every file of a function anew
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()


@cache  # says the same only once, however many functions it is about
def _say(text: str) -> None:
    print(f"surefoot: {text}", file=sys.stderr)
