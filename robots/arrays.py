"""`real_array`, `any_array` and `kernel_array`: arrays that users hand in; `whole_number`, `real_number`."""

import math
from numbers import Integral, Real

import numpy as np

from robots.errors import InvalidValueError, shown


def real_array(name: str, values: object, dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Return a copy of real numbers as an array of floats; infinite where the type cannot hold them."""
    array = any_array(values)
    if array.dtype.kind not in "biuf":
        raise InvalidValueError(f"{name} must be an array of real numbers, not of {array.dtype}")
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def any_array(values: object) -> np.ndarray:
    """Return what NumPy makes of values; an array of shape () of lists that differ in length."""
    refuse_masked(values)
    try:
        return np.asarray(values)
    except (ValueError, OverflowError):
        return np.asarray(None)


def kernel_array(values: object) -> np.ndarray:
    """Return float32 numbers as compiled functions take them: contiguous and writable; a copy if need be."""
    refuse_masked(values)
    return np.require(values, np.float32, ["C", "A", "W", "E"])


def refuse_masked(values: object) -> None:
    """Refuse entries that a mask says not to use: NumPy's functions would go on with what lies below it."""
    parts = values if isinstance(values, list | tuple) else [values]
    for part in parts:
        if isinstance(part, np.ma.MaskedArray) and np.ma.getmaskarray(part).any():
            raise InvalidValueError(
                f"{np.ma.count_masked(part)} of {part.size} entries of an array are masked: fill them, leave "
                "them out, or say that these evaluations failed"
            )


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number, of NumPy or Python, as Python's; `name` is what errors call it."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidValueError(f"{name} must be a whole number {limits}, not {shown(value)}")
    return number


def real_number(name: str, value: object, least: float, *, above: bool = False, unit: str = "") -> float:
    """Return a finite real number, of NumPy or Python, as Python's: at least `least`, or `above` it."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not math.isfinite(number) or number < least or (above and number == least):
        limit = f"{'above' if above else 'of at least'} {least:g}{unit and ' ' + unit}"
        raise InvalidValueError(f"{name} must be a finite number {limit}, not {shown(value)}")
    return number
