"""`Archive`, the elites of which compete for cells, and `ArchiveSpec`, which says what the cells are."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from repertoire.archives.competition import (
    Batch,
    Rule,
    add_sequentially,
    add_together,
    make_store,
)
from repertoire.state import check_shape, checked_batch
from robots.arrays import real_array
from robots.errors import InvalidValueError

MAX_CELLS = 1_000_000
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
    @abstractmethod
    def measure_dim(self) -> int | None:
        """The number of measures that it divides; None if it can divide any number of them."""

    @abstractmethod
    def divide(self, bounds: np.ndarray) -> Locate:
        """Return what finds the cells of measures.

        Args:
            bounds: (m, 2) float64, the low and high of each measure, checked.

        Raises:
            InvalidValueError: the specification is of another number of measures.
        """

    @abstractmethod
    def centroids(self, ranges: Sequence[tuple[float, float]]) -> np.ndarray | None:
        """Return the centroids of the cells, (cells, m); None if cells are arranged along the measures."""


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

    Raises:
        InvalidValueError: a range is empty or not finite, the specification is of another number of measures,
            or the threshold could never rise.
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
        self._store = make_store(self.cells, self.solution_dim, self.measure_dim, self.min_objective)

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
        """Return the cells that measures belong to.

        Args:
            measures: (n, measure_dim).

        Returns:
            (n,) int64, in [0, cells).

        Raises:
            InvalidValueError: if the shape is wrong or a measure is not finite.
        """
        return self._locate(checked_batch("measures", measures, (len(measures), self.measure_dim)))

    def add(
        self,
        solutions: np.ndarray,
        objectives: np.ndarray,
        measures: np.ndarray,
        *,
        opened: np.ndarray | None = None,
    ) -> np.ndarray:
        """Let solutions compete for their cells.

        Args:
            solutions: (n, solution_dim), stored as float32; not copied first if contiguous float32.
            objectives: (n,), larger is better.
            measures: (n, measure_dim).
            opened: (n,) bool, filled with whether each was accepted into a cell that was empty before it, by
                the "batch" rule before all of them; None if that does not matter.

        Returns:
            The improvements, (n,) float64, in the order of the solutions.

        Raises:
            InvalidValueError: if a shape is wrong, or an objective, a measure or a parameter is not finite;
                the archive is then as it was before.
        """
        batch = self._checked_batch(solutions, objectives, measures)
        improvements = np.empty(len(batch.cells))
        if opened is None:
            opened = np.empty(len(batch.cells), np.bool_)
        if self.rule == "sequential":
            add_sequentially(self._store, batch, self.learning_rate, improvements, opened)
        else:
            elitist = self.min_objective == -np.inf
            add_together(self._store, batch, self.learning_rate, elitist, improvements, opened)
        return improvements

    def elites(self) -> Elites:
        """Return a copy of what the archive holds, sorted by cell."""
        cells = np.flatnonzero(self._store.occupied)
        store = self._store
        return Elites(cells, store.solutions[cells], store.objectives[cells], store.measures[cells])

    def sample_elites(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return copies of the solutions of elites drawn uniformly with replacement.

        Args:
            count: how many to draw.
            rng: where the draws come from; not used if the archive is empty.

        Returns:
            (count, solution_dim) float32; (0, solution_dim) if the archive is empty, so that a restart
            survives an empty archive.
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

    def _checked_batch(self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> Batch:
        n = np.size(objectives)
        objectives = checked_batch("objectives", objectives, (n,))
        measures = checked_batch("measures", measures, (n, self.measure_dim))
        solutions = checked_batch("solutions", solutions, (n, self.solution_dim), np.float32)
        return Batch(self._locate(measures), solutions, objectives, measures)


def parse_count(text: str, *, least: int = 1) -> int:
    """Return the whole number in a part of a specification's text.

    Args:
        text: digits, with spaces around them at most.
        least: the lowest number that is accepted.

    Raises:
        InvalidValueError: there is none, or it is not from `least` to a million.
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or not least <= int(digits[:20]) <= MAX_CELLS:
        raise InvalidValueError(f"{text!r} is not a whole number from {least} to {MAX_CELLS:,}")
    return int(digits)


def checked_ranges(ranges: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the (low, high) of each measure as (m, 2) float64.

    Raises:
        InvalidValueError: there is none, or one is not a finite range.
    """
    bounds = real_array("ranges", ranges)
    if not bounds.size:
        raise InvalidValueError("ranges must hold a (low, high) for each measure, got none")
    check_shape("ranges", bounds, (len(np.atleast_1d(bounds)), 2))
    for i, (low, high) in enumerate(bounds.tolist()):
        if not (low < high and np.isfinite(high - low)):  # infinities, nans and too wide a range included
            raise InvalidValueError(f"ranges[{i}] must be finite with low < high, got ({low}, {high})")
    return bounds
