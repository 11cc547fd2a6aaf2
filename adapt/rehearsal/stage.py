"""`Stage`: runs a repertoire's controllers on its robot under one condition after another."""

from collections.abc import Callable, Sequence

import numpy as np

from adapt.damage import parse_damage
from adapt.evidence import evidence_names, evidence_of
from adapt.rehearsal.samples import Samples
from adapt.rehearsal.table import HEALTHY
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation import Simulation


class Stage:
    """Where episodes of a repertoire run under d conditions.

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
        self.conditions = _read(conditions, self.robot)
        self.evidence_names = evidence_names(robot)
        self._repertoire = repertoire
        self._condition = 0
        self._simulation = Simulation(self.robot, threads=threads)
        self.threads = self._simulation.threads

    def close(self) -> None:
        """End the threads."""
        self._simulation.close()

    def evaluate(
        self,
        condition: int,
        rows: np.ndarray,
        seeds: np.ndarray,
        on_finished: Callable[[int], None] | None = None,
    ) -> Samples:
        """Run episodes under a condition.

        Args:
            condition: its number.
            rows: (s,) of the controllers in the repertoire.
            seeds: (s,) of the episodes.
            on_finished: called from other threads with the number of episodes finished.
        """
        self._turn_to(condition)
        solutions = self._repertoire.elites.solutions[rows]
        episodes = self._simulation.evaluate(solutions, seeds, on_finished=on_finished)
        floor = self._repertoire.configuration.min_objective
        return Samples(
            np.where(episodes.diverged, floor, episodes.objectives).astype(np.float32),
            (episodes.fell | episodes.diverged).astype(np.uint8),
            evidence_of(episodes, self.robot).astype(np.float32),
        )

    def _turn_to(self, condition: int) -> None:
        """Simulate the robot under another condition."""
        if condition != self._condition:
            self._simulation.close()
            robot = parse_damage(self.conditions[condition], self.robot).apply(self.robot)
            self._simulation = Simulation(robot, threads=self.threads)
            self._condition = condition


def _read(conditions: Sequence[str], robot: Robot) -> tuple[str, ...]:
    """Check texts of damages to a robot and write each as it is always written, with `HEALTHY` first."""
    read = [HEALTHY]
    for text in conditions:
        damage = parse_damage(text, robot)
        damage.apply(robot)  # what cannot be simulated should be known before hours of work
        if str(damage) in read[1:]:
            raise InvalidValueError(f"the damage {str(damage)!r} is named twice")
        if str(damage) != HEALTHY:
            read.append(str(damage))
    return tuple(read)
