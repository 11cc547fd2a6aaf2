"""An archive whose cells are the equal boxes of a grid over measure space."""

import math
from collections.abc import Sequence

import numpy as np

from repertoire.archives.archive import Archive, Rule
from robots.errors import InvalidValueError

# A measure k/n that equals a cell boundary may be computed an ulp short of it (0.58 * 100 < 58): a millionth
# of a cell, far above float64 rounding and far below any use of the measure, decides such ties upward.
_BOUNDARY_SLACK = 1e-6


class GridArchive(Archive):
    """Measure space cut into `shape` boxes; what lies outside the ranges belongs to the nearest box.

    A cell includes its lower boundary, and the last cell of a dimension its upper one too. Cells are numbered
    in row-major order, the last measure varying fastest.

    Args:
        solution_dim: parameters a solution has.
        shape: number of cells along each measure.
        ranges: (low, high) of each measure, in units of the measure.
        learning_rate: see `Archive`.
        min_objective: see `Archive`.
        rule: see `Archive`.

    Raises:
        InvalidValueError: if shape and ranges do not describe a grid, and as `Archive` says.
    """

    def __init__(
        self,
        *,
        solution_dim: int,
        shape: Sequence[int],
        ranges: Sequence[tuple[float, float]],
        learning_rate: float = 1.0,
        min_objective: float = -np.inf,
        rule: Rule = "sequential",
    ) -> None:
        bounds = _checked_ranges(ranges)
        self.shape = _checked_shape(shape, len(bounds))
        self.ranges = tuple((float(low), float(high)) for low, high in bounds)
        self._dims = np.array(self.shape)
        self._lows, self._highs = bounds.T
        super().__init__(
            solution_dim=solution_dim,
            cells=math.prod(self.shape),
            measure_dim=len(self.shape),
            learning_rate=learning_rate,
            min_objective=min_objective,
            rule=rule,
        )

    def cells_of(self, measures: np.ndarray) -> np.ndarray:
        """Return the flat cells of measures (n, measure_dim), as (n,) int64."""
        position = (measures - self._lows) / (self._highs - self._lows) * self._dims  # (n, m) in cells
        # clipped before the cast, for which a measure far outside would be too large
        indices = np.clip(np.floor(position + _BOUNDARY_SLACK), 0, self._dims - 1).astype(np.int64)
        return np.ravel_multi_index(tuple(indices.T), self.shape)


def _checked_ranges(ranges: Sequence[tuple[float, float]]) -> np.ndarray:
    bounds = np.asarray(ranges, np.float64)
    if bounds.ndim != 2 or bounds.shape[1] != 2 or not len(bounds):
        raise InvalidValueError(f"ranges must hold a (low, high) for each measure, got {ranges!r}")
    for i, (low, high) in enumerate(bounds):
        if not -np.inf < low < high < np.inf:
            raise InvalidValueError(f"ranges[{i}] must be finite with low < high, got ({low}, {high})")
    return bounds


def _checked_shape(shape: Sequence[int], measure_dim: int) -> tuple[int, ...]:
    if len(shape) != measure_dim:
        raise InvalidValueError(f"shape must have an entry for each of {measure_dim} ranges, got {shape!r}")
    if not all(n == int(n) and n >= 1 for n in shape):
        raise InvalidValueError(f"shape must hold positive integers, got {shape!r}")
    return tuple(int(n) for n in shape)
