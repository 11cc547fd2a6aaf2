"""`Conditions`: what a rehearsal expects of trials, with the doubt that few episodes leave."""

import numpy as np
from scipy.spatial import cKDTree

from adapt.expectations import Expectations
from adapt.rehearsal.table import Table

_TRUST = 2.0  # episodes that the typical variance counts as, in addition to a controller's own
_NEIGHBOURS = 16
_FALLS = 4.0  # the same for the share of falls of similar controllers


class Conditions(Expectations):
    """The d conditions of a rehearsal as hypotheses.

    Variances and shares of falls were estimated from only n episodes, so they are shrunk: variances towards
    the median of the table, which counts as two more episodes, and shares of falls towards the mean of the 16
    nearest controllers, which counts as four. Since a rehearsed objective is itself a mean of n episodes, a
    trial differs from it by the variance of one episode times 1 + 1/n.

    Args:
        table: the rehearsal.
        measures: of the k controllers, over which falls are smooth, (k, m).

    Attributes:
        spread: standard deviation of each number of the evidence over the table, (e,).
    """

    def __init__(self, table: Table, measures: np.ndarray) -> None:
        self._table = table
        self.damages, self.episodes = table.damages, table.episodes
        self.objectives = np.asarray(table.objectives, np.float64)
        self.falls = shrunk_falls(table.falls, measures, table.episodes)
        self.spread = table.evidence.std(axis=(0, 1), dtype=np.float64)
        self._typical = float(np.median(table.noise)) ** 2
        d, k, e = table.evidence_std.shape
        scatter = np.median(table.evidence_std.reshape(d * k, e), axis=0)
        self._typical_evidence = scatter.astype(np.float64) ** 2  # (e,)

    def noise(self, row: int) -> np.ndarray:
        """See `Expectations`."""
        return self._shrunk(self._table.noise[:, row], self._typical)

    def evidence(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Expectations`."""
        noise = self._shrunk(self._table.evidence_std[:, row], self._typical_evidence)
        return np.asarray(self._table.evidence[:, row], np.float64), noise * (1 + 1 / self.episodes)

    def _shrunk(self, deviations: np.ndarray, typical: np.ndarray | float) -> np.ndarray:
        """Variances drawn towards a typical one; a rehearsal of n episodes has n - 1 degrees of freedom."""
        freedom = self.episodes - 1
        return np.asarray(
            (freedom * np.asarray(deviations, np.float64) ** 2 + _TRUST * typical) / (freedom + _TRUST)
        )


def shrunk_falls(shares: np.ndarray, measures: np.ndarray, episodes: int) -> np.ndarray:
    """Shares of falls, (n, k), in some episodes each, drawn towards those of similar controllers."""
    shares = np.asarray(shares, np.float64)
    return np.asarray((episodes * shares + _FALLS * mean_of_nearest(shares, measures)) / (episodes + _FALLS))


def mean_of_nearest(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Means of n values, (n, k), over the 16 of the points, (k, m), nearest to each, itself included."""
    count = min(_NEIGHBOURS, len(points))
    _, nearest = cKDTree(points).query(points, k=np.arange(1, count + 1))
    return np.asarray(sum(values[:, nearest[:, i]] for i in range(count)) / count)
