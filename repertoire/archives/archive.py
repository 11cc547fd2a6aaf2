"""`Archive`, whose elites compete for cells by one of two rules, and `ArchiveSpec`: what the cells are."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from repertoire.state import check_shape, checked_batch
from robots.arrays import real_array
from robots.compilation import compiled
from robots.errors import InvalidValueError

MAX_CELLS = 1_000_000
Rule = Literal["sequential", "batch"]
# from measures (n, m), finite and contiguous, to cells (n,) int64
Locate = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Elites:
    """Solutions with what they achieved and the cells that they belong to.

    Of an archive there is one for each occupied cell, in ascending order of cell. Specialists and joined
    gaits can have several for a cell, in any order.

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

    def take(self, rows: np.ndarray) -> "Elites":
        """Return those of some rows, in the order of the rows."""
        return Elites(*(values[rows] for values in vars(self).values()))


@dataclass(frozen=True)
class ArchiveSpec(ABC):
    """How measure space is divided into cells.

    A specification is part of a run's settings, where it is written as text, `KIND:ARGUMENTS`; two with the
    same text are equal.

    Attributes:
        kind: the name in the table and in the text.
        form: how the text looks like, for help and errors.
    """

    kind: ClassVar[str]
    form: ClassVar[str]

    @classmethod
    @abstractmethod
    def parse(cls, arguments: str) -> Self:
        """Make a specification of the text after the colon.

        Raises:
            InvalidValueError: it is not of this form, or a number is out of range.
        """

    @abstractmethod
    def __str__(self) -> str:
        """The text that `parse_archive` reads."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many values each index of a cell has; cells are numbered in row-major order."""

    @property
    def cells(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    @property
    def measure_dim(self) -> int | None:
        """The number of measures that it divides; None if it can divide any number of them."""
        return None

    @abstractmethod
    def divide(self, bounds: np.ndarray) -> Locate:
        """Return what finds the cells of measures.

        Args:
            bounds: (m, 2) float64, the low and high of each measure, checked.

        Raises:
            InvalidValueError: the specification is of another number of measures.
        """

    def centroids(self, ranges: Sequence[tuple[float, float]]) -> np.ndarray | None:
        """Return the centroids of the cells, (cells, m); None if cells are arranged along the measures."""
        return None


class _Store(NamedTuple):
    """Everything that changes in an archive; a named tuple because the kernels take it whole."""

    solutions: np.ndarray  # (cells, solution_dim) float32, meaningful where occupied
    objectives: np.ndarray  # (cells,)
    measures: np.ndarray  # (cells, measure_dim)
    thresholds: np.ndarray  # (cells,)
    occupied: np.ndarray  # (cells,) bool
    groups: np.ndarray  # (cells,) int32, scratch of `_add_together`: 0 between its calls


class _Batch(NamedTuple):
    """Checked candidates and the cells that they compete for."""

    cells: np.ndarray  # (n,) int64
    solutions: np.ndarray  # (n, solution_dim) float32
    objectives: np.ndarray  # (n,)
    measures: np.ndarray  # (n, measure_dim)


class Archive:
    """At most one elite a cell; a threshold in each cell says what counts as an improvement.

    Thresholds start at `min_objective`, and `rule` says how a call of `add` moves them (Fontaine & Nikolaidis
    2023, CMA-MAE):

    * "sequential": solution by solution, as in the paper's Algorithm 1. The improvement is f - t. If f > t,
      then t <- (1 - α) t + α f. A solution is stored if f > t, and also if its cell is empty or it beats the
      cell's elite, as in the authors' published code; neither of these two moves the threshold.
    * "batch": as in pyribs. Improvements are relative to the thresholds before the call. The k solutions of
      a cell that have f > t move it to (1 - α)^k t + (1 - (1 - α)^k) mean(f), and the best of the k, or the
      first of equals, is stored. So an empty cell too refuses what does not exceed `min_objective`.

    With `min_objective` -inf and `learning_rate` 1 (the defaults) either rule is plain MAP-Elites: the
    threshold is the elite's objective, an equal does not replace it, and the improvement of a solution that
    fills an empty cell is its objective, since there is nothing to compare it with.

    Args:
        spec: which cell a measure belongs to.
        solution_dim: number of parameters of a solution.
        ranges: (low, high) of each measure, in units of the measure.
        learning_rate: α in [0, 1]; 0 never moves a threshold, 1 moves it onto what was accepted.
        min_objective: where thresholds start, in units of the objective; -inf only with a learning rate of 1.
        rule: how thresholds move, see above.
    """

    def __init__(
        self,
        spec: ArchiveSpec,
        *,
        solution_dim: int,
        ranges: Sequence[tuple[float, float]],
        learning_rate: float = 1.0,
        min_objective: float = -np.inf,
        rule: Rule = "sequential",
    ) -> None:
        if min_objective == -np.inf and learning_rate < 1:
            # (1 - α)(-inf) + α f is -inf whatever f is: such a threshold could never rise
            raise InvalidValueError(f"a learning_rate of {learning_rate} needs a finite min_objective")
        bounds = checked_ranges(ranges)
        self.cells = spec.cells
        self.solution_dim = solution_dim
        self.measure_dim = len(bounds)
        self.ranges = tuple((low, high) for low, high in bounds.tolist())
        self.learning_rate = float(learning_rate)
        self.min_objective = float(min_objective)
        self.rule = rule
        self._locate = spec.divide(bounds)
        self._store = _Store(
            # zeroed pages are committed only when first written: cells never filled cost no memory
            solutions=np.zeros((self.cells, self.solution_dim), np.float32),
            objectives=np.zeros(self.cells),
            measures=np.zeros((self.cells, self.measure_dim)),
            thresholds=np.full(self.cells, self.min_objective, np.float64),
            occupied=np.zeros(self.cells, np.bool_),
            groups=np.zeros(self.cells, np.int32),
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

    def cells_of(self, measures: np.ndarray) -> np.ndarray:
        """Return the cells (n,) int64 that measures (n, measure_dim) belong to."""
        return self._locate(checked_batch("measures", measures, (len(measures), self.measure_dim)))

    def add(
        self,
        solutions: np.ndarray,
        objectives: np.ndarray,
        measures: np.ndarray,
        *,
        opened: np.ndarray | None = None,
    ) -> np.ndarray:
        """Let solutions compete for their cells, and return their improvements, (n,) float64.

        Args:
            solutions: (n, solution_dim), stored as float32.
            objectives: (n,), larger is better.
            measures: (n, measure_dim).
            opened: (n,) bool, filled with whether each was accepted into a cell that was empty before it, by
                the "batch" rule before all of them; None if that does not matter.
        """
        batch = self._checked_batch(solutions, objectives, measures)
        improvements = np.empty(len(batch.cells))
        if opened is None:
            opened = np.empty(len(batch.cells), np.bool_)
        if self.rule == "sequential":
            _add_sequentially(self._store, batch, self.learning_rate, improvements, opened)
        else:
            elitist = self.min_objective == -np.inf
            _add_together(self._store, batch, self.learning_rate, elitist, improvements, opened)
        return improvements

    def elites(self) -> Elites:
        """Return a copy of what the archive holds, sorted by cell."""
        cells = np.flatnonzero(self._store.occupied)
        store = self._store
        return Elites(cells, store.solutions[cells], store.objectives[cells], store.measures[cells])

    def sample_elites(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return copies (count, solution_dim) float32 of elites' solutions, drawn uniformly with replacement.

        If the archive is empty there are none, and nothing is drawn from `rng`.
        """
        cells = np.flatnonzero(self._store.occupied)
        drawn = cells[rng.integers(len(cells), size=count)] if len(cells) else cells
        return self._store.solutions[drawn]

    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold: the fields of `Elites`, and the thresholds of all cells."""
        return {**vars(self.elites()), "thresholds": self.thresholds}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the archive that `state` was taken from, constructed with the same arguments."""
        cells = state["cells"]
        self._store.thresholds[:] = state["thresholds"]
        self._store.occupied[:] = False
        self._store.occupied[cells] = True
        self._store.solutions[cells] = state["solutions"]
        self._store.objectives[cells] = state["objectives"]
        self._store.measures[cells] = state["measures"]

    def _checked_batch(self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> _Batch:
        n = np.size(objectives)
        objectives = checked_batch("objectives", objectives, (n,))
        measures = checked_batch("measures", measures, (n, self.measure_dim))
        solutions = checked_batch("solutions", solutions, (n, self.solution_dim), np.float32)
        return _Batch(self._locate(measures), solutions, objectives, measures)


def parse_count(text: str, *, least: int = 1) -> int:
    """Return the whole number, from `least` to a million, in a part of a specification's text."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or not least <= int(digits[:20]) <= MAX_CELLS:
        raise InvalidValueError(f"{text!r} is not a whole number from {least} to {MAX_CELLS:,}")
    return int(digits)


def checked_ranges(ranges: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the (low, high) of each measure as (m, 2) float64."""
    bounds = real_array("ranges", ranges)
    if not bounds.size:
        raise InvalidValueError("ranges must hold a (low, high) for each measure, got none")
    check_shape("ranges", bounds, (len(np.atleast_1d(bounds)), 2))
    for i, (low, high) in enumerate(bounds.tolist()):
        if not (low < high and np.isfinite(high - low)):  # infinities, nans and too wide a range included
            raise InvalidValueError(f"ranges[{i}] must be finite with low < high, got ({low}, {high})")
    return bounds


@compiled()
def _add_sequentially(
    store: _Store, batch: _Batch, alpha: float, improvements: np.ndarray, opened: np.ndarray
) -> None:
    """Let candidates compete one after the other, by the "sequential" rule of `Archive`.

    Fills the improvements, (n,), and (n,) bool whether each was accepted into an empty cell.
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
def _add_together(
    store: _Store, batch: _Batch, alpha: float, elitist: bool, improvements: np.ndarray, opened: np.ndarray
) -> None:
    """Let candidates compete at once, by the "batch" rule of `Archive`; see `_add_sequentially`.

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
    store: _Store,
    batch: _Batch,
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
def _copy(store: _Store, batch: _Batch, placed: np.ndarray) -> None:
    """Copy the solutions and measures of candidates to their cells, in the order of `placed`."""
    for i in placed:
        cell = batch.cells[i]
        for j in range(batch.solutions.shape[1]):  # an assignment of rows would not become a plain copy
            store.solutions[cell, j] = batch.solutions[i, j]
        for j in range(batch.measures.shape[1]):
            store.measures[cell, j] = batch.measures[i, j]
