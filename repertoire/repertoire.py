"""`Repertoire`: what training leaves behind, and what recovery starts from."""

import math
import textwrap
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from repertoire.algorithms.settings import Settings
from repertoire.archives.archive import Elites
from repertoire.metrics import Metrics, measure
from repertoire.problems.record import ProblemRecord
from robots.arrays import any_array
from robots.controllers.controller import Policy
from robots.errors import InvalidValueError, shown
from robots.robot import Robot
from robots.words import short, version_words

if TYPE_CHECKING:
    import pandas

WHOLE = ("healthy",)  # what a gait is kept for that is for no damage
_DECILE = 0.1
_WIDTH = 110  # of a line that outlines a repertoire [characters]
Which = tuple[int, ...] | int | Literal["best"]  # cell or row of a gait, or the best elite


@dataclass(frozen=True, eq=False)
class Spread:
    """How much the n episodes of each of k elites differ; episode j has the same seed for all elites.

    Of an elite with objectives f_1 to f_n, `objective_std` is sqrt(Σ (f_j - f̄)² / n) with f̄ = Σ f_j / n: that
    of the n episodes, 0 if n is 1. It underestimates the standard deviation of all possible episodes by a
    factor of about sqrt(1 - 1/n). `measure_std` is the same of each measure.

    Attributes:
        objective_std: (k,) float64, in units of the objective.
        measure_std: (k, m) float64, in units of the measures.
        reproducibility: share of the n episodes whose measures belong to the elite's cell, (k,) float64.
        episodes: n.
        seed: from which the seeds of the episodes derive.
    """

    objective_std: np.ndarray
    measure_std: np.ndarray
    reproducibility: np.ndarray
    episodes: int
    seed: int

    def take(self, rows: np.ndarray) -> "Spread":
        """The spread of some elites."""
        columns = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **columns)

    def summaries(self) -> dict[str, tuple[float, float]]:
        """Median and mild end of the worst tenth of the elites for each kind of spread, by name.

        An elite counts with the mean over its measures. Elites without a spread, being nan, do not count; nan
        if there are no others.
        """
        known = np.isfinite(self.objective_std)
        kinds = {
            "objective std": (self.objective_std[known], 1 - _DECILE),
            "measure std": (self.measure_std[known].mean(axis=1), 1 - _DECILE),
            "reproducibility": (self.reproducibility[known], _DECILE),
        }
        return {
            name: (float(np.median(values)), float(np.quantile(values, worst)))
            if len(values)
            else (math.nan, math.nan)
            for name, (values, worst) in kinds.items()
        }


@dataclass(frozen=True, eq=False)
class Specialists:
    """s gaits that are kept for what they do on a damaged robot, and where they come from.

    A cell may have several of them, and an elite too that does better on the intact robot.

    Attributes:
        gaits: with their objectives and measures on the intact robot.
        origins: cells of the elites that they descend from, (s,) int64.
        episodes: that their refinement took, (s,) int64; 0 of the mirror image of another gait.
        damages: for each the texts of the damages that it was refined or mirrored for: one, or those that
            were believed.
    """

    gaits: Elites
    origins: np.ndarray
    episodes: np.ndarray
    damages: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.gaits)

    @property
    def known(self) -> np.ndarray:
        """Which of them are for no damage, but were known before the training: a policy of others, (s,)."""
        return np.array([texts == WHOLE for texts in self.damages]) & (self.episodes == 0)


def joined(first: Elites, second: Elites) -> Elites:
    """Gaits followed by further ones."""
    return Elites(
        *(np.concatenate(pair) for pair in zip(vars(first).values(), vars(second).values(), strict=True))
    )


