"""Corrected metrics: what a repertoire is worth when several episodes judge an elite instead of one.

An elite won its cell in one episode, and kept it because no other did better in one: its objective is the
largest of many noisy numbers, and its measures are a coincidence in part. Corrected metrics (Flageat & Cully
2020; Tjanaka et al. 2023, "Corrected Metrics") are those of a new archive that the same solutions enter with
their means over fresh episodes.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.evaluation.evaluator import Evaluation, Evaluator
from repertoire.metrics import Metrics
from repertoire.repertoire import Repertoire, Spread
from robots.description import Randomization
from robots.randomization import draw_models
from robots.seeds import SeedFamily
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES


@dataclass(frozen=True, eq=False)
class Correction:
    """A corrected repertoire, and how it compares with the original of k elites."""

    # objectives and measures are means, thresholds its objectives; reproducibility refers to its own cells
    repertoire: Repertoire
    # of the original's elites in their original cells; the rest is nan where an episode diverged
    spread: Spread
    diverged: np.ndarray  # number of the episodes of each of the original's elites that diverged, (k,) int64
    before: Metrics  # of the original
    after: Metrics  # of the corrected repertoire, with the same minimum objective

    @property
    def losses(self) -> dict[str, float]:
        """Each metric before minus after, by name; nan if no elite is left to have a best or a mean."""
        after = asdict(self.after)
        return {name: value - after[name] for name, value in asdict(self.before).items()}

    @property
    def left_out(self) -> int:
        """Number of elites that did not enter the new archive because one of their episodes diverged."""
        return int(np.count_nonzero(self.diverged))


def reevaluation(
    repertoire: Repertoire,
    *,
    episodes: int,
    seed: int,
    randomization: Randomization | None = None,
    backend: Backend = ALL_CORES,
) -> Evaluation:
    """Prepare the episodes of a correction: every elite on the intact robot; `Evaluation.run` runs them.

    The arguments are those of `Evaluator` and `Evaluation`. With a randomization, episodes run on models of
    the robot, so that elites are kept that do well on average over these.
    """
    robot = repertoire.problem.robot or repertoire.robot  # of which episodes end as they did in training
    robots = draw_models(robot, randomization) if randomization else [robot]
    evaluator = Evaluator(repertoire, {"intact": robots}, backend=backend)
    return Evaluation(evaluator, episodes=episodes, seed=seed, family=SeedFamily.EVALUATION)


def correct(evaluation: Evaluation) -> Correction:
    """Correct the repertoire of a finished `reevaluation`: k elites by n episodes of each.

    Elite i with objectives f_ij and measures b_ij enters a new archive with the same cells with Σ_j f_ij / n
    and Σ_j b_ij / n, in the order of the elites; of equals in a cell the first stays. An elite of which any
    episode diverged does not enter: the mean of the others would be that of its luckier part. Specialists
    stay as they are: what is known of them are means already.
    """
    repertoire, n = evaluation.repertoire, evaluation.episodes
    found, elites = evaluation.results(), evaluation.repertoire.elites
    k = len(elites)  # specialists come after them
    objectives = found.objectives.reshape(-1, n)[:k]  # (k, n), nan where the simulation diverged
    measures = found.measures.reshape(-1, n, found.measures.shape[-1])[:k]  # (k, n, m), likewise
    archive = Archive(
        repertoire.settings.archive,
        solution_dim=elites.solutions.shape[1],
        ranges=repertoire.problem.measure_ranges,
    )
    cells = np.full(objectives.shape, -1)  # of each episode; none if it diverged
    known = np.isfinite(objectives)
    cells[known] = archive.cells_of(measures[known])

    def spread(rows: np.ndarray, homes: np.ndarray) -> Spread:
        return Spread(
            objective_std=objectives[rows].std(axis=1),
            measure_std=measures[rows].std(axis=1),
            reproducibility=(cells[rows] == homes[:, None]).mean(axis=1),
            episodes=n,
            seed=evaluation.seed,
        )

    diverged = np.count_nonzero(~known, axis=1)
    rows = np.flatnonzero(diverged == 0)
    means, places = objectives[rows].mean(axis=1), measures[rows].mean(axis=1)
    archive.add(elites.solutions[rows], means, places)
    entered = archive.elites()
    winners = rows[_winners(archive.cells_of(places), means)]
    corrected = replace(
        repertoire,
        elites=entered,
        thresholds=archive.thresholds,
        spread=spread(winners, entered.cells),
        versions=repertoire.versions | evaluation.evaluator.backend.differences,
    )
    return Correction(
        repertoire=corrected,
        spread=spread(np.arange(k), elites.cells),
        diverged=diverged,
        before=repertoire.metrics,
        after=corrected.metrics,
    )


def _winners(cells: np.ndarray, objectives: np.ndarray) -> np.ndarray:
    """Which of n solutions are the best of their cells, the first of equals, in order of cell."""
    order = np.lexsort((-objectives, cells))  # stable
    _, first = np.unique(cells[order], return_index=True)
    return order[first]


def keep_best(repertoire: Repertoire, count: int) -> Repertoire:
    """Keep only so many elites of a corrected repertoire, those with the highest objectives."""
    return keep(repertoire, np.argsort(-repertoire.elites.objectives, kind="stable")[:count])


def keep(repertoire: Repertoire, rows: np.ndarray) -> Repertoire:
    """Keep only some elites, given by their rows in any order."""
    rows = np.unique(rows)
    kept = repertoire.elites.take(rows)
    thresholds = repertoire.thresholds.copy()
    thresholds[np.setdiff1d(repertoire.elites.cells, kept.cells)] = -np.inf  # as where none ever was
    spread = None if repertoire.spread is None else repertoire.spread.take(rows)
    return replace(repertoire, elites=kept, thresholds=thresholds, spread=spread)
