"""Samples: the values of a group, one number per trial."""

from collections.abc import Sequence

import numpy as np

from robots.errors import InvalidValueError

# Values whose relative spread is below this count as equal: sums of squares lose their digits beyond it
_EQUAL = 1e-7


def as_sample(name: str, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """The values as an array, (n,).

    Args:
        name: what messages call them.
        values: at least one, all finite.

    Raises:
        InvalidValueError: there are no values, or some are not finite.
    """
    sample = np.asarray(values, float)
    if sample.ndim != 1 or not len(sample):
        raise InvalidValueError(f"{name} must be a list of at least one number")
    if not np.isfinite(sample).all():
        raise InvalidValueError(f"{name} must be finite, not {sample[~np.isfinite(sample)][0]}")
    return sample


def is_constant(sample: np.ndarray) -> bool:
    """Whether values are equal, to the digits that tests need."""
    return bool(np.ptp(sample) <= _EQUAL * np.abs(sample).max())