@dataclass(frozen=True, eq=False)
class Repertoire:
    """The elites of a result archive, with everything needed to understand and use them.

    Its gaits are the elites, which metrics and pictures are about, and after them its specialists. Rows count
    them in this order.

    Attributes:
        problem: the facts of the problem that they solve.
        settings: of the search that found them.
        elites: the best solution of each occupied cell, k of them.
        thresholds: of the search's soft archive when it ended, one per cell, (cells,).
        history: columns of equal length, one row per iteration of training.
        versions: of the software that trained it, by name.
        spread: of the elites, if it was corrected: objectives and measures are then means over episodes.
        specialists: gaits for damages, which do not compete for cells; None if there are none.
    """

    problem: ProblemRecord
    settings: Settings
    elites: Elites
    thresholds: np.ndarray
    history: dict[str, np.ndarray] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    spread: Spread | None = None
    specialists: Specialists | None = None

    def __len__(self) -> int:
        return len(self.elites) + len(self.specialists or ())

    @cached_property
    def gaits(self) -> Elites:
        """All that can be walked with, by row: the elites, then the specialists."""
        return self.elites if self.specialists is None else joined(self.elites, self.specialists.gaits)

    @property
    def origins(self) -> np.ndarray:
        """Cells of the elites from which all gaits descend, by row."""
        cells, found = self.elites.cells, self.specialists
        return cells if found is None else np.concatenate([cells, found.origins])

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12}{value}" for name, value in self._outline().items())

    def _outline(self) -> dict[str, str]:
        """The five facts that matter most, each cut to a line."""
        facts = self.facts()
        facts["archive"] += f", coverage {facts['coverage']}, QD score {facts['QD score'].split()[0]}"
        facts["best"] += f", mean {facts['mean']}, {facts.get('corrected', self.caution or 'exact')}"
        subject = "robot" if self.problem.robot else "problem"
        names = (subject, "algorithm", "evaluations", "archive", "best")
        return {name: textwrap.shorten(facts[name], _WIDTH) for name in names}

    @cached_property
    def robot(self) -> Robot:
        """The robot that they drive, with the episode length of the run; its episodes end when it falls.

        That of the training, whose episodes end as its description says, is `problem.robot`.
        """
        if self.problem.robot is None:
            raise InvalidValueError(
                f"the repertoire is of {self.problem.name}, which is not a robot: "
                "choose one that was trained for a robot"
            )
        return self.problem.robot.until_it_falls()

    @property
    def controller(self) -> str:
        """Shape of the robot's controllers, e.g. `mlp-28-128-128-8`; "" without a robot."""
        return self.problem.controller

    @property
    def grid(self) -> tuple[int, ...]:
        """Cells along each measure."""
        return self.settings.archive.shape

    @property
    def metrics(self) -> Metrics:
        """How good it is."""
        return measure(
            self.elites.objectives, cells=math.prod(self.grid), min_objective=self.settings.min_objective
        )

    @property
    def caution(self) -> str:
        """Why its objectives are not to be taken at their word; "" if they are."""
        if self.problem.robot is None or self.spread is not None:
            return ""
        return "the objectives are those of single episodes, which flatter the best most"

    @property
    def evaluations(self) -> int:
        """How many its training took so far, as far as its history tells."""
        return self.last("evaluations")

    def best(self) -> int:
        """Row of the elite with the highest objective."""
        if not len(self.elites):
            raise InvalidValueError("the repertoire is empty: it has no best controller")
        return int(np.argmax(self.elites.objectives))

    def find(self, which: Which) -> int:
        """Row of a gait.

        Args:
            which: the cell of an elite; a row, counted from 0; or the elite with the highest objective.
        """
        if isinstance(which, str) and which == "best":
            return self.best()
        if not isinstance(which, int | np.integer):
            return self.row(which)
        if not 0 <= which < len(self) or isinstance(which, bool):
            raise InvalidValueError(
                f"there is no row {which}: the repertoire has {len(self):,} gaits, counted from 0"
            )
        return int(which)

    def row(self, cell: tuple[int, ...]) -> int:
        """Row of the elite in a cell.

        Args:
            cell: index of the cell along each measure, counted from 0.
        """
        array, bounds = any_array(cell), " x ".join(str(size) for size in self.grid)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidValueError(
                'a gait is named by its cell, such as (1, 0, 3, 2), by its row or as "best", '
                f"not by {shown(cell)}"
            )
        cell = tuple(array.tolist())
        if len(cell) != len(self.grid) or any(
            not 0 <= i < size for i, size in zip(cell, self.grid, strict=True)
        ):
            raise InvalidValueError(
                f"there is no cell {format_cell(cell)}: the archive has {bounds} cells, each counted from 0"
            )
        flat = int(np.ravel_multi_index(cell, self.grid))
        found = np.flatnonzero(self.elites.cells == flat)
        if not len(found):
            raise InvalidValueError(f"cell {format_cell(cell)} is empty; {self._occupied_near(cell)}")
        return int(found[0])

    def label(self, row: int) -> str:
        """What names a gait: the cell of an elite, the row of a specialist, which cells do not tell apart."""
        return f"cell {format_cell(self.cell(row))}" if row < len(self.elites) else f"row {row}"

    def speciality(self, row: int) -> str:
        """The damages for which a specialist was refined, in words; "" of any other gait."""
        number, found = row - len(self.elites), self.specialists
        return " or ".join(found.damages[number]) if found and 0 <= number < len(found) else ""

    def cell(self, row: int) -> tuple[int, ...]:
        """Index along each measure of a gait's cell."""
        return tuple(int(i) for i in np.unravel_index(self.gaits.cells[row], self.grid))

    def policy(self, which: Which = "best") -> Policy:
        """One of its controllers, as a function from observations to actions.

        Args:
            which: see `find`.
        """
        return Policy(self.robot.controller, self.gaits.solutions[self.find(which)])

    def to_pandas(self, *, solutions: bool = False) -> "pandas.DataFrame":
        """A table with a row per gait: its cell, objective and measures, and their spread if it is known.

        Of specialists also the damages that they are for. With its solution, if that is asked for,
        in columns `parameter 1` to `parameter n`.
        """
        import pandas  # takes a third of a second

        columns = {
            "cell": [self.cell(row) for row in range(len(self))],
            "objective": self.gaits.objectives,
            **dict(zip(self.problem.measure_names, self.gaits.measures.T, strict=True)),
        }
        unknown = np.full(len(self) - len(self.elites), np.nan)  # the spread of specialists
        if self.spread is not None:
            columns["objective std"] = np.append(self.spread.objective_std, unknown)
            columns["reproducibility"] = np.append(self.spread.reproducibility, unknown)
        if self.specialists is not None:
            columns["specialist for"] = [self.speciality(row) for row in range(len(self))]
        table = pandas.DataFrame(columns)
        if not solutions:
            return table
        names = [f"parameter {number}" for number in range(1, self.problem.solution_dim + 1)]
        return table.join(pandas.DataFrame(self.gaits.solutions, columns=names))

    def facts(self) -> dict[str, str]:
        """What there is to say about it, in words."""
        settings, metrics = self.settings, self.metrics
        others = self.last("runs") - 1
        merged = f", merged with {others} other run{'s' * (others > 1)}" if others > 0 else ""
        where = f" (cell {format_cell(self.cell(self.best()))})" if len(self.elites) else ""
        return {
            **self.problem.facts(),
            "algorithm": f"{settings.algorithm}, seed {settings.seed}{merged}",
            "settings": ", ".join(f"{name} {value}" for name, value in settings.search.items()),
            "evaluations": f"{self.evaluations:,} of {settings.evaluations:,}, "
            f"{self.last('diverged')} diverged",
            "archive": " x ".join(map(str, self.grid)) + f" cells, {metrics.elites} filled",
            "coverage": f"{metrics.coverage:.1%}",
            "QD score": f"{metrics.qd_score:,.1f} (objectives count from {settings.min_objective:g})",
            "best": f"{short(metrics.best)}{where}" if len(self.elites) else "none",
            "mean": short(metrics.mean) if len(self.elites) else "none",
            **self._spread_facts(),
            **self._specialist_facts(),
            "versions": version_words(self.versions),
        }

    def _spread_facts(self) -> dict[str, str]:
        if self.spread is None:
            return {}
        episodes, seed = self.spread.episodes, self.spread.seed
        objective, measures, same = (median for median, _ in self.spread.summaries().values())
        medians = f": objective ± {objective:.1f}, measures ± {measures:.3f}, {same:.0%} in the elite's cell"
        return {
            "corrected": f"objectives and measures are means over {episodes} episodes, seed {seed}",
            "spread": "medians over the elites" + medians if len(self.elites) else "none",
        }

    def _specialist_facts(self) -> dict[str, str]:
        found, first = self.specialists, len(self.elites)
        if found is None:
            return {}
        facts = {"specialists": f"{len(found)}, which are no part of the archive, for damages:"}
        for number in range(len(found)):
            parent = format_cell(tuple(map(int, np.unravel_index(found.origins[number], self.grid))))
            episodes = found.episodes[number]
            made = f"refined from cell {parent} in {episodes:,} episodes"
            origin = made if episodes else f"a mirror image, descends from cell {parent}"
            origin = "the policy alone, around which gaits were trained" if found.known[number] else origin
            facts[f"  row {first + number}"] = f"{self.speciality(first + number)}, {origin}"
        return facts

    def last(self, column: str) -> int:
        """Last value of a column of the history that counts, 0 where there is none."""
        values = self.history.get(column)
        return int(values[-1]) if values is not None and len(values) else 0

    def _occupied_near(self, cell: tuple[int, ...]) -> str:
        if not len(self.elites):
            return "so is every other cell"
        centroids = self.settings.archive.centroids(self.problem.measure_ranges)
        if centroids is None:  # cells are as near as their indices
            cells = np.stack(np.unravel_index(self.elites.cells, self.grid), axis=1)  # (k, m)
            distances = np.abs(cells - np.array(cell)).sum(axis=1)
        else:
            widths = np.diff(self.problem.measure_ranges, axis=1)[:, 0]
            steps = (centroids[self.elites.cells] - centroids[cell[0]]) / widths  # (k, m)
            distances = (steps**2).sum(axis=1)
        nearest = np.argsort(distances, kind="stable")[:3]
        return "the nearest that are not: " + " ".join(format_cell(self.cell(row)) for row in nearest)


def parse_cell(text: str) -> tuple[int, ...]:
    """Read a cell as `format_cell` writes it."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InvalidValueError(
            f"a cell is whole numbers with commas between, e.g. 1,0,3,2, not {shown(text)}"
        )
    return tuple(map(int, parts))


def format_cell(cell: tuple[int, ...]) -> str:
    """Write a cell as on the command line, e.g. `1,0,3,2`."""
    return ",".join(str(i) for i in cell)
