"""How good a repertoire is, in five numbers."""

from dataclasses import dataclass

import numpy as np

from repertoire.archives.archive import Archive
from robots.compilation import compiled


@dataclass(frozen=True)
class Metrics:
    """What is reported of an archive.

    Attributes:
        elites: occupied cells.
        coverage: occupied cells as a fraction of all cells.
        qd_score: sum over elites of objective - min_objective, in units of the objective; 0 when empty.
        best: largest objective; nan when empty.
        mean: mean objective; nan when empty.
    """

    elites: int
    coverage: float
    qd_score: float
    best: float
    mean: float


def measure(archive: Archive, *, min_objective: float) -> Metrics:
    """Return the metrics of an archive, at a cost that depends on its cells and not on what a solution is.

    Args:
        archive: usually the result archive, whose elites are the best found.
        min_objective: the worst objective that counts, so that every elite can add to the QD score; an elite
            below it subtracts.
    """
    return measure_objectives(archive.objectives, cells=archive.cells, min_objective=min_objective)


def measure_objectives(objectives: np.ndarray, *, cells: int, min_objective: float) -> Metrics:
    """Return the metrics of an archive of so many cells from its elites' objectives, (k,)."""
    k = len(objectives)
    if not k:
        return Metrics(elites=0, coverage=0.0, qd_score=0.0, best=float("nan"), mean=float("nan"))
    total, best = _total_and_best(np.ascontiguousarray(objectives, np.float64))
    return Metrics(
        elites=k, coverage=k / cells, qd_score=total - k * min_objective, best=best, mean=total / k
    )


@compiled()
def _total_and_best(objectives: np.ndarray) -> tuple[float, float]:
    """Return the sum and the largest of at least one objective, (k,).

    Each addition has to wait for the one before it, and four sums at a time fill the wait. Their order is
    that of the elites alone, so that a sum is the same on every machine.
    """
    a = b = c = d = 0.0
    p = q = r = s = -np.inf
    whole = objectives.size - objectives.size % 4
    for i in range(0, whole, 4):
        w, x, y, z = objectives[i], objectives[i + 1], objectives[i + 2], objectives[i + 3]
        a, b, c, d = a + w, b + x, c + y, d + z
        p, q = w if w > p else p, x if x > q else q
        r, s = y if y > r else r, z if z > s else s
    for i in range(whole, objectives.size):
        a += objectives[i]
        p = max(p, objectives[i])
    return (a + b) + (c + d), max(p, q, r, s)
