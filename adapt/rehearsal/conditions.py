"""What a rehearsal expects of trials, with the doubt that few episodes leave."""

import numpy as np
from scipy.spatial import cKDTree

from adapt.expectations import Expectations
from adapt.rehearsal.table import Table

_TRUST = 2.0  # episodes that the typical variance counts as, in addition to a controller's own
_NEIGHBOURS = 16
_FALLS = 4.0  # the same for the share of falls of similar controllers


def rehearsed_expectations(table: Table, measures: np.ndarray) -> Expectations:
    """The d conditions of a rehearsal as hypotheses.

    Variances and shares of falls were estimated from only n episodes, so they are shrunk: variances towards
    the median of the table, which counts as two more episodes, and shares of falls towards the mean of the 16
    nearest controllers, which counts as four. Since a rehearsed objective is itself a mean of n episodes, a
    trial differs from it by the variance of one episode times 1 + 1/n.

    Args:
        table: the rehearsal.
        measures: of the k controllers, over which falls are smooth, (k, m).
    """
    freedom = table.episodes - 1  # degrees of freedom of a variance

    def shrunk(deviations: np.ndarray, typical: np.ndarray | float) -> np.ndarray:
        own = np.asarray(deviations, np.float64) ** 2
        return np.asarray((freedom * own + _TRUST * typical) / (freedom + _TRUST))

    d, k, e = table.evidence_std.shape
    scatter = np.median(table.evidence_std.reshape(d * k, e), axis=0).astype(np.float64) ** 2  # (e,)

    def evidence(row: int) -> tuple[np.ndarray, np.ndarray]:
        variance = shrunk(table.evidence_std[:, row], scatter) * (1 + 1 / table.episodes)
        return np.asarray(table.evidence[:, row], np.float64), variance

    return Expectations(
        damages=table.damages,
        objectives=np.asarray(table.objectives, np.float64),
        noise_variance=shrunk(table.noise, float(np.median(table.noise)) ** 2),
        falls=shrunk_falls(table.falls, measures, table.episodes),
        evidence=evidence,
        episodes=table.episodes,
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
