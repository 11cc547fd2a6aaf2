"""Archives of every kind over the same measures, and candidates: what the tests of this folder share."""

from typing import Any

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.archives.cvt import CVTArchive, make_centroids
from repertoire.archives.grid import GridArchive

P = 3  # parameters of a solution
RANGES = ((0.0, 1.0), (-1.0, 2.0))
RULES = ("sequential", "batch")
Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]


def make_grid(**settings: Any) -> GridArchive:
    return GridArchive(**{"solution_dim": P, "shape": (4, 3), "ranges": RANGES} | settings)


def make_cvt(**settings: Any) -> CVTArchive:
    centroids = make_centroids(12, RANGES, seed=0, samples=500)
    return CVTArchive(**{"solution_dim": P, "centroids": centroids, "ranges": RANGES} | settings)


KINDS = {GridArchive: make_grid, CVTArchive: make_cvt}


def candidates(seed: int, n: int = 60) -> Candidates:
    """Solutions, objectives with ties and on both sides of 0, and measures that crowd a few cells."""
    rng = np.random.default_rng(seed)
    objectives = np.round(rng.normal(1, 3, n), 1)
    return rng.normal(size=(n, P)).astype(np.float32), objectives, rng.uniform((0, -1), (0.8, 2), (n, 2))


def add_to_one_cell(archive: Archive, objectives: list[float]) -> np.ndarray:
    n = len(objectives)
    solutions = np.arange(n * P, dtype=np.float32).reshape(n, P)
    return archive.add(solutions, np.array(objectives), np.full((n, 2), 0.1))


def assert_same_state(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)
