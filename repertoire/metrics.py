"""How good a repertoire is, in five numbers."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Metrics:
    """What is reported of an archive."""

    elites: int  # occupied cells
    coverage: float  # occupied cells as a fraction of all cells
    # sum over elites of objective - min_objective, in units of the objective, as in pyribs and in Tjanaka et
    # al. 2023; an elite below min_objective subtracts.
    qd_score: float
    best: float  # largest objective; nan when empty
    mean: float  # mean objective; nan when empty


def measure(objectives: np.ndarray, *, cells: int, min_objective: float) -> Metrics:
    """Return the metrics of an archive.

    Args:
        objectives: of the elites, (k,); usually those of the result archive, which are the best found.
        cells: of the archive.
        min_objective: from which the QD score counts objectives.
    """
    k = len(objectives)
    if not k:
        return Metrics(elites=0, coverage=0.0, qd_score=0.0, best=float("nan"), mean=float("nan"))
    total, best = _total(objectives), float(np.max(objectives))
    score = total - k * min_objective
    return Metrics(elites=k, coverage=k / cells, qd_score=score, best=best, mean=total / k)


def _total(objectives: np.ndarray) -> float:
    """Sum of at least one objective, (k,): four sums of every fourth, in an order that never changes."""
    values = np.ascontiguousarray(objectives, np.float64)
    whole = values.size - values.size % 4
    a, b, c, d = values[:whole].reshape(-1, 4).sum(axis=0).tolist()
    for value in values[whole:].tolist():
        a += value
    return float((a + b) + (c + d))
