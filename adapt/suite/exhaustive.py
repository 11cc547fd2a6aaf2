"""`TablePlan`: a table of what every controller does under every damage, kept in the study's folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from adapt.damage.text import parse_damage
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table
from adapt.suite.gap import randomised
from repertoire.evaluation import Evaluation
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.files import file_exists, make_folder
from robots.robot import Robot

FOLDER = "tables"
_ANTICIPATED, _SHOWN, _SCORES, _GAP = 0, 1, 2, 3  # keys of the seed


@dataclass(frozen=True)
class TablePlan:
    """A table to be made, or read where it was made before.

    Attributes:
        name: of its file.
        conditions: texts of damages.
        episodes: of every controller under each.
        seed: of the episodes.
        gap: seed of the differences between this robot and the rehearsed one, see `randomised`; None for the
            rehearsed one itself.
    """

    name: str
    conditions: tuple[str, ...]
    episodes: int
    seed: int
    gap: int | None = None

    def robot(self, repertoire: Repertoire) -> Robot:
        """What is damaged."""
        return repertoire.robot if self.gap is None else randomised(repertoire.robot, self.gap)

    def evaluation(self, repertoire: Repertoire, *, threads: int | None = None) -> Evaluation:
        """The evaluation that makes the table."""
        robot = self.robot(repertoire)
        return rehearsal(
            repertoire,
            [parse_damage(text, robot) for text in self.conditions],
            episodes=self.episodes,
            seed=self.seed,
            robot=robot,
            threads=threads,
        )

    def total(self, controllers: int) -> int:
        """Episodes that the table takes; the healthy robot runs too."""
        return controllers * self.episodes * (1 + len(self.conditions))

    def path(self, folder: Path) -> Path:
        """Its file in the study's folder."""
        return folder / FOLDER / f"{self.name}.h5"

    def make(
        self,
        repertoire: Repertoire,
        folder: Path,
        *,
        threads: int | None = None,
        on_progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Table | None:
        """Make the table, going on where an earlier attempt was stopped, or read it.

        Args:
            repertoire: whose controllers run.
            folder: of the study.
            threads: of the simulation; the result does not depend on it.
            on_progress: called from other threads with the number of episodes finished.
            stop: asked now and then whether to save what is done and to leave it at that.

        Returns:
            The table; None if it was stopped.

        Raises:
            InvalidFileError: a file cannot be read or written, or is not what it should be.
        """
        path = self.path(folder)
        if not file_exists(path):
            make_folder(path.parent)
            unfinished = path.with_name(f"{path.stem}-unfinished.h5")
            with self.evaluation(repertoire, threads=threads) as evaluation:
                if file_exists(unfinished):
                    evaluation.restore(unfinished)
                evaluation.run(unfinished, on_progress=on_progress, stop=stop)
                if not evaluation.finished:
                    return None
                write_table(path, rehearsed_table(evaluation), evaluation.identity)
            unfinished.unlink(missing_ok=True)
        return read_table(path, repertoire, robot=self.robot(repertoire))


@dataclass(frozen=True)
class TablePlans:
    """All tables that a benchmark needs beside the library.

    Attributes:
        anticipated: what a library that foresaw the damages would hold of them.
        shown: what trials show of the rehearsed robot, see `Case`.
        scores: what recommendations are scored by.
        gaps: the same two of robots that differ from the rehearsed one, each for some of the damages.
    """

    anticipated: TablePlan
    shown: TablePlan
    scores: TablePlan
    gaps: tuple[tuple[TablePlan, TablePlan], ...]

    def all(self) -> list[TablePlan]:
        """In the order in which they are made."""
        return [*self.without_gap(), *(plan for pair in self.gaps for plan in pair)]

    def without_gap(self) -> list[TablePlan]:
        """Those of the rehearsed robot."""
        return [self.anticipated, self.shown, self.scores]


def plan_tables(
    damages: Sequence[str], *, rehearsed_episodes: int, episodes: int, gaps: int, seed: int
) -> TablePlans:
    """Plan the tables of a benchmark.

    Args:
        damages: to recover from.
        rehearsed_episodes: of each controller in the library.
        episodes: of each controller in each of the two sets by which the truth is known.
        gaps: robots that differ from the rehearsed one; at least 1; the damages are dealt out to them.
        seed: of the study.
    """

    def plan(name: str, conditions: Sequence[str], count: int, key: int, gap: int | None = None) -> TablePlan:
        return TablePlan(name, tuple(conditions), count, _derived(seed, key), gap)

    dealt = [tuple(damages[gap::gaps]) for gap in range(min(gaps, len(damages)))]
    return TablePlans(
        anticipated=plan("anticipated", damages, rehearsed_episodes, _ANTICIPATED),
        shown=plan("shown", damages, episodes, _SHOWN),
        scores=plan("scores", damages, episodes, _SCORES),
        gaps=tuple(
            (
                plan(f"gap-{gap + 1}-shown", share, episodes, _SHOWN, _derived(seed, _GAP + gap)),
                plan(f"gap-{gap + 1}-scores", share, episodes, _SCORES, _derived(seed, _GAP + gap)),
            )
            for gap, share in enumerate(dealt)
        ),
    )


def join(tables: Sequence[Table]) -> Table:
    """One table of the conditions of several, each once, of the same controllers.

    Raises:
        InvalidValueError: they differ in controllers or in what counts as evidence.
    """
    first = tables[0]
    for table in tables:
        if table.evidence_names != first.evidence_names or table.noise.shape[1:] != first.noise.shape[1:]:
            raise InvalidValueError("tables to be joined must be of the same controllers and evidence")

    def stacked(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])

    return replace(
        first,
        conditions=tuple(text for table in tables for text in table.conditions),
        objectives=stacked("objectives"),
        noise=stacked("noise"),
        falls=stacked("falls"),
        evidence=stacked("evidence"),
        evidence_std=stacked("evidence_std"),
    )


def _derived(seed: int, key: int) -> int:
    """A seed that follows from the study's."""
    return int(np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1)[0])
