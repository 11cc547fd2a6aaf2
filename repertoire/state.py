"""States: flat dictionaries of arrays, in whose names "/" parts groups; and checks of arrays."""

from collections.abc import Mapping

import numpy as np

from robots.arrays import real_array, refuse_masked
from robots.errors import InvalidValueError
from robots.files.texts import LARGEST

_LARGEST = 1e60  # of a number in a state, so that products of some of them do not overflow


def nested(**parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the state whose groups are the states of parts."""
    return {f"{part}/{name}": value for part, state in parts.items() for name, value in state.items()}


def select(state: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the part of a state whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def check_state(state: Mapping[str, np.ndarray], like: Mapping[str, np.ndarray]) -> None:
    """Refuse a state that is not like another one, of which only the lengths of arrays may differ."""
    for name, own in like.items():
        if name not in state:
            raise InvalidValueError(f"the state lacks {name}")
        found = state[name]
        if (found.dtype, found.ndim, found.shape[1:]) != (own.dtype, own.ndim, own.shape[1:]):
            raise InvalidValueError(
                f"{name} must be {own.dtype} of shape {own.shape}, not {found.dtype} of shape {found.shape}"
            )
        if found.dtype.kind == "f":
            limit = min(_LARGEST, float(np.finfo(found.dtype).max))
            if not ((np.abs(found) <= limit) | np.isneginf(found)).all():
                raise InvalidValueError(f"{name} must be finite and from {-limit:g} to {limit:g}")


def checked_floats(name: str, values: object, shape: tuple[int, ...]) -> np.ndarray:
    """Return a float64 copy of finite values of a shape."""
    array = real_array(name, values)
    check_shape(name, array, shape)
    if not (np.abs(array) <= LARGEST).all():
        raise InvalidValueError(f"{name} must be finite and from {-LARGEST:g} to {LARGEST:g}")
    return array


def check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != expected:
        raise InvalidValueError(f"{name} must have shape {expected}, got {array.shape}")


def checked_batch(
    name: str, values: np.ndarray, shape: tuple[int, ...], dtype: type[np.floating] = np.float64
) -> np.ndarray:
    """Return finite values (n, ...) as a contiguous array, which is not a copy if they are one already."""
    refuse_masked(values)
    array = np.ascontiguousarray(values, dtype)
    check_shape(name, array, shape)
    # extremes first: they need no further array
    if array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):
        finite = (np.abs(array) <= LARGEST).all(axis=tuple(range(1, array.ndim)))  # (n,)
        indices = ", ".join(map(str, np.flatnonzero(~finite)[:10]))
        raise InvalidValueError(f"{name} must be finite, up to {LARGEST:g}, but are not at index {indices}")
    return array
