"""`Stage`: runs a repertoire's controllers on its robot under many conditions."""

from collections.abc import Callable, Sequence

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from adapt.evidence import evidence_names, evidence_of
from adapt.rehearsal.samples import Samples
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.simulation import Simulation


class Stage:
    """Where episodes of a repertoire run under d conditions, all at once.

    Close it to end its threads.

    Args:
        repertoire: whose controllers run.
        robot: to damage; its episodes get the length of those of the training.
        conditions: texts of the damages; `HEALTHY` is put first if it is missing.
        threads: of the simulation; all cores by default.

    Raises:
        InvalidValueError: a condition is named twice, or a damage cannot be read or applied.
        UnknownNameError: a damage names what the robot does not have.
    """

    def __init__(
        self, repertoire: Repertoire, robot: Robot, conditions: Sequence[str], threads: int | None
    ) -> None:
        self.robot = robot.with_episode_steps(repertoire.configuration.episode_steps)
        damages = _read(conditions, self.robot)
        self.conditions = tuple(str(damage) for damage in damages)
        self.evidence_names = evidence_names(robot)
        self._repertoire = repertoire
        self._simulation = Simulation(*(damage.apply(self.robot) for damage in damages), threads=threads)
        self.threads = self._simulation.threads

    def close(self) -> None:
        """End the threads."""
        self._simulation.close()

    def evaluate(
        self,
        conditions: np.ndarray,
        rows: np.ndarray,
        seeds: np.ndarray,
        on_finished: Callable[[int], None] | None = None,
    ) -> Samples:
        """Run episodes.

        Args:
            conditions: (s,) numbers of the conditions.
            rows: (s,) of the controllers in the repertoire.
            seeds: (s,) of the episodes.
            on_finished: called from other threads with the number of episodes finished.
        """
        solutions = self._repertoire.elites.solutions[rows]
        episodes = self._simulation.evaluate(solutions, seeds, variants=conditions, on_finished=on_finished)
        floor = self._repertoire.configuration.min_objective
        return Samples(
            np.where(episodes.diverged, floor, episodes.objectives).astype(np.float32),
            (episodes.fell | episodes.diverged).astype(np.uint8),
            evidence_of(episodes, self.robot).astype(np.float32),
        )


def _read(conditions: Sequence[str], robot: Robot) -> list[Damage]:
    """Read texts of damages to a robot; `HEALTHY` comes first."""
    read = [parse_damage(HEALTHY, robot)]
    for text in conditions:
        damage = parse_damage(text, robot)
        if str(damage) in map(str, read[1:]):
            raise InvalidValueError(f"the damage {str(damage)!r} is named twice")
        if str(damage) != HEALTHY:
            read.append(damage)
    return read
