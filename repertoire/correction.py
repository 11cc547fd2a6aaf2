"""`correct`: what a repertoire is worth when its elites are judged by several episodes instead of one.

An elite got its cell by one episode, and kept it because no other did better in one: its objective is the
largest of many noisy numbers, and its measures are a coincidence in part. Corrected metrics (Flageat & Cully
2020; Tjanaka et al. 2023, "Corrected Metrics") are those of a new archive that the same solutions enter with
their means over fresh episodes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.archives.competition import check_shape
from repertoire.archives.grid import GridArchive
from repertoire.metrics import Metrics
from repertoire.repertoire import Repertoire
from repertoire.samples import Samples
from repertoire.spread import Spread


@dataclass(frozen=True, eq=False)
class Reassessed:
    """What each of a repertoire's k elites did in n fresh episodes, in their order there.

    Attributes:
        objectives: means over the episodes, (k,) float64; nan for an elite of which one diverged.
        measures: means over the episodes, (k, m) float64; nan likewise.
        spread: nan likewise, but for the reproducibility: a diverged episode is in no cell.
        diverged: how many of the episodes did, (k,) int64.
    """

    objectives: np.ndarray
    measures: np.ndarray
    spread: Spread
    diverged: np.ndarray


@dataclass(frozen=True, eq=False)
class Correction:
    """A repertoire corrected, and what there is to say about the original.

    Attributes:
        repertoire: the corrected one. Its objectives and measures are means, and the reproducibility in its
            spread is that in its cells. Its thresholds are the new archive's: the elites' objectives.
        reassessed: the original elites; their reproducibility is that in their original cells.
        before: metrics of the original.
        after: metrics of the corrected one, with the same minimum objective.
    """

    repertoire: Repertoire
    reassessed: Reassessed
    before: Metrics
    after: Metrics

    @property
    def losses(self) -> dict[str, float]:
        """Each metric before minus after, by name; nan if nothing is left to have a best or a mean."""
        after = asdict(self.after)
        return {name: value - after[name] for name, value in asdict(self.before).items()}

    @property
    def left_out(self) -> int:
        """Elites that did not enter the new archive because one of their episodes diverged."""
        return int(np.count_nonzero(self.reassessed.diverged))


def correct(
    repertoire: Repertoire,
    samples: Samples,
    *,
    episodes: int,
    seed: int,
    ranges: Sequence[tuple[float, float]],
) -> Correction:
    """Correct a repertoire.

    With f_ij the objective and b_ij the measures of elite i in episode j of n, elite i enters a new archive
    of the same grid with Σ_j f_ij / n and Σ_j b_ij / n, in order of cell; of equals in a cell the first
    stays. An elite of which any episode diverged stays out: the mean of the others would be that of its
    luckier part.

    Args:
        repertoire: the original, of k elites.
        samples: k n episodes, those of the first elite first.
        episodes: n.
        seed: from which the episodes' seeds derive.
        ranges: low and high of each measure, of the grid.

    Raises:
        InvalidValueError: there are not k n episodes.
    """
    elites, k = repertoire.elites, len(repertoire)
    check_shape("objectives", samples.objectives, (k * episodes,))
    archive = GridArchive(solution_dim=elites.solutions.shape[1], shape=repertoire.grid, ranges=ranges)
    table = _Table(samples, archive, episodes, seed)
    objectives, measures = table.objectives.mean(axis=1), table.measures.mean(axis=1)
    diverged = (table.cells < 0).sum(axis=1)
    rows = np.flatnonzero(diverged == 0)
    archive.add(elites.solutions[rows], objectives[rows], measures[rows])
    entered = archive.elites()
    winners = _winners(archive, rows, objectives, measures)
    corrected = replace(
        repertoire,
        elites=entered,
        thresholds=archive.thresholds,
        spread=table.spread(winners, entered.cells),
    )
    reassessed = Reassessed(objectives, measures, table.spread(np.arange(k), elites.cells), diverged)
    return Correction(corrected, reassessed, before=repertoire.metrics, after=corrected.metrics)


class _Table:
    """Samples by elite and episode: objectives (k, n), measures (k, n, m), cells (k, n), -1 if diverged."""

    def __init__(self, samples: Samples, archive: Archive, episodes: int, seed: int) -> None:
        self.objectives = samples.objectives.reshape(-1, episodes)
        self.measures = samples.measures.reshape(*self.objectives.shape, archive.measure_dim)
        self.cells = np.full(self.objectives.shape, -1)
        known = np.isfinite(self.objectives)
        self.cells[known] = archive.cells_of(self.measures[known])
        self._seed = seed

    def spread(self, rows: np.ndarray, cells: np.ndarray) -> Spread:
        """Spread of the elites in some rows, whose cells are these."""
        return Spread(
            objective_std=self.objectives[rows].std(axis=1),
            measure_std=self.measures[rows].std(axis=1),
            reproducibility=(self.cells[rows] == cells[:, None]).mean(axis=1),
            episodes=self.objectives.shape[1],
            seed=self._seed,
        )


def _winners(archive: Archive, rows: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> np.ndarray:
    """Which of the rows that entered a new archive are its elites, in order of cell."""
    cells = archive.cells_of(measures[rows])
    best = objectives[rows] == archive.thresholds[cells]  # without a floor, thresholds are elites' objectives
    _, first = np.unique(cells[best], return_index=True)
    return rows[best][first]
