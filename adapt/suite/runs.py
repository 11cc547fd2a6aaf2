"""`Runs`: how the recoveries of one selector went in one track."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Runs:
    """Recoveries from d damages with s seeds each, of B trials each, whatever the selector's own rule says.

    Attributes:
        ratios: recovery ratio of what was recommended after each trial, see `Case.ratio`, (d, s, B).
        falls: whether each trial ended in a fall, (d, s, B) bool.
        stops: after how many trials the selector would have stopped by itself, from 1 to B, (d, s).
        recommended: row of the controller recommended after each trial, (d, s, B).
    """

    ratios: np.ndarray
    falls: np.ndarray
    stops: np.ndarray
    recommended: np.ndarray

    @property
    def trials(self) -> int:
        """B, how many trials each recovery has."""
        return int(self.ratios.shape[2])

    def take(self, damages: np.ndarray) -> "Runs":
        """The recoveries from some damages, picked by index or by (d,) bool."""
        return replace(self, **{name: values[damages] for name, values in vars(self).items()})


def stack_runs(parts: list[Runs]) -> Runs:
    """Put the recoveries from several damages together, in that order."""
    return Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))
