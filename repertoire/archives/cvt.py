"""`CVTArchive`: an archive whose cells are the regions nearest to given places in measure space."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self, Unpack

import numpy as np

from repertoire.archives.archive import (
    Archive,
    ArchiveSpec,
    as_floats,
    checked_count,
    checked_ranges,
    parse_count,
)
from repertoire.archives.competition import ThresholdOptions, check_finite
from robots.errors import InvalidValueError

# All later ones together shorten the mean squared distance to the nearest centroid by less than 0.3%
_ITERATIONS = 20
# of a specification: a thousand cells of four measures then take half a second
_MIN_SAMPLES = 10_000
_SAMPLES_PER_CELL = 20
# The tree has an order of summation of its own: distances that differ by less are compared again in ours
_TIE = 1 + 1e-9


@dataclass(frozen=True)
class CVTSpec(ArchiveSpec):
    """Specification of a `CVTArchive`, written `cvt:1000` or `cvt:1000,seed=2`.

    The centroids are a function of it and of the ranges of the measures, so that no file needs to hold them.

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
        """See `ArchiveSpec.parse`."""
        count, *rest = arguments.split(",seed=")
        return cls(parse_count(count), *(parse_count(seed, least=0) for seed in rest[:1]))

    @property
    def shape(self) -> tuple[int, ...]:
        """One index: the number of the centroid."""
        return (self.count,)

    def __str__(self) -> str:
        return f"cvt:{self.count}" + (f",seed={self.seed}" if self.seed else "")

    def make(
        self,
        *,
        solution_dim: int,
        ranges: Sequence[tuple[float, float]],
        **thresholds: Unpack[ThresholdOptions],
    ) -> "CVTArchive":
        """See `ArchiveSpec.make`."""
        bounds = tuple((float(low), float(high)) for low, high in checked_ranges(ranges))
        return CVTArchive(
            solution_dim=solution_dim,
            centroids=_centroids(self.count, bounds, self.seed),
            ranges=ranges,
            **thresholds,
        )


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
        **thresholds: see `Archive`.

    Raises:
        InvalidValueError: if centroids or ranges are not as said here, and as `Archive` says.
    """

    def __init__(
        self,
        *,
        solution_dim: int,
        centroids: np.ndarray,
        ranges: Sequence[tuple[float, float]],
        **thresholds: Unpack[ThresholdOptions],
    ) -> None:
        bounds = checked_ranges(ranges)
        self._lows, self._highs = bounds.T
        self._centroids = _checked_centroids(centroids, bounds).copy()
        self._scaled = self._to_unit(self._centroids)
        if len(np.unique(self._scaled, axis=0)) < len(self._scaled):
            raise InvalidValueError("centroids must be different from each other")
        from scipy.spatial import cKDTree  # here, as it takes long to import

        self._tree = cKDTree(self._scaled)
        super().__init__(
            solution_dim=solution_dim,
            cells=len(self._centroids),
            bounds=bounds,
            **thresholds,
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


@lru_cache(maxsize=4)
def _centroids(cells: int, bounds: tuple[tuple[float, float], ...], seed: int) -> np.ndarray:
    """Return the centroids of a specification; a search needs them for each of its archives."""
    return make_centroids(cells, bounds, seed=seed, samples=max(_MIN_SAMPLES, _SAMPLES_PER_CELL * cells))


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
