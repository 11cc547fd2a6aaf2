"""`History`: how a run went, in columns with one row per recorded iteration."""

from collections.abc import Mapping

import numpy as np


class History:
    """Columns of equal length that grow row by row.

    Every value is a function of the problem, the settings and the seed, so that the history of a resumed run
    equals that of an uninterrupted one. Wall-clock times therefore have no place here.

    Args:
        columns: the columns to start from, of equal length; none by default.
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
