"""`real_array`: arrays that users hand in."""

import numpy as np

from robots.errors import InvalidValueError


def real_array(name: str, values: object, dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Return a copy of real numbers as an array of floats; infinite where the type cannot hold them.

    Args:
        name: what they are, for the error.
        values: an array, or what NumPy makes one of.
        dtype: of the copy.

    Raises:
        InvalidValueError: they are complex, no numbers, beyond all that NumPy holds, or not an array.
    """
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise InvalidValueError(f"{name} must be an array of real numbers, not of {array.dtype}")
    with np.errstate(over="ignore"):
        return array.astype(dtype)
