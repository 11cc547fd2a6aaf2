"""The competition for cells: what an archive stores, and the two rules that move its thresholds, compiled."""

from typing import Literal, NamedTuple

import numpy as np

from robots.compilation import compiled

Rule = Literal["sequential", "batch"]


class Store(NamedTuple):
    """Everything that changes in an archive; a named tuple because the kernels take it whole."""

    solutions: np.ndarray  # (cells, solution_dim) float32, meaningful where occupied
    objectives: np.ndarray  # (cells,)
    measures: np.ndarray  # (cells, measure_dim)
    thresholds: np.ndarray  # (cells,)
    occupied: np.ndarray  # (cells,) bool
    groups: np.ndarray  # (cells,) int32, scratch of `add_together`: 0 between its calls


class Batch(NamedTuple):
    """Checked candidates and the cells that they compete for."""

    cells: np.ndarray  # (n,) int64
    solutions: np.ndarray  # (n, solution_dim) float32
    objectives: np.ndarray  # (n,)
    measures: np.ndarray  # (n, measure_dim)


def make_store(cells: int, solution_dim: int, measure_dim: int, threshold: float) -> Store:
    """Return a store without elites, whose thresholds are all the same."""
    return Store(
        # zeroed pages are committed only when first written: cells never filled cost no memory
        solutions=np.zeros((cells, solution_dim), np.float32),
        objectives=np.zeros(cells),
        measures=np.zeros((cells, measure_dim)),
        thresholds=np.full(cells, threshold, np.float64),
        occupied=np.zeros(cells, np.bool_),
        groups=np.zeros(cells, np.int32),
    )


@compiled()
def add_sequentially(
    store: Store, batch: Batch, alpha: float, improvements: np.ndarray, opened: np.ndarray
) -> None:
    """Let candidates compete one after the other, by the "sequential" rule of `Archive`.

    Args:
        store: changed in place.
        batch: the candidates.
        alpha: the learning rate.
        improvements: (n,), filled.
        opened: (n,) bool, filled: whether they were accepted into an empty cell.
    """
    placed, count = np.empty(batch.cells.size, np.int64), 0
    for i in range(batch.cells.size):
        cell = batch.cells[i]
        f = batch.objectives[i]
        t = store.thresholds[cell]
        improvements[i] = _improvement(f, t)
        if f > t:
            # with α = 1 the general formula would give 0 (-inf) = nan
            store.thresholds[cell] = f if alpha == 1 else (1 - alpha) * t + alpha * f
        opened[i] = not store.occupied[cell]
        if f > t or not store.occupied[cell] or f > store.objectives[cell]:
            store.objectives[cell] = f
            store.occupied[cell] = True
            placed[count] = i
            count += 1
    _copy(store, batch, placed[:count])


@compiled()
def add_together(
    store: Store, batch: Batch, alpha: float, elitist: bool, improvements: np.ndarray, opened: np.ndarray
) -> None:
    """Let candidates compete at once, by the "batch" rule of `Archive`; see `add_sequentially`.

    Thresholds of an elitist archive started at -inf, and so are its elites' objectives. What opened a cell
    was accepted into one that was empty before all candidates.
    """
    n = batch.cells.size
    best, accepted, totals = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    groups = 0  # cells that accept something
    for i in range(n):
        cell = batch.cells[i]
        f = batch.objectives[i]
        t = store.thresholds[cell]
        improvements[i] = _improvement(f, t)
        opened[i] = f > t and not store.occupied[cell]
        if f > t:
            if store.groups[cell] == 0:
                best[groups] = i
                groups += 1
                store.groups[cell] = groups
            group = store.groups[cell] - 1
            accepted[group] += 1
            totals[group] += f
            if f > batch.objectives[best[group]]:
                best[group] = i
    best, accepted, totals = best[:groups], accepted[:groups], totals[:groups]
    _settle(store, batch, best, accepted, totals, alpha, elitist)
    _copy(store, batch, best)


@compiled()
def _improvement(objective: float, threshold: float) -> float:
    return objective if threshold == -np.inf else objective - threshold


@compiled()
def _settle(
    store: Store,
    batch: Batch,
    best: np.ndarray,
    accepted: np.ndarray,
    totals: np.ndarray,
    alpha: float,
    elitist: bool,
) -> None:
    """Move the threshold of each cell that accepts some, given their best, their number and their sum."""
    for group in range(best.size):
        f = batch.objectives[best[group]]
        cell = batch.cells[best[group]]
        if elitist:
            # the mean would lower a plain archive's threshold below its elite, and meet 0 (-inf) = nan
            store.thresholds[cell] = f
        else:
            kept = (1 - alpha) ** accepted[group]
            mean = totals[group] / accepted[group]
            store.thresholds[cell] = kept * store.thresholds[cell] + (1 - kept) * mean
        store.objectives[cell] = f
        store.occupied[cell] = True
        store.groups[cell] = 0


@compiled()
def _copy(store: Store, batch: Batch, placed: np.ndarray) -> None:
    """Copy the solutions and measures of candidates to their cells, in the order of `placed`."""
    for i in placed:
        cell = batch.cells[i]
        for j in range(batch.solutions.shape[1]):  # an assignment of rows would not become a plain copy
            store.solutions[cell, j] = batch.solutions[i, j]
        for j in range(batch.measures.shape[1]):
            store.measures[cell, j] = batch.measures[i, j]
