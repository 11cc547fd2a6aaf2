"""What an archive refuses: each function raises an `InvalidValueError` of one sentence."""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from repertoire.archives.competition import Rule
from robots.errors import InvalidValueError


def checked_count(name: str, count: int) -> int:
    """Return a whole number that is at least 1."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise InvalidValueError(f"{name} must be a whole number of at least 1, got {count!r}")
    return int(count)


def checked_ranges(ranges: Sequence[tuple[float, float]] | np.ndarray) -> np.ndarray:
    """Return the (low, high) of each measure as (m, 2) float64."""
    bounds = as_floats("ranges", ranges)
    if bounds.ndim != 2 or bounds.shape[1] != 2 or not len(bounds):
        raise InvalidValueError(f"ranges must hold a (low, high) for each measure, got {ranges!r}")
    for i, (low, high) in enumerate(bounds.tolist()):
        if not (low < high and np.isfinite(high - low)):  # infinities, nans and too wide a range included
            raise InvalidValueError(f"ranges[{i}] must be finite with low < high, got ({low}, {high})")
    return bounds


def check_rule(learning_rate: float, min_objective: float, rule: str) -> None:
    """Refuse what thresholds cannot follow."""
    if not 0 <= learning_rate <= 1:
        raise InvalidValueError(f"learning_rate must be in [0, 1], got {learning_rate}")
    if np.isnan(min_objective) or min_objective == np.inf:
        raise InvalidValueError(f"min_objective must be finite or -inf, got {min_objective}")
    if min_objective == -np.inf and learning_rate < 1:
        # (1 - α)(-inf) + α f is -inf whatever f is: such a threshold could never rise
        raise InvalidValueError(f"a learning_rate of {learning_rate} needs a finite min_objective")
    if rule not in get_args(Rule):
        raise InvalidValueError(f"rule must be one of {', '.join(get_args(Rule))}, got {rule!r}")


def check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != expected:
        raise InvalidValueError(f"{name} must have shape {expected}, got {array.shape}")


def check_finite(name: str, array: np.ndarray) -> None:
    """Refuse an array (n, ...) that is not finite everywhere, with the indices where it is not."""
    finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))  # (n,)
    if not finite.all():
        indices = ", ".join(map(str, np.flatnonzero(~finite)))
        raise InvalidValueError(f"{name} must be finite, but are not at index {indices}")


def as_floats(name: str, values: object) -> np.ndarray:
    """Return values as a float64 array of whatever shape."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):  # text, or rows of different lengths
        raise InvalidValueError(f"{name} must hold numbers in rows of equal length, got {values!r}") from None
