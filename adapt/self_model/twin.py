"""`Twin`: a robot's model at work between two trials; `Thinking`: with what, and for how long."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.parts import RobotParts
from adapt.objective import RecoveryObjective, TrainingReward
from adapt.relearning.refinement import Refiner
from adapt.self_model.calibration import Calibration
from repertoire.repertoire import Repertoire
from robots.arrays import whole_number
from robots.description import Randomization
from robots.evaluations import Request
from robots.robot import Robot
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES
from robots.simulation.trace import SENSORS

PRICE = 3.0  # log likelihood that each fault of a cause must be worth
EPISODES = 800  # to think after a trial: about what the Hexapod's self-model needs to find what is wrong
_KEPT = 200  # compiled models, of about 2 MB each, those used last


@dataclass(frozen=True, eq=False)
class Thinking:
    """What a robot may do between two trials."""

    repertoire: Repertoire  # of the whole robot
    episodes: int = EPISODES  # to simulate after each new trial
    sensors: tuple[str, ...] = SENSORS  # that the robot has, see `robots.simulation.trace`
    without: tuple[str, ...] = ()  # families of damage that it does not think of
    # rows of gaits, and traces from before the damage: the model's errors there are expected to last
    before: tuple[tuple[int, np.ndarray], ...] = ()
    calibration: Calibration | None = None  # models of the whole robot, which replace its model as built
    objective: RecoveryObjective | None = None  # by which gaits are compared; None for that of the training
    refinement: Refiner | None = None  # of gaits on what the robot is believed to be, if any
    backend: Backend = ALL_CORES  # what runs the episodes
    price: float = PRICE  # log likelihood that a cause must be worth for each fault that it consists of
    hurried: Callable[[], bool] = lambda: False  # asked again and again whether to come to an end

    @property
    def aim(self) -> RecoveryObjective:
        """The objective, whether it was given or not."""
        return self.objective or TrainingReward(self.repertoire.settings.min_objective)

    @property
    def robot(self) -> Robot:
        """The whole robot, as it is believed to be."""
        robot = self.repertoire.robot
        return self.calibration.middle(robot) if self.calibration else robot

    @property
    def randomization(self) -> Randomization | None:
        """Of the models of the robot that gaits are refined on."""
        return self.calibration.randomization if self.calibration else self.repertoire.problem.randomization

    @property
    def traces_before(self) -> tuple[tuple[int, np.ndarray], ...]:
        """Those that are given, or those of the calibration, if there is one."""
        return self.before or (self.calibration.before(self.repertoire) if self.calibration else ())

    def __post_init__(self) -> None:
        whole_number("the episodes to think", self.episodes, 1)


class Run(NamedTuple):
    """An episode to simulate: under a damage, of the controller in a row, with a seed."""

    damage: Damage
    row: int
    seed: int


class Twin:
    """Simulates gaits of a repertoire on its robot with faults, and counts the episodes since `begin`.

    `on_progress` is called with the share of the limit that is used up.
    """

    def __init__(self, thinking: Thinking, on_progress: Callable[[float], None] | None = None) -> None:
        self.thinking = thinking
        self._on_progress = on_progress
        self.parts = RobotParts(thinking.robot)
        self._solutions = thinking.repertoire.gaits.solutions
        self._compiled: dict[tuple[str, ...], Robot] = {}
        self.begin()

    def pose(self, robot: Robot) -> None:
        """Have episodes begin in the pose of a robot that differs in nothing else."""
        self.parts = RobotParts(robot)
        self._compiled.clear()

    def add(self, solution: np.ndarray) -> int:
        """Know one gait more, (n,), whose row is returned."""
        self._solutions = np.concatenate([self._solutions, solution[None]])
        return len(self._solutions) - 1

    def solutions(self, rows: Sequence[int]) -> np.ndarray:
        """Parameters of gaits, (k, n)."""
        return np.asarray(self._solutions[list(rows)])

    def begin(self) -> None:
        """Begin to think."""
        self.episodes, self._began = 0, time.monotonic()

    def end(self) -> None:
        """Cease to think."""
        if self._on_progress:
            self._on_progress(1.0)

    @property
    def seconds(self) -> float:
        """Since `begin` [s]."""
        return time.monotonic() - self._began

    @property
    def spent(self) -> float:
        """Share of the limit that is used up."""
        return 1.0 if self.thinking.hurried() else self.episodes / self.thinking.episodes

    def run(self, runs: Sequence[Run], *, traced: bool = False, steps: int | None = None) -> Episodes:
        """Simulate episodes: whole ones, or so many control steps of each."""
        damages = {str(run.damage): run.damage for run in runs}
        numbers = {text: number for number, text in enumerate(damages)}
        found = self.thinking.backend.run(
            ModelBatch(*(self.robot_with(damage).with_episode_steps(steps) for damage in damages.values())),
            self.solutions([run.row for run in runs]),
            np.array([run.seed for run in runs], np.int64),
            models=np.array([numbers[str(run.damage)] for run in runs]),
            request=Request(traces=traced),
        )
        self.episodes += len(runs)
        if self._on_progress:
            self._on_progress(min(1.0, self.spent))
        return found

    def robot_with(self, damage: Damage) -> Robot:
        """The robot with a damage; what had to be compiled is kept for other damages that share it."""
        changes = damage.modifications(self.parts)
        edits = [change for change in changes if change.edit]
        labels, robot = tuple(change.label for change in edits), self.parts.robot
        if labels:
            compiled = self._compiled.pop(labels, None) or robot.with_modifications(*edits, unseen=True)
            self._compiled[labels] = robot = compiled
            if len(self._compiled) > _KEPT:
                self._compiled.pop(next(iter(self._compiled)))
        patches = [change for change in changes if not change.edit]
        return robot.with_modifications(*patches, unseen=True)
