"""Calls of MuJoCo's C functions from compiled code, which spare the interpreter a visit every step."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@cache
def function_address(name: str) -> int:
    """Where a function of MuJoCo's library is in memory; it must take a model and data, and return nothing.

    Raises:
        OSError: the library, or the function in it, was not found.
    """
    return ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value or 0


@cache
def _library() -> ctypes.CDLL:
    """The library that the Python bindings have loaded already."""
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for path in sorted(folder.glob(pattern)):
            return ctypes.CDLL(str(path))
    raise OSError(f"{folder} holds no library of MuJoCo")


def _compiled() -> Callable[[int, int, int], None]:
    """The call for compiled code."""

    @intrinsic
    def call(context: Any, address: Any, model: Any, data: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = cgutils.voidptr_t
            kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), (pointer, pointer))
            function, *addresses = arguments
            builder.call(
                builder.inttoptr(function, kind.as_pointer()),
                [builder.inttoptr(value, pointer) for value in addresses],
            )
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp), generate

    return call  # type: ignore[return-value]


def _interpreted(address: int, model: int, data: int) -> None:
    """The call where compilation is switched off."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(model, data)


# call(address, model, data): call the function at an address with a model and data at theirs
call = _interpreted if numba.config.DISABLE_JIT else _compiled()  # type: ignore[attr-defined]
