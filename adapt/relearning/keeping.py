"""`keep_gaits`: gaits that were refined join a repertoire as specialists."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adapt.records import RefinedGait
from repertoire.archives.archive import Elites, checked_ranges
from repertoire.repertoire import Repertoire
from repertoire.specialists import Specialists, joined
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.threads import ALL_CORES

_EPISODES = 10


def keep_gaits(
    repertoire: Repertoire, gaits: Sequence[RefinedGait], *, seed: int, backend: Backend = ALL_CORES
) -> Repertoire:
    """Add gaits to a repertoire as specialists, after those that it has.

    Objectives, those of the training, and measures are means over ten fresh episodes on the intact robot.

    Args:
        repertoire: from whose gaits they were refined.
        gaits: in the order in which they were found; their parents are rows of the repertoire, or of gaits
            before them here.
        seed: from which those of the episodes derive.
        backend: what runs the episodes.
    """
    if not gaits:
        return repertoire
    found = _on_the_intact_robot(repertoire, np.stack([gait.solution for gait in gaits]), seed, backend)
    origins = repertoire.origins.tolist()
    for gait in gaits:
        origins.append(origins[gait.parent])
    episodes = [gait.episodes for gait in gaits]
    damages = tuple(gait.believed for gait in gaits)
    if (known := repertoire.specialists) is not None:
        found = joined(known.gaits, found)
        episodes, damages = [*known.episodes, *episodes], known.damages + damages
    parents = np.array(origins[len(repertoire.elites) :], np.int64)
    specialists = Specialists(found, parents, np.array(episodes, np.int64), damages)
    return replace(repertoire, specialists=specialists)


def _on_the_intact_robot(
    repertoire: Repertoire, solutions: np.ndarray, seed: int, backend: Backend
) -> Elites:
    """Gaits with what they do where nothing is wrong."""
    k, problem = len(solutions), repertoire.problem
    seeds = derive_seeds(seed, SeedFamily.EVALUATION, 0, _EPISODES)
    assert problem.robot is not None
    episodes = backend.run(
        ModelBatch(problem.robot), np.repeat(solutions, _EPISODES, axis=0), np.tile(seeds, k)
    )
    least = repertoire.settings.min_objective
    objectives = np.where(episodes.diverged, least, episodes.objectives).reshape(k, -1).mean(axis=1)
    measures = np.nan_to_num(episodes.measures).reshape(k, _EPISODES, -1).mean(axis=1)
    locate = repertoire.settings.archive.divide(checked_ranges(problem.measure_ranges))
    return Elites(np.asarray(locate(measures), np.int64), solutions, objectives, measures)
