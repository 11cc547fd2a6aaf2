"""`plan_tables`: which tables of true outcomes a recovery benchmark needs, with their seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adapt.damage.damage import Damage
from adapt.rehearsal.rehearsal import rehearsal
from adapt.suite.reality_gap import randomised
from repertoire.evaluation import Evaluation
from repertoire.repertoire import Repertoire
from robots.robot import Robot

_FOLDER = "tables"
_ANTICIPATED, _SHOWN, _SCORES, _GAP = 0, 1, 2, 3  # spawn keys of the seeds


@dataclass(frozen=True)
class TablePlan:
    """A table of all controllers under some damages; it is made once, and then read.

    Attributes:
        name: of its file.
        damages: under which the controllers run; they run on the intact robot too.
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
        """The robot before it is damaged."""
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
        """Number of episodes that the table takes."""
        return controllers * self.episodes * (1 + len(self.damages))

    def path(self, folder: Path) -> Path:
        """Its file in the folder of the study."""
        return folder / _FOLDER / f"{self.name}.h5"


def plan_tables(
    damages: Sequence[Damage], *, rehearsed_episodes: int, episodes: int, gaps: int, seed: int
) -> list[TablePlan]:
    """Plan the tables of a benchmark.

    Args:
        damages: to recover from.
        rehearsed_episodes: of each controller in the library.
        episodes: of each controller in each of the two sets of true outcomes.
        gaps: number of robots that differ from the rehearsed one, at least 1; each gets some of the damages.
        seed: of the benchmark.

    Returns:
        What a library with these damages would hold about them; then two tables each, of what trials show and
        of what recommendations are scored by, for the rehearsed robot and for each that differs from it.
    """
    robots: list[tuple[str, Sequence[Damage], int | None]] = [("", damages, None)]
    for gap in range(min(gaps, len(damages))):
        robots.append((f"gap-{gap + 1}-", damages[gap::gaps], _derived(seed, _GAP + gap)))
    return [
        TablePlan("anticipated", tuple(damages), rehearsed_episodes, _derived(seed, _ANTICIPATED)),
        *(
            TablePlan(f"{prefix}{name}", tuple(some), episodes, _derived(seed, key), gap_seed)
            for prefix, some, gap_seed in robots
            for name, key in (("shown", _SHOWN), ("scores", _SCORES))
        ),
    ]


def _derived(seed: int, key: int) -> int:
    """A seed that follows from that of the benchmark."""
    return int(np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1)[0])
