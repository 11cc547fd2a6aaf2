"""Archives of every kind over the same measures, and candidates: what the tests of this folder share."""

from typing import Any

import numpy as np

from repertoire.algorithms.settings import ARCHIVES, parse_archive
from repertoire.archives.archive import Archive

P = 3  # parameters of a solution
RANGES = ((0.0, 1.0), (-1.0, 2.0))
RULES = ("sequential", "batch")
Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]


SPECS = {"grid": "4,3", "cvt": "cvt:12"}  # an archive of 12 cells of each kind in the table
assert SPECS.keys() == ARCHIVES.keys(), "add an archive of 12 cells over two measures for the contract tests"


def make(kind: str = "grid", **settings: Any) -> Archive:
    return Archive(parse_archive(SPECS[kind]), **{"solution_dim": P, "ranges": RANGES} | settings)


def candidates(seed: int, n: int = 60) -> Candidates:
    """Solutions, objectives with ties and on both sides of 0, and measures that crowd a few cells."""
    rng = np.random.default_rng(seed)
    objectives = np.round(rng.normal(1, 3, n), 1)
    return rng.normal(size=(n, P)).astype(np.float32), objectives, rng.uniform((0, -1), (0.8, 2), (n, 2))


def add_to_one_cell(archive: Archive, objectives: list[float]) -> np.ndarray:
    n = len(objectives)
    solutions = np.arange(n * P, dtype=np.float32).reshape(n, P)
    return archive.add(solutions, np.array(objectives), np.full((n, 2), 0.1))
