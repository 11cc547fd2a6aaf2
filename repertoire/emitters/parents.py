"""`Parents`: which elites ME-ES starts from (Colas et al. 2020, biased cell sampling)."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from repertoire.archives.archive import Archive, Elites
from robots.errors import InvalidValueError

NEIGHBOURS = 10  # as in Colas et al. 2020
Goal = Literal["explore", "exploit"]
_RECENT = 5  # cells that count as updated last
_BEST = 2  # elites to choose from for their objective
_NOVEL = 5  # and for their novelty


class Parents:
    """Remembers every mean that was evaluated, and chooses the elite to improve next.

    To exploit, that is one of the two best elites or, every other time, of the two best in the five cells
    updated last. To explore, it is one of the five elites that are most novel compared with everything seen.

    Args:
        measure_dim: number of measures, m.

    Attributes:
        seen: measures of all means evaluated, (k, m).
    """

    def __init__(self, measure_dim: int) -> None:
        self.seen = np.empty((0, measure_dim))
        self._updated = np.empty(0, np.int64)  # cells, distinct, the latest last

    def remember(self, measures: np.ndarray, cell: int | None) -> None:
        """Count a mean as seen.

        Args:
            measures: (m,), finite.
            cell: where it became the elite, if it did.
        """
        self.seen = np.concatenate([self.seen, measures[None]])
        if cell is not None:
            self._updated = np.append(self._updated[self._updated != cell], cell)[-_RECENT:]

    def choose(self, goal: Goal, archive: Archive, rng: np.random.Generator) -> np.ndarray | None:
        """Return a copy of an elite's solution, (solution_dim,) float32; None if the archive is empty."""
        elites = archive.elites()
        if not len(elites):
            return None
        candidates = self._promising(elites, rng) if goal == "exploit" else self._novel(elites)
        return elites.solutions[rng.choice(candidates)]

    def _promising(self, elites: Elites, rng: np.random.Generator) -> np.ndarray:
        candidates = np.arange(len(elites))
        if rng.random() < 0.5:
            updated = np.flatnonzero(np.isin(elites.cells, self._updated))
            candidates = updated if len(updated) else candidates
        return candidates[np.argsort(-elites.objectives[candidates], kind="stable")[:_BEST]]

    def _novel(self, elites: Elites) -> np.ndarray:
        return np.argsort(-novelty(elites.measures, self.seen), kind="stable")[:_NOVEL]

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return {"seen": self.seen, "updated": self._updated}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned.

        Raises:
            InvalidValueError: something has the wrong shape or type.
        """
        seen, updated = np.array(state["seen"], np.float64), np.asarray(state["updated"])
        if seen.ndim != 2 or seen.shape[1] != self.seen.shape[1] or not np.isfinite(seen).all():
            raise InvalidValueError(
                f"seen must be finite with shape (k, {self.seen.shape[1]}), got {seen.shape}"
            )
        if updated.ndim != 1 or updated.dtype.kind not in "iu" or len(updated) > _RECENT:
            raise InvalidValueError(f"updated must be at most {_RECENT} cells, got shape {updated.shape}")
        self.seen, self._updated = seen, updated.astype(np.int64)


def novelty(measures: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the mean distance of measures to their nearest neighbours among those seen before.

    This is the novelty of J. Lehman, K. Stanley, "Abandoning Objectives", 2011.

    Args:
        measures: (n, m), in the units of the problem; NaN is as new as NaN.
        seen: (k, m).

    Returns:
        (n,), in the same units; over all of `seen` while it holds less than 10, and 0 while it is empty.
    """
    if not len(seen):
        return np.zeros(len(measures))
    squares = np.zeros((len(measures), len(seen)))
    for new, old in zip(measures.T, seen.T, strict=True):
        squares += (new[:, None] - old) ** 2
    count = min(NEIGHBOURS, len(seen))
    nearest = np.partition(squares, count - 1, axis=1)[:, :count]
    nearest.sort(axis=1)  # sums then do not depend on how this machine's NumPy partitions
    return np.sqrt(nearest).mean(axis=1)
