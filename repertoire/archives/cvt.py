"""A centroidal Voronoi tessellation: cells are the regions nearest to given places in measure space.

Source: V. Vassiliades, K. Chatzilygeroudis, J.-B. Mouret, "Using Centroidal Voronoi Tessellations to Scale Up
    the Multidimensional Archive of Phenotypic Elites Algorithm", 2018 (Vassiliades below).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from repertoire.archives.archive import ArchiveSpec, Locate, parse_count
from robots.errors import InvalidValueError

# All later ones together shorten the mean squared distance to the nearest centroid by less than 0.3%
_ITERATIONS = 20
# A thousand cells of four measures then take half a second
_MIN_SAMPLES = 10_000
_SAMPLES_PER_CELL = 20
_MOST_CELLS = 20_000
_SECONDS = 1.3e-4  # for each cell and measure
_PATIENCE = 2.0  # [s] that nobody needs to be told of
# The tree has an order of summation of its own: distances that differ by less are compared again in ours
_TIE = 1 + 1e-9


@dataclass(frozen=True)
class CVTSpec(ArchiveSpec):
    """Specification of a tessellation, written `cvt:1000` or `cvt:1000,seed=2`.

    The centroids are a function of it and of the ranges of the measures, so that no file needs to hold them;
    rounding may differ between versions of SciPy.

    Attributes:
        count: number of cells.
        seed: of the samples that the centroids are made from.
    """

    kind: ClassVar[str] = "cvt"
    form: ClassVar[str] = "cvt:1000 (cells in all) or cvt:1000,seed=2"
    count: int
    seed: int = 0

    @classmethod
    def parse(cls, arguments: str) -> Self:
        text, comma, seed = arguments.partition(",seed=")
        if (count := parse_count(text)) > _MOST_CELLS:
            raise InvalidValueError(
                f"a tessellation can have {_MOST_CELLS:,} cells, which take some ten seconds, not {count:,}"
            )
        return cls(count, parse_count(seed, least=0) if comma else 0)

    def __str__(self) -> str:
        return f"cvt:{self.count}" + (f",seed={self.seed}" if self.seed else "")

    @property
    def shape(self) -> tuple[int, ...]:
        """One index: the number of the centroid."""
        return (self.count,)

    def divide(self, bounds: np.ndarray) -> Locate:
        return Nearest(self.centroids(bounds.tolist()), bounds)

    def centroids(self, ranges: Sequence[tuple[float, float]]) -> np.ndarray:
        """Return the centroids of the cells, (cells, m), in units of the measures and within their ranges."""
        bounds = tuple((float(low), float(high)) for low, high in ranges)
        return make_centroids(self.count, bounds, seed=self.seed).copy()


class Nearest:
    """Finds the centroid nearest to a measure, or the first of equally near ones.

    Distances are Euclidean with each range as the unit of its measure, so that metres and radians count
    alike; a measure outside its range counts as at the end of it.
    """

    def __init__(self, centroids: np.ndarray, bounds: np.ndarray) -> None:
        from scipy.spatial import cKDTree  # here, as it takes long to import

        self._lows, self._highs = bounds.T
        self._scaled = self._to_unit(centroids)
        self._tree = cKDTree(self._scaled)

    def __call__(self, measures: np.ndarray) -> np.ndarray:
        """Return the cells (n,) int64 of measures (n, m)."""
        points = self._to_unit(measures)
        distances, nearest = self._tree.query(points, k=2)  # (n, 2), of the second inf if there is none
        cells = nearest[:, 0].astype(np.int64)
        for i in np.flatnonzero(distances[:, 1] <= _TIE * distances[:, 0]):
            cells[i] = np.argmin(((self._scaled - points[i]) ** 2).sum(axis=1))
        return cells

    def _to_unit(self, measures: np.ndarray) -> np.ndarray:
        """Return measures (n, m) as fractions of their ranges."""
        return (np.clip(measures, self._lows, self._highs) - self._lows) / (self._highs - self._lows)


@lru_cache(maxsize=4)  # a search needs them for each of its archives
def make_centroids(cells: int, bounds: tuple[tuple[float, float], ...], *, seed: int) -> np.ndarray:
    """Return the centroids of an approximate centroidal Voronoi tessellation, (cells, m) float64.

    Each is about the mean of the part of measure space that is nearest to it, the ranges being equally long:
    k-means (Lloyd 1982) on uniform samples, as in Vassiliades 2018, Algorithm 1, from the first of the
    samples.
    """
    lows, highs = np.transpose(bounds)
    if (seconds := _SECONDS * cells * len(bounds)) > _PATIENCE:
        logging.getLogger(__name__).info("to find %s centroids takes about %.0f s", f"{cells:,}", seconds)
    samples = max(_MIN_SAMPLES, _SAMPLES_PER_CELL * cells)
    points = np.random.default_rng(seed).random((samples, len(lows)))
    # by rounding, a centroid next to the end of a range could lie outside of it
    return np.clip(lows + _cluster(points, cells) * (highs - lows), lows, highs)


def _cluster(points: np.ndarray, k: int) -> np.ndarray:
    """Return the (k, m) means of the clusters that points (n, m) fall into."""
    from scipy.spatial import cKDTree  # here, as it takes long to import

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
