"""What every archive shares: the competition for cells and the rule that moves their thresholds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, get_args

import numpy as np
from numba import njit

from robots.errors import InvalidValueError

Rule = Literal["sequential", "batch"]


@dataclass(frozen=True)
class Elites:
    """The occupied cells of an archive, in ascending order of cell.

    Attributes:
        cells: (k,) int64, flat cell indices.
        solutions: (k, solution_dim) float32.
        objectives: (k,) float64.
        measures: (k, measure_dim) float64.
    """

    cells: np.ndarray
    solutions: np.ndarray
    objectives: np.ndarray
    measures: np.ndarray

    def __len__(self) -> int:
        return len(self.cells)


class _Store(NamedTuple):
    """Everything that changes in an archive; a named tuple because the kernels take it whole."""

    solutions: np.ndarray  # (cells, solution_dim) float32, meaningful where occupied
    objectives: np.ndarray  # (cells,)
    measures: np.ndarray  # (cells, measure_dim)
    thresholds: np.ndarray  # (cells,)
    occupied: np.ndarray  # (cells,) bool


class _Batch(NamedTuple):
    """Checked candidates and the cells that they compete for."""

    cells: np.ndarray  # (n,) int64
    solutions: np.ndarray  # (n, solution_dim) float32
    objectives: np.ndarray  # (n,)
    measures: np.ndarray  # (n, measure_dim)


class Archive(ABC):
    """At most one elite a cell; a threshold in each cell says what counts as an improvement.

    A subclass says which cell a measure belongs to, nothing else. Thresholds start at `min_objective`, and
    `rule` says how a call of `add` moves them (Fontaine & Nikolaidis 2023, CMA-MAE):

    * "sequential": solution by solution, as in the paper's Algorithm 1. The improvement is f - t. If f > t,
      then t <- (1 - α) t + α f. A solution is stored if f > t, and also if its cell is empty or it beats the
      cell's elite, as in the authors' published code; neither of these two moves the threshold.
    * "batch": as in pyribs. Improvements are relative to the thresholds before the call. The k solutions of
      a cell that have f > t move it to (1 - α)^k t + (1 - (1 - α)^k) mean(f), and the best of the k, or the
      first of equals, is stored. So an empty cell too refuses what does not exceed `min_objective`.

    With `min_objective` -inf and `learning_rate` 1 (the defaults) either rule is plain MAP-Elites: the
    threshold is the elite's objective, an equal does not replace it, and the improvement of a solution that
    fills an empty cell is its objective, for want of anything to compare it with.

    Args:
        solution_dim: parameters a solution has.
        cells: number of cells.
        measure_dim: measures a solution has.
        learning_rate: α in [0, 1]; 0 never moves a threshold, 1 moves it onto what was accepted.
        min_objective: where thresholds start, in units of the objective; -inf only with a learning rate of 1.
        rule: how thresholds move, see above.

    Raises:
        InvalidValueError: if a value is outside what is said here.
    """

    def __init__(
        self,
        *,
        solution_dim: int,
        cells: int,
        measure_dim: int,
        learning_rate: float = 1.0,
        min_objective: float = -np.inf,
        rule: Rule = "sequential",
    ) -> None:
        for name, size in (("solution_dim", solution_dim), ("cells", cells), ("measure_dim", measure_dim)):
            if size < 1:
                raise InvalidValueError(f"{name} must be at least 1, got {size}")
        _check_rule(learning_rate, min_objective, rule)
        self.solution_dim = int(solution_dim)
        self.cells = int(cells)
        self.measure_dim = int(measure_dim)
        self.learning_rate = float(learning_rate)
        self.min_objective = float(min_objective)
        self.rule = rule
        self._store = _Store(
            # zeroed pages are committed only when first written: cells never filled cost no memory
            solutions=np.zeros((cells, solution_dim), np.float32),
            objectives=np.zeros(cells),
            measures=np.zeros((cells, measure_dim)),
            thresholds=np.full(cells, min_objective, np.float64),
            occupied=np.zeros(cells, np.bool_),
        )

    def __len__(self) -> int:
        return int(np.count_nonzero(self._store.occupied))

    @property
    def thresholds(self) -> np.ndarray:
        """A copy of the thresholds of all cells, (cells,) float64."""
        return self._store.thresholds.copy()

    @property
    def objectives(self) -> np.ndarray:
        """The elites' objectives in order of cell, (k,) float64; unlike `elites` it copies no solutions."""
        return self._store.objectives[self._store.occupied]

    @abstractmethod
    def cells_of(self, measures: np.ndarray) -> np.ndarray:
        """Return the cells that measures belong to.

        Args:
            measures: (n, measure_dim), finite.

        Returns:
            (n,) int64, in [0, cells).
        """

    def add(self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> np.ndarray:
        """Let solutions compete for their cells.

        Args:
            solutions: (n, solution_dim), stored as float32.
            objectives: (n,), larger is better.
            measures: (n, measure_dim).

        Returns:
            The improvements, (n,) float64, in the order of the solutions.

        Raises:
            InvalidValueError: if a shape is wrong, or an objective or measure is not finite; the archive is
                then as it was before.
        """
        batch = self._checked_batch(solutions, objectives, measures)
        improvements = np.empty(batch.objectives.size)
        if self.rule == "sequential":
            _add_sequentially(self._store, batch, self.learning_rate, improvements)
        else:
            # a stable order keeps "the first of equals" and the order of summation
            order = np.argsort(batch.cells, kind="stable")
            elitist = self.min_objective == -np.inf
            _add_together(self._store, batch, order, self.learning_rate, elitist, improvements)
        return improvements

    def elites(self) -> Elites:
        """Return a copy of what the archive holds, sorted by cell."""
        cells = np.flatnonzero(self._store.occupied)
        store = self._store
        return Elites(cells, store.solutions[cells], store.objectives[cells], store.measures[cells])

    def sample_elite(self, rng: np.random.Generator) -> np.ndarray | None:
        """Return a copy of a uniformly chosen elite's solution, (solution_dim,), or None if there is none."""
        cells = np.flatnonzero(self._store.occupied)
        return self._store.solutions[rng.choice(cells)].copy() if len(cells) else None

    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold: the fields of `Elites`, and the thresholds of all cells."""
        return {**vars(self.elites()), "thresholds": self.thresholds}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the archive that `state` was taken from.

        Args:
            state: what `state()` returned, of an archive with the same dimensions and cells.

        Raises:
            InvalidValueError: if something is missing or does not fit; the archive is then as it was before.
        """
        self._check_state(state)
        cells = state["cells"]
        self._store.thresholds[:] = state["thresholds"]
        self._store.occupied[:] = False
        self._store.occupied[cells] = True
        self._store.solutions[cells] = state["solutions"]
        self._store.objectives[cells] = state["objectives"]
        self._store.measures[cells] = state["measures"]

    def _checked_batch(self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> _Batch:
        objectives = np.ascontiguousarray(objectives, np.float64)
        solutions = np.ascontiguousarray(solutions, np.float32)
        measures = np.ascontiguousarray(measures, np.float64)
        n = objectives.size
        _check_shape("objectives", objectives, (n,))
        _check_shape("solutions", solutions, (n, self.solution_dim))
        _check_shape("measures", measures, (n, self.measure_dim))
        _check_finite("objectives", np.isfinite(objectives))
        _check_finite("measures", np.isfinite(measures).all(axis=1))
        return _Batch(self.cells_of(measures), solutions, objectives, measures)

    def _check_state(self, state: Mapping[str, np.ndarray]) -> None:
        missing = {"thresholds", *(field.name for field in fields(Elites))} - state.keys()
        if missing:
            raise InvalidValueError(f"the archive state lacks {', '.join(sorted(missing))}")
        cells = state["cells"]
        k = len(cells)
        _check_shape("thresholds", state["thresholds"], (self.cells,))
        _check_shape("solutions", state["solutions"], (k, self.solution_dim))
        _check_shape("objectives", state["objectives"], (k,))
        _check_shape("measures", state["measures"], (k, self.measure_dim))
        if len(np.unique(cells)) != k or (k and not 0 <= cells.min() <= cells.max() < self.cells):
            raise InvalidValueError(f"cells must be different integers in [0, {self.cells})")


def _check_rule(learning_rate: float, min_objective: float, rule: str) -> None:
    if not 0 <= learning_rate <= 1:
        raise InvalidValueError(f"learning_rate must be in [0, 1], got {learning_rate}")
    if np.isnan(min_objective) or min_objective == np.inf:
        raise InvalidValueError(f"min_objective must be finite or -inf, got {min_objective}")
    if min_objective == -np.inf and learning_rate < 1:
        # (1 - α)(-inf) + α f is -inf whatever f is: such a threshold could never rise
        raise InvalidValueError(f"a learning_rate of {learning_rate} needs a finite min_objective")
    if rule not in get_args(Rule):
        raise InvalidValueError(f"rule must be one of {', '.join(get_args(Rule))}, got {rule!r}")


def _check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    if array.shape != expected:
        raise InvalidValueError(f"{name} must have shape {expected}, got {array.shape}")


def _check_finite(name: str, finite: np.ndarray) -> None:
    if not finite.all():
        indices = ", ".join(map(str, np.flatnonzero(~finite)))
        raise InvalidValueError(f"{name} must be finite, but are not at index {indices}")


@njit(nogil=True, cache=True)
def _improvement(objective: float, threshold: float) -> float:
    return objective if threshold == -np.inf else objective - threshold


@njit(nogil=True, cache=True)
def _place(store: _Store, cell: int, batch: _Batch, i: int) -> None:
    store.solutions[cell] = batch.solutions[i]
    store.objectives[cell] = batch.objectives[i]
    store.measures[cell] = batch.measures[i]
    store.occupied[cell] = True


@njit(nogil=True, cache=True)
def _add_sequentially(store: _Store, batch: _Batch, alpha: float, improvements: np.ndarray) -> None:
    for i in range(batch.cells.size):
        cell = batch.cells[i]
        f = batch.objectives[i]
        t = store.thresholds[cell]
        improvements[i] = _improvement(f, t)
        if f > t:
            # with α = 1 the general formula would give 0 (-inf) = nan
            store.thresholds[cell] = f if alpha == 1 else (1 - alpha) * t + alpha * f
        if f > t or not store.occupied[cell] or f > store.objectives[cell]:
            _place(store, cell, batch, i)


@njit(nogil=True, cache=True)
def _add_together(
    store: _Store, batch: _Batch, order: np.ndarray, alpha: float, elitist: bool, improvements: np.ndarray
) -> None:
    start = 0
    while start < order.size:
        stop = start + 1
        while stop < order.size and batch.cells[order[stop]] == batch.cells[order[start]]:
            stop += 1
        _settle_cell(store, batch, order[start:stop], alpha, elitist, improvements)
        start = stop


@njit(nogil=True, cache=True)
def _settle_cell(
    store: _Store, batch: _Batch, rivals: np.ndarray, alpha: float, elitist: bool, improvements: np.ndarray
) -> None:
    cell = batch.cells[rivals[0]]
    t = store.thresholds[cell]
    accepted, total, best = 0, 0.0, -1
    for i in rivals:
        f = batch.objectives[i]
        improvements[i] = _improvement(f, t)
        if f > t:
            accepted += 1
            total += f
            if best < 0 or f > batch.objectives[best]:
                best = i
    if accepted:
        kept = (1 - alpha) ** accepted
        # the mean would lower a plain archive's threshold below its elite, as well as meet 0 (-inf) = nan
        raised = batch.objectives[best] if elitist else kept * t + (1 - kept) * (total / accepted)
        store.thresholds[cell] = raised
        _place(store, cell, batch, best)
