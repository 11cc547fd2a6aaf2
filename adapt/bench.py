"""`Bench`: runs a repertoire's controllers on one robot, for trials and to find out what they are worth."""

from dataclasses import dataclass

import numpy as np

from adapt.evidence import evidence_of
from adapt.records import Outcome, Performance
from repertoire.repertoire import Repertoire
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation

LEVEL_EPISODES = 10
CANDIDATES = 20
ORACLE_EPISODES = 4


@dataclass(frozen=True, eq=False)
class Run:
    """One episode of a controller.

    Attributes:
        seed: of the episode.
        outcome: what a selector is told of it.
        steps: control steps survived.
        distance: progress towards the target [m].
    """

    seed: int
    outcome: Outcome
    steps: int
    distance: float


class Bench:
    """Runs a repertoire's controllers on one robot, with seeds that derive from the recovery's.

    Args:
        repertoire: of the intact robot.
        simulation: of the robot, whole or damaged.
        seed: of the recovery.
    """

    def __init__(self, repertoire: Repertoire, simulation: Simulation, seed: int) -> None:
        self.repertoire = repertoire
        self._simulation = simulation
        self._seed = seed

    def trial(self, number: int, row: int) -> Run:
        """Try a controller once, for the trial of a number."""
        seeds = derive_seeds(self._seed, SeedFamily.TRIALS, number, 1)
        episodes = self._run(np.array([row]), seeds)
        fell = bool(episodes.fell[0] | episodes.diverged[0])
        evidence = evidence_of(episodes, self._simulation.robot)[0]
        outcome = Outcome(float(self._objectives(episodes)[0]), fell, evidence)
        return Run(int(seeds[0]), outcome, int(episodes.steps[0]), float(episodes.distances[0]))

    def performance(self, row: int) -> Performance:
        """How well a controller does, over `LEVEL_EPISODES` episodes."""
        seeds = derive_seeds(self._seed, SeedFamily.CONFIRMATION, 0, LEVEL_EPISODES)
        episodes = self._run(np.full(LEVEL_EPISODES, row), seeds)
        objectives = self._objectives(episodes)
        error = objectives.std(ddof=1) / np.sqrt(LEVEL_EPISODES)
        return Performance(
            objective=float(objectives.mean()),
            standard_error=float(error),
            distance=float(episodes.distances.mean()),
            falls=int((episodes.fell | episodes.diverged).sum()),
            episodes=LEVEL_EPISODES,
        )

    def truth(self) -> np.ndarray:
        """What every controller is worth: means of `ORACLE_EPISODES` episodes, (k,)."""
        return self._means(np.arange(len(self.repertoire)), self._oracle_seeds[:ORACLE_EPISODES])

    def winner(self, chosen: int) -> int:
        """Row of the controller that does best of all, the chosen one included.

        It is picked by `truth` and then, of the `CANDIDATES` best and the chosen one, by `LEVEL_EPISODES`
        episodes more, with seeds of their own.
        """
        finalists = np.union1d(np.argsort(-self.truth(), kind="stable")[:CANDIDATES], [chosen])
        return self._best_of(finalists, self._oracle_seeds[ORACLE_EPISODES:])

    def incumbent(self) -> int:
        """Row of the controller that does best among the `CANDIDATES` with the highest objectives."""
        candidates = np.argsort(-self.repertoire.elites.objectives, kind="stable")[:CANDIDATES]
        return self._best_of(candidates, derive_seeds(self._seed, SeedFamily.INCUMBENT, 0, LEVEL_EPISODES))

    @property
    def _oracle_seeds(self) -> np.ndarray:
        """Of the truth, and then of the finalists' episodes."""
        return derive_seeds(self._seed, SeedFamily.ORACLE, 0, ORACLE_EPISODES + LEVEL_EPISODES)

    def _best_of(self, rows: np.ndarray, seeds: np.ndarray) -> int:
        """The row with the highest mean objective over seeds, the same for all."""
        return int(rows[np.argmax(self._means(rows, seeds))])

    def _means(self, rows: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Mean objective of each row over seeds, the same for all."""
        episodes = self._run(np.repeat(rows, len(seeds)), np.tile(seeds, len(rows)))
        return np.asarray(self._objectives(episodes).reshape(len(rows), len(seeds)).mean(axis=1))

    def _run(self, rows: np.ndarray, seeds: np.ndarray) -> Episodes:
        """Run an episode of each controller."""
        return self._simulation.evaluate(self.repertoire.elites.solutions[rows], seeds)

    def _objectives(self, episodes: Episodes) -> np.ndarray:
        """Objectives, the minimum where the simulation diverged."""
        floor = self.repertoire.configuration.min_objective
        return np.where(episodes.diverged, floor, episodes.objectives)
