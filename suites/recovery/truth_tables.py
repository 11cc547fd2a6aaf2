"""`TruthTable`: what all controllers do under some damages; `plan_tables`: which of these are needed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.oracle import find_oracle
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_robots, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table
from repertoire.evaluation.evaluator import Evaluation, Evaluator
from repertoire.repertoire import Repertoire
from robots.errors import SurefootError
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.texts import read_json
from robots.randomization import randomised
from robots.robot import Robot

_ANTICIPATED, _SHOWN, _SCORES, _GAP = 0, 1, 2, 3  # spawn keys of the seeds


@dataclass(frozen=True, eq=False)
class TruthTable:
    """A table of all controllers of a repertoire under some damages; it is made once, and then read.

    Attributes:
        path: of its file.
        repertoire: of the intact robot.
        damages: under which the controllers run; they run on the intact robot too.
        episodes: of every controller under each of them.
        seed: from which the seeds of the episodes derive.
        gap: seed of the differences between this robot and the rehearsed one, see `randomised`; None for the
            rehearsed robot itself.
    """

    path: Path
    repertoire: Repertoire
    damages: tuple[Damage, ...]
    episodes: int
    seed: int
    gap: int | None = None

    @property
    def name(self) -> str:
        """For people."""
        return self.path.stem

    @property
    def total(self) -> int:
        """Number of episodes that it takes."""
        return len(self.repertoire) * self.episodes * (1 + len(self.damages))

    @property
    def robot(self) -> Robot:
        """The robot before it is damaged."""
        intact = self.repertoire.robot
        return intact if self.gap is None else randomised(intact, self.gap)

    def evaluation(self, threads: int) -> Evaluation:
        """The evaluation that makes it."""
        return rehearsal(
            self.repertoire,
            self.damages,
            episodes=self.episodes,
            seed=self.seed,
            robot=self.robot,
            threads=threads,
        )

    def make(
        self,
        threads: int,
        *,
        on_progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> bool:
        """Make it unless it is there, and resume what was interrupted.

        Args:
            threads: of the simulation.
            on_progress: called from other threads with the number of episodes finished.
            stop: asked now and then whether to save what is finished and return.

        Returns:
            Whether it is finished.

        Raises:
            InvalidFileError: a file cannot be read or written, or is not what it should be.
        """
        if file_exists(self.path):
            return True
        make_folder(self.path.parent)
        unfinished = self.path.with_name(f"{self.name}-unfinished.h5")
        with self.evaluation(threads) as evaluation:
            if file_exists(unfinished):
                evaluation.restore(unfinished)
            evaluation.run(unfinished, on_progress=on_progress, stop=stop)
            if evaluation.finished:
                write_table(self.path, rehearsed_table(evaluation), evaluation.identity)
                unfinished.unlink(missing_ok=True)
            return evaluation.finished

    def read(self) -> Table:
        """Read it.

        Raises:
            InvalidFileError: it is not made yet, cannot be read, or is one of another repertoire.
        """
        return read_table(self.path, self.repertoire, robot=self.robot)

    def oracles(self, table: Table, threads: int) -> Mapping[str, int]:
        """Row of the best controller under each condition of the table; found once and kept in a file.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        path, k = self.path.with_suffix(".oracles.json"), len(self.repertoire)
        try:
            known: Any = read_json(path)
            return {condition: range(k)[known[condition]] for condition in table.conditions}
        except (SurefootError, LookupError, TypeError):  # not there, or not valid
            robots = rehearsed_robots(self.robot, self.damages)
        with Evaluator(self.repertoire, robots, threads=threads) as evaluator:
            found = {
                condition: find_oracle(
                    evaluator, table.objectives[number].astype(float), seed=self.seed, condition=number
                )
                for number, condition in enumerate(table.conditions)
            }
        write_text(path, json.dumps(found, indent=2) + "\n")
        return found


def plan_tables(
    repertoire: Repertoire,
    damages: Sequence[Damage],
    folder: Path,
    *,
    rehearsed_episodes: int,
    episodes: int,
    gaps: int,
    seed: int,
) -> list[TruthTable]:
    """Plan the tables of a benchmark.

    Args:
        repertoire: of the intact robot.
        damages: to recover from.
        folder: of the tables.
        rehearsed_episodes: of each controller in the library.
        episodes: of each controller in each of the two sets of true outcomes.
        gaps: number of robots that differ from the rehearsed one, at least 1; each gets some of the damages.
        seed: of the benchmark.

    Returns:
        What a library with these damages would hold about them; then two tables each, of what trials show and
        of what recommendations are scored by, for the rehearsed robot and for each that differs from it.
    """

    def plan(name: str, some: Sequence[Damage], count: int, key: int, gap: int | None = None) -> TruthTable:
        derived = None if gap is None else _derived(seed, _GAP + gap)
        return TruthTable(folder / f"{name}.h5", repertoire, tuple(some), count, _derived(seed, key), derived)

    tables = [
        plan("anticipated", damages, rehearsed_episodes, _ANTICIPATED),
        plan("shown", damages, episodes, _SHOWN),
        plan("scores", damages, episodes, _SCORES),
    ]
    for gap in range(min(gaps, len(damages))):
        some, prefix = damages[gap::gaps], f"gap-{gap + 1}"
        tables += [
            plan(f"{prefix}-shown", some, episodes, _SHOWN, gap),
            plan(f"{prefix}-scores", some, episodes, _SCORES, gap),
        ]
    return tables


def _derived(seed: int, key: int) -> int:
    """A seed that follows from that of the benchmark."""
    return int(np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1)[0])
