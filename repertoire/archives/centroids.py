"""`make_centroids`: places spread evenly over measure space, for a `CVTArchive`."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from repertoire.archives.validation import checked_count, checked_ranges
from robots.errors import InvalidValueError

# All later ones together shorten the mean squared distance to the nearest centroid by less than 0.3%
_ITERATIONS = 20


def make_centroids(
    cells: int,
    ranges: Sequence[tuple[float, float]],
    *,
    seed: int | np.random.SeedSequence,
    samples: int = 100_000,
) -> np.ndarray:
    """Return the centroids of an approximate centroidal Voronoi tessellation.

    Each is about the mean of the part of measure space that is nearest to it, the ranges being equally long:
    k-means (Lloyd 1982) on uniform samples, as in Vassiliades et al. 2018, Algorithm 1, from the first of the
    samples. The same arguments give the same centroids; rounding may differ between versions of SciPy.

    Args:
        cells: how many.
        ranges: (low, high) of each measure, in units of the measure.
        seed: of the samples.
        samples: their number, at least that of the cells; 10 a cell or more spread the centroids well.

    Returns:
        (cells, m) float64, within the ranges, in units of the measures.

    Raises:
        InvalidValueError: if there is not at least one cell, the ranges are reversed, empty or not finite, or
            there are fewer samples than cells.
    """
    cells = checked_count("cells", cells)
    lows, highs = checked_ranges(ranges).T
    if checked_count("samples", samples) < cells:
        raise InvalidValueError(f"{cells} cells need at least as many samples, got {samples}")
    points = np.random.default_rng(seed).random((samples, len(lows)))
    # rounding could put a centroid beside an edge outside of it
    return np.clip(lows + _cluster(points, cells) * (highs - lows), lows, highs)


def _cluster(points: np.ndarray, k: int) -> np.ndarray:
    """Return the (k, m) means of the clusters that points (n, m) fall into."""
    centroids = points[:k].copy()
    nearest = np.full(len(points), -1)
    for _ in range(_ITERATIONS):
        before, nearest = nearest, cKDTree(centroids).query(points)[1]
        if np.array_equal(nearest, before):
            break
        counts = np.bincount(nearest, minlength=k)
        kept = counts > 0  # one that lost all of its points stays where it is
        for j, column in enumerate(points.T):
            sums = np.bincount(nearest, column, minlength=k)
            centroids[kept, j] = sums[kept] / counts[kept]
    return centroids
