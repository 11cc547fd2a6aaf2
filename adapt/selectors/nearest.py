"""What the nearest points have in common."""

import numpy as np
from scipy.spatial import cKDTree

_COUNT = 16


def mean_of_nearest(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Mean of some values over the 16 points nearest to each, itself included, or over all if they are fewer.

    Args:
        values: n at each of k points, (n, k).
        points: (k, m).

    Returns:
        (n, k).
    """
    count = min(_COUNT, len(points))
    _, nearest = cKDTree(points).query(points, k=np.arange(1, count + 1))
    return np.asarray(sum(values[:, nearest[:, i]] for i in range(count)) / count)
