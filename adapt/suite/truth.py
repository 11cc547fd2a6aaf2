"""What is true of every controller under every damage of a benchmark: its tables and its oracles."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adapt.damage.damage import Damage
from adapt.oracle import find_oracle
from adapt.rehearsal.rehearsal import damaged_robots, rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table
from adapt.suite.gap import randomised
from repertoire.evaluation import Evaluation, Evaluator
from repertoire.repertoire import Repertoire
from robots.files import file_exists, make_folder, write_text
from robots.robot import Robot

FOLDER = "tables"
_ANTICIPATED, _SHOWN, _SCORES, _GAP = 0, 1, 2, 3  # keys of the seed
Oracles = Mapping[str, int]  # row of the best controller by condition


@dataclass(frozen=True)
class TablePlan:
    """A table of all controllers under some damages, which is made once and read from then on.

    Attributes:
        name: of its file.
        damages: under which the controllers run; the healthy robot runs too.
        episodes: of every controller under each of them.
        seed: from which the seeds of the episodes derive.
        gap: seed of the differences between this robot and the rehearsed one, see `randomised`; None for the
            rehearsed robot itself.
    """

    name: str
    damages: tuple[Damage, ...]
    episodes: int
    seed: int
    gap: int | None = None

    def robot(self, repertoire: Repertoire) -> Robot:
        """The robot that is damaged."""
        return repertoire.robot if self.gap is None else randomised(repertoire.robot, self.gap)

    def evaluation(self, repertoire: Repertoire, *, threads: int | None = None) -> Evaluation:
        """The evaluation that makes the table."""
        return rehearsal(
            repertoire,
            self.damages,
            episodes=self.episodes,
            seed=self.seed,
            robot=self.robot(repertoire),
            threads=threads,
        )

    def total(self, controllers: int) -> int:
        """Episodes that the table takes."""
        return controllers * self.episodes * (1 + len(self.damages))

    def path(self, folder: Path) -> Path:
        """Its file in the folder of the benchmark."""
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
        """Make the table, going on from an interrupted attempt, or read it.

        Args:
            repertoire: whose controllers run.
            folder: of the benchmark.
            threads: of the simulation; the result does not depend on it.
            on_progress: called from other threads with the number of episodes finished.
            stop: asked now and then whether to save what is finished and return.

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

    def oracles(self, repertoire: Repertoire, folder: Path, table: Table, *, threads: int | None) -> Oracles:
        """The best controller under each condition of the table, found once and kept in a file.

        Args:
            repertoire: whose controllers run.
            folder: of the benchmark.
            table: that was made by this plan.
            threads: of the simulation; the result does not depend on it.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        path = self.path(folder).with_suffix(".oracles.json")
        known = _read_oracles(path, table)
        if known is not None:
            return known
        robots = damaged_robots(self.robot(repertoire), self.damages)
        with Evaluator(repertoire, robots, threads=threads) as evaluator:
            oracles = {
                condition: find_oracle(evaluator, means.astype(float), seed=self.seed, condition=number)
                for number, (condition, means) in enumerate(
                    zip(table.conditions, table.objectives, strict=True)
                )
            }
        write_text(path, json.dumps(oracles, indent=2) + "\n")
        return oracles


@dataclass(frozen=True)
class TablePlans:
    """All tables that a benchmark needs besides the library.

    Attributes:
        anticipated: what a library with these damages would hold of them.
        shown: what trials show of the rehearsed robot, see `Case`.
        scores: what recommendations are scored by.
        gaps: the latter two of robots that differ from the rehearsed one, each for some of the damages.
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
    damages: Sequence[Damage], *, rehearsed_episodes: int, episodes: int, gaps: int, seed: int
) -> TablePlans:
    """Plan the tables of a benchmark.

    Args:
        damages: to recover from.
        rehearsed_episodes: of each controller in the library.
        episodes: of each controller in each of the two sets by which the truth is known.
        gaps: robots that differ from the rehearsed one, at least 1; each is for some of the damages.
        seed: of the benchmark.
    """

    def plan(name: str, some: Sequence[Damage], count: int, key: int, gap: int | None = None) -> TablePlan:
        return TablePlan(name, tuple(some), count, _derived(seed, key), gap)

    shares = [tuple(damages[gap::gaps]) for gap in range(min(gaps, len(damages)))]
    return TablePlans(
        anticipated=plan("anticipated", damages, rehearsed_episodes, _ANTICIPATED),
        shown=plan("shown", damages, episodes, _SHOWN),
        scores=plan("scores", damages, episodes, _SCORES),
        gaps=tuple(
            (
                plan(f"gap-{gap + 1}-shown", share, episodes, _SHOWN, _derived(seed, _GAP + gap)),
                plan(f"gap-{gap + 1}-scores", share, episodes, _SCORES, _derived(seed, _GAP + gap)),
            )
            for gap, share in enumerate(shares)
        ),
    )


def _read_oracles(path: Path, table: Table) -> Oracles | None:
    """The oracles of a table from their file; None if there is no such file, or it is unsound."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None
    k = table.objectives.shape[1]
    rows = found.values() if isinstance(found, dict) and found.keys() == set(table.conditions) else [None]
    return found if all(type(row) is int and 0 <= row < k for row in rows) else None


def _derived(seed: int, key: int) -> int:
    """A seed that follows from that of the benchmark."""
    return int(np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1)[0])
