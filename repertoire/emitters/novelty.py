"""How new measures are, beside others (J. Lehman, K. Stanley, "Abandoning Objectives", 2011)."""

import numpy as np

NEIGHBOURS = 10  # as in Colas et al. 2020


def novelty(measures: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the mean distance of measures to their nearest neighbours among those seen before.

    Args:
        measures: (n, m), in the units of the problem; NaN is as new as NaN.
        seen: (k, m).

    Returns:
        (n,), in the same units; over all of `seen` while it holds less than 10, and 0 while it is empty.
    """
    if not len(seen):
        return np.zeros(len(measures))
    squares = np.zeros((len(measures), len(seen)))
    for new, old in zip(measures.T, seen.T, strict=True):
        squares += (new[:, None] - old) ** 2
    count = min(NEIGHBOURS, len(seen))
    nearest = np.partition(squares, count - 1, axis=1)[:, :count]
    nearest.sort(axis=1)  # sums then do not depend on how this machine's NumPy partitions
    return np.sqrt(nearest).mean(axis=1)
