"""`History`: how a run went, a row per iteration."""

from collections.abc import Mapping

import numpy as np


class History:
    """Columns that grow together.

    Everything in it is a function of the run's configuration and seed, so that a resumed run's history equals
    an uninterrupted one's. Wall-clock times therefore have no place here.

    Args:
        columns: to start from, of equal length.
    """

    def __init__(self, columns: Mapping[str, np.ndarray] | None = None) -> None:
        self._columns = {name: list(column) for name, column in (columns or {}).items()}

    def __len__(self) -> int:
        return max(map(len, self._columns.values()), default=0)

    def append(self, **row: float) -> None:
        """Add a row; every row has the same names."""
        for name, value in row.items():
            self._columns.setdefault(name, []).append(value)

    def last(self, name: str) -> int:
        """The last value of a column that counts something, 0 before the first row."""
        column = self._columns.get(name)
        return int(column[-1]) if column else 0

    def columns(self) -> dict[str, np.ndarray]:
        """The columns as arrays."""
        return {name: np.array(column) for name, column in self._columns.items()}
