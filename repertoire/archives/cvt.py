"""`CVTArchive`: an archive whose cells are the regions nearest to given places in measure space."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from repertoire.archives.archive import Archive
from repertoire.archives.competition import Rule
from repertoire.archives.validation import as_floats, check_finite, checked_ranges
from robots.errors import InvalidValueError

# The tree has an order of summation of its own: distances that differ by less are compared again in ours
_TIE = 1 + 1e-9


class CVTArchive(Archive):
    """Measure space cut into the Voronoi regions of centroids, however many measures there are.

    Vassiliades, Chatzilygeroudis, Mouret 2018, "Using Centroidal Voronoi Tessellations to Scale Up the
    Multidimensional Archive of Phenotypic Elites Algorithm". The cell of a measure is its nearest centroid,
    or the first of equally near ones. Distances are Euclidean with each range as the unit of its measure, so
    that metres and radians count alike; a measure outside its range counts as at the end of it.

    Args:
        solution_dim: parameters a solution has.
        centroids: (cells, m), different, within the ranges, in units of the measures; see `make_centroids`.
            They are settings and not part of `state`: a restored archive needs the same.
        ranges: (low, high) of each measure, in units of the measure.
        learning_rate: see `Archive`.
        min_objective: see `Archive`.
        rule: see `Archive`.

    Raises:
        InvalidValueError: if centroids or ranges are not as said here, and as `Archive` says.
    """

    def __init__(
        self,
        *,
        solution_dim: int,
        centroids: np.ndarray,
        ranges: Sequence[tuple[float, float]],
        learning_rate: float = 1.0,
        min_objective: float = -np.inf,
        rule: Rule = "sequential",
    ) -> None:
        bounds = checked_ranges(ranges)
        self._lows, self._highs = bounds.T
        self._centroids = _checked_centroids(centroids, bounds).copy()
        self._scaled = self._to_unit(self._centroids)
        if len(np.unique(self._scaled, axis=0)) < len(self._scaled):
            raise InvalidValueError("centroids must be different from each other")
        self._tree = cKDTree(self._scaled)
        super().__init__(
            solution_dim=solution_dim,
            cells=len(self._centroids),
            bounds=bounds,
            learning_rate=learning_rate,
            min_objective=min_objective,
            rule=rule,
        )

    @property
    def centroids(self) -> np.ndarray:
        """A copy of the centroids in order of cell, (cells, m) float64."""
        return self._centroids.copy()

    def _locate(self, measures: np.ndarray) -> np.ndarray:
        points = self._to_unit(measures)
        distances, nearest = self._tree.query(points, k=2)  # (n, 2), of the second inf if there is none
        cells = nearest[:, 0].astype(np.int64)
        for i in np.flatnonzero(distances[:, 1] <= _TIE * distances[:, 0]):
            cells[i] = np.argmin(((self._scaled - points[i]) ** 2).sum(axis=1))
        return cells

    def _to_unit(self, measures: np.ndarray) -> np.ndarray:
        """Return measures (n, m) as fractions of their ranges."""
        return (np.clip(measures, self._lows, self._highs) - self._lows) / (self._highs - self._lows)


def _checked_centroids(centroids: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    centroids = as_floats("centroids", centroids)
    if centroids.ndim != 2 or centroids.shape[1] != len(bounds) or not len(centroids):
        raise InvalidValueError(
            f"centroids must have shape (cells, {len(bounds)}) with at least one cell, got {centroids.shape}"
        )
    check_finite("centroids", centroids)
    outside = np.flatnonzero(((centroids < bounds[:, 0]) | (centroids > bounds[:, 1])).any(axis=1))
    if len(outside):
        raise InvalidValueError(
            f"centroids must lie within the ranges, but do not at index {', '.join(map(str, outside))}"
        )
    return centroids
