"""An archive whose cells are the equal boxes of a grid over measure space."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, Unpack

import numpy as np

from repertoire.archives.archive import Archive, ArchiveSpec, checked_count, checked_ranges, parse_count
from repertoire.archives.competition import ThresholdOptions
from robots.compilation import compiled
from robots.errors import InvalidValueError

# A measure k/n that equals a cell boundary may be computed an ulp short of it (0.58 * 100 < 58): a millionth
# of a cell, far above float64 rounding and far below any use of the measure, decides such ties upward.
_BOUNDARY_SLACK = 1e-6


@dataclass(frozen=True)
class GridSpec(ArchiveSpec):
    """Specification of a `GridArchive`, written `6,6,6,6` or `grid:6,6,6,6`.

    Attributes:
        sizes: number of cells along each measure.
    """

    kind: ClassVar[str] = "grid"
    form: ClassVar[str] = "6,6 (cells along each measure)"
    sizes: tuple[int, ...]

    @classmethod
    def parse(cls, arguments: str) -> Self:
        """See `ArchiveSpec.parse`."""
        return cls(tuple(parse_count(part) for part in arguments.split(",")))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along each measure."""
        return self.sizes

    @property
    def measure_dim(self) -> int:
        """As many as there are sizes."""
        return len(self.sizes)

    def __str__(self) -> str:
        return ",".join(map(str, self.sizes))

    def make(
        self,
        *,
        solution_dim: int,
        ranges: Sequence[tuple[float, float]],
        **thresholds: Unpack[ThresholdOptions],
    ) -> "GridArchive":
        """See `ArchiveSpec.make`."""
        if len(ranges) != len(self.sizes):
            along = "1 measure" if len(self.sizes) == 1 else f"{len(self.sizes)} measures"
            raise InvalidValueError(
                f"the archive {self} has cells along {along}, but there are {len(ranges)}"
            )
        return GridArchive(
            solution_dim=solution_dim,
            shape=self.sizes,
            ranges=ranges,
            **thresholds,
        )


class GridArchive(Archive):
    """Measure space cut into `shape` boxes; what lies outside the ranges belongs to the nearest box.

    A cell includes its lower boundary, and the last cell of a dimension its upper one too. Cells are numbered
    in row-major order, the last measure varying fastest.

    Args:
        solution_dim: parameters a solution has.
        shape: number of cells along each measure.
        ranges: (low, high) of each measure, in units of the measure.
        **thresholds: see `Archive`.

    Raises:
        InvalidValueError: if shape and ranges do not describe a grid, and as `Archive` says.
    """

    def __init__(
        self,
        *,
        solution_dim: int,
        shape: Sequence[int],
        ranges: Sequence[tuple[float, float]],
        **thresholds: Unpack[ThresholdOptions],
    ) -> None:
        bounds = checked_ranges(ranges)
        self.shape = _checked_shape(shape, len(bounds))
        self._dims = np.array(self.shape)
        self._lows, self._highs = np.ascontiguousarray(bounds.T)
        super().__init__(
            solution_dim=solution_dim,
            cells=math.prod(self.shape),
            bounds=bounds,
            **thresholds,
        )

    def _locate(self, measures: np.ndarray) -> np.ndarray:
        cells = np.empty(len(measures), np.int64)
        _locate(measures, self._lows, self._highs, self._dims, cells)
        return cells


@compiled()
def _locate(
    measures: np.ndarray, lows: np.ndarray, highs: np.ndarray, dims: np.ndarray, cells: np.ndarray
) -> None:
    """Write the cells (n,) of measures (n, m) in a grid of m dimensions."""
    for i in range(cells.size):
        cell = 0
        for j in range(dims.size):
            # clipped first: an integer cannot hold the position of a measure far outside
            inside = min(max(measures[i, j], lows[j]), highs[j])
            position = (inside - lows[j]) / (highs[j] - lows[j]) * dims[j]  # in cells
            index = min(int(position + _BOUNDARY_SLACK), dims[j] - 1)
            cell = cell * dims[j] + index
        cells[i] = cell


def _checked_shape(shape: Sequence[int], measure_dim: int) -> tuple[int, ...]:
    if np.ndim(shape) != 1 or len(shape) != measure_dim:
        raise InvalidValueError(f"shape must have an entry for each of {measure_dim} ranges, got {shape!r}")
    return tuple(checked_count(f"shape[{i}]", n) for i, n in enumerate(shape))
