"""A grid: measure space is cut into equal boxes along each measure."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from repertoire.archives.archive import ArchiveSpec, Locate, parse_count
from robots.compilation import compiled
from robots.errors import InvalidValueError

# A measure k/n that equals a cell boundary may be computed an ulp short of it (0.58 * 100 < 58): a millionth
# of a cell, far above float64 rounding and far below any use of the measure, decides such ties upward.
_BOUNDARY_SLACK = 1e-6


@dataclass(frozen=True)
class GridSpec(ArchiveSpec):
    """Specification of a grid, written `6,6,6,6` or `grid:6,6,6,6`.

    Attributes:
        sizes: number of cells along each measure.
    """

    kind: ClassVar[str] = "grid"
    form: ClassVar[str] = "6,6 (cells along each measure)"
    sizes: tuple[int, ...]

    @classmethod
    def parse(cls, arguments: str) -> Self:
        return cls(tuple(parse_count(part) for part in arguments.split(",")))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def measure_dim(self) -> int:
        return len(self.sizes)

    def __str__(self) -> str:
        return ",".join(map(str, self.sizes))

    def divide(self, bounds: np.ndarray) -> Locate:
        """See `ArchiveSpec.divide`; what lies outside the ranges belongs to the nearest box.

        A cell includes its lower boundary, and the last cell of a measure its upper one too.
        """
        if len(bounds) != len(self.sizes):
            along = "1 measure" if len(self.sizes) == 1 else f"{len(self.sizes)} measures"
            raise InvalidValueError(
                f"the archive {self} has cells along {along}, but there are {len(bounds)}"
            )
        lows, highs = np.ascontiguousarray(bounds.T)
        return partial(_locate, lows, highs, np.array(self.sizes))  # which can be pickled


@compiled()
def _locate(lows: np.ndarray, highs: np.ndarray, dims: np.ndarray, measures: np.ndarray) -> np.ndarray:
    """Return the cells (n,) of measures (n, m) in a grid of m dimensions."""
    cells = np.empty(len(measures), np.int64)
    for i in range(cells.size):
        cell = 0
        for j in range(dims.size):
            # clipped first: an integer cannot hold the position of a measure far outside
            inside = min(max(measures[i, j], lows[j]), highs[j])
            position = (inside - lows[j]) / (highs[j] - lows[j]) * dims[j]  # in cells
            index = min(int(position + _BOUNDARY_SLACK), dims[j] - 1)
            cell = cell * dims[j] + index
        cells[i] = cell
    return cells
