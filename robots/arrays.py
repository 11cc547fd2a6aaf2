"""`real_array`, `any_array` and `kernel_array`: arrays that users hand in; `whole_number`: numbers."""

from numbers import Integral

import numpy as np

from robots.errors import InvalidValueError, shown


def real_array(name: str, values: object, dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Return a copy of real numbers as an array of floats; infinite where the type cannot hold them.

    Args:
        name: what they are, for the error.
        values: an array, or what NumPy makes one of.
        dtype: of the copy.

    Raises:
        InvalidValueError: they are complex, no numbers, beyond all that NumPy holds, or not an array.
    """
    array = any_array(values)
    if array.dtype.kind not in "biuf":
        raise InvalidValueError(f"{name} must be an array of real numbers, not of {array.dtype}")
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def any_array(values: object) -> np.ndarray:
    """Return what NumPy makes of values; an array of shape () of lists that differ in length."""
    try:
        return np.asarray(values)
    except (ValueError, OverflowError):
        return np.asarray(None)


def kernel_array(values: object) -> np.ndarray:
    """Return float32 numbers as compiled functions take them: contiguous and writable; a copy if need be."""
    return np.require(values, np.float32, ["C", "A", "W", "E"])


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number as Python's.

    Args:
        name: what it is, for the error.
        value: an integer, of NumPy or Python.
        least: the lowest that is accepted.
        most: the highest; None for any.

    Raises:
        InvalidValueError: it is none, or out of range.
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidValueError(f"{name} must be a whole number {limits}, not {shown(value)}")
    return number
