"""`Elites`: what an archive holds."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Elites:
    """The occupied cells of an archive, in ascending order of cell.

    Attributes:
        cells: (k,) int64, flat cell indices.
        solutions: (k, solution_dim) float32.
        objectives: (k,) float64.
        measures: (k, measure_dim) float64.
    """

    cells: np.ndarray
    solutions: np.ndarray
    objectives: np.ndarray
    measures: np.ndarray

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, rows: np.ndarray) -> "Elites":
        """Those of some rows, in ascending order."""
        return Elites(*(values[rows] for values in vars(self).values()))
