"""The arrays of a repertoire file: which there are, and what is refused."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from robots.errors import InvalidValueError

HISTORY = "history/"
SPREAD = "spread/"


class Kind(NamedTuple):
    """What an array must be."""

    dtype: str
    rank: int


_NUMBERS, _INTEGER = Kind("<f8", 1), Kind("<i8", 0)
_REQUIRED = {
    "elites/cells": Kind("<i8", 1),
    "elites/solutions": Kind("<f4", 2),
    "elites/objectives": _NUMBERS,
    "elites/measures": Kind("<f8", 2),
    "thresholds": _NUMBERS,
}
# all of them or none
_OF_SPREAD = {
    "spread/objective_std": _NUMBERS,
    "spread/measure_std": Kind("<f8", 2),
    "spread/reproducibility": _NUMBERS,
    "spread/episodes": _INTEGER,
    "spread/seed": _INTEGER,
}
KINDS = _REQUIRED | _OF_SPREAD
# lowest, highest; what lies between must be finite
_RANGES = {
    "spread/objective_std": (0, math.inf),
    "spread/measure_std": (0, math.inf),
    "spread/reproducibility": (0, 1),
    "spread/episodes": (1, math.inf),
    "spread/seed": (0, math.inf),
}


def check_arrays(arrays: Mapping[str, np.ndarray], grid: tuple[int, ...]) -> None:
    """Refuse arrays that are not what the format says they are.

    Args:
        arrays: by their names in the file; those that the format does not know are nobody's business.
        grid: cells along each measure.

    Raises:
        InvalidValueError: one is missing, of the wrong type, rank or shape, or holds an impossible value.
    """
    expected = _REQUIRED | (_OF_SPREAD if has_spread(arrays) else {})
    for name in expected:
        if name not in arrays:
            raise InvalidValueError(f"the array {name!r} is missing")
    for name in (*expected, *columns_of_history(arrays)):
        array = arrays[name]
        dtype, rank = expected.get(name, (array.dtype, 1))
        if array.dtype != dtype or array.ndim != rank:
            raise InvalidValueError(
                f"{name!r} must be {np.dtype(dtype)} of rank {rank}, not {array.dtype} of rank {array.ndim}"
            )
    _check_elites(arrays, grid)
    _check_thresholds(arrays, grid)
    _check_history(arrays)
    if has_spread(arrays):
        _check_spread(arrays)


def check_shape(arrays: Mapping[str, np.ndarray], name: str, expected: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if arrays[name].shape != expected:
        raise InvalidValueError(f"{name!r} must have shape {expected}, not {arrays[name].shape}")


def columns_of_history(arrays: Iterable[str]) -> list[str]:
    """Names of the history's columns."""
    return [name for name in arrays if name.startswith(HISTORY)]


def has_spread(arrays: Iterable[str]) -> bool:
    """Whether there is any of what only a corrected repertoire has."""
    return any(name.startswith(SPREAD) for name in arrays)


def _check_elites(arrays: Mapping[str, np.ndarray], grid: tuple[int, ...]) -> None:
    """Refuse elites whose columns do not fit each other and the grid, or are not finite."""
    cells, total = arrays["elites/cells"], math.prod(grid)
    k = len(cells)
    check_shape(arrays, "elites/solutions", (k, arrays["elites/solutions"].shape[1]))
    check_shape(arrays, "elites/objectives", (k,))
    check_shape(arrays, "elites/measures", (k, len(grid)))
    if k and not (cells[0] >= 0 and cells[-1] < total and (cells[1:] > cells[:-1]).all()):
        raise InvalidValueError(
            f"'elites/cells' must be different numbers from 0 to {total - 1} in ascending order"
        )
    for name in ("elites/solutions", "elites/objectives", "elites/measures"):
        finite = np.isfinite(arrays[name]).all(axis=tuple(range(1, arrays[name].ndim)))
        if not finite.all():
            raise InvalidValueError(f"{name!r} must be finite, but {k - finite.sum()} of {k} rows are not")


def _check_thresholds(arrays: Mapping[str, np.ndarray], grid: tuple[int, ...]) -> None:
    """Refuse thresholds that are not one per cell, or impossible."""
    thresholds, total = arrays["thresholds"], math.prod(grid)
    check_shape(arrays, "thresholds", (total,))
    wrong = np.isnan(thresholds) | (thresholds == np.inf)  # -inf: nothing was accepted there yet
    if wrong.any():
        raise InvalidValueError(f"'thresholds' must be finite or -inf, but {wrong.sum()} of {total} are not")


def _check_history(arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse a history whose columns are not of equal length."""
    rows = {name: len(arrays[name]) for name in columns_of_history(arrays)}
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name!r} has {length}" for name, length in rows.items())
        raise InvalidValueError(f"the columns of the history must have equally many rows, but {lengths}")


def _check_spread(arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse a spread that is not one of these elites, or is impossible."""
    measures = arrays["elites/measures"]
    check_shape(arrays, "spread/objective_std", measures.shape[:1])
    check_shape(arrays, "spread/measure_std", measures.shape)
    check_shape(arrays, "spread/reproducibility", measures.shape[:1])
    for name, (low, high) in _RANGES.items():
        array = arrays[name]
        wrong = ~(np.isfinite(array) & (array >= low) & (array <= high))
        if wrong.any():
            bounds = f"finite and at least {low}" if high == math.inf else f"from {low} to {high}"
            raise InvalidValueError(
                f"{name!r} must be {bounds}, but {wrong.sum()} of {wrong.size} values are not"
            )
