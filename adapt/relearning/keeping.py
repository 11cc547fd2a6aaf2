"""`keep_gaits`: gaits that were found during a recovery as a repertoire of their own."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adapt.damage.damage import Damage
from adapt.records import RefinedGait
from repertoire.archives.archive import Archive
from repertoire.execution.executor import start_executor
from repertoire.repertoire import Repertoire
from robots.seeds import SeedFamily, derive_seeds

_EPISODES = 10


def keep_gaits(
    repertoire: Repertoire,
    damage: Damage,
    gaits: Sequence[RefinedGait],
    *,
    seed: int,
    threads: int | None = None,
) -> Repertoire:
    """Make a repertoire of refined gaits: the best of each cell on the damaged robot.

    Objectives, those of the training, and measures are means over ten fresh episodes there. The robot is the
    whole one, so that the gaits are deployed with the damage.

    Args:
        repertoire: whose gaits they were refined from.
        damage: of the robot that they were found for.
        gaits: at least one.
        seed: of the recovery.
        threads: of the simulation; all cores by default.
    """
    solutions = np.stack([gait.solution for gait in gaits])
    seeds = derive_seeds(seed, SeedFamily.EVALUATION, 0, _EPISODES)
    executor = start_executor(damage.apply(repertoire.robot), threads=threads)
    try:
        episodes = executor.evaluate(np.repeat(solutions, _EPISODES, axis=0), np.tile(seeds, len(gaits)))
    finally:
        executor.close()
    least = repertoire.settings.min_objective
    objectives = np.where(episodes.diverged, least, episodes.objectives).reshape(len(gaits), -1).mean(axis=1)
    measures = np.nan_to_num(episodes.measures).reshape(len(gaits), _EPISODES, -1).mean(axis=1)
    problem = repertoire.problem
    archive = Archive(
        repertoire.settings.archive, solution_dim=problem.solution_dim, ranges=problem.measure_ranges
    )
    archive.add(solutions, objectives, measures)
    return replace(
        repertoire, elites=archive.elites(), thresholds=archive.thresholds, history={}, spread=None
    )
