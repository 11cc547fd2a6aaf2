"""`RecoveryObjective`: what a recovery is after, which need not be what the gaits were trained for."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from adapt.records import LIMPING
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.state import MIDWAY

PRICE = 0.25  # of a fall at once, as a share of the distance that the healthy robot walks
# of that price while searching: what walks and falls may learn to last, what stands only stands
LENIENCY = 0.2


def first_part(robot: Robot, share: float = MIDWAY, shortest: float = 2.0) -> int:
    """Control steps of the first part of an episode: a share of it, and at least the shortest time [s]."""
    whole = robot.description.episode_steps
    return min(whole, max(round(share * whole), round(shortest / robot.control_step)))


class RecoveryObjective(ABC):
    """A number for each episode, by which gaits are selected, refined, confirmed and reported.

    Attributes:
        name: by which a recovery is told to take it, such as `progress`.
        least: the worst value that counts.
        nowhere: value up to which a robot got nowhere; minus infinity where values do not tell.
        zero: the value from which shares such as "90% of the best" are counted.
    """

    name: ClassVar[str]
    least: float
    nowhere: float = -np.inf
    zero: float = 0.0

    @abstractmethod
    def of(self, episodes: Episodes) -> np.ndarray:
        """Values of n episodes, (n,); the worst one where the simulation diverged."""

    @abstractmethod
    def foreseen(self, episodes: Episodes, share: float) -> np.ndarray:
        """Values of n whole episodes of which a share ran, (n,): robots that are up go on as before."""

    @abstractmethod
    def of_table(self, table: Table) -> Table:
        """A rehearsal with the values as its objectives."""

    def lenient(self, steps: int) -> "RecoveryObjective":
        """The objective of a search at first, in episodes of so many steps."""
        return self

    def lasting(self, robot: Robot) -> "RecoveryObjective":
        """The objective of a search in the end, and of choosing among what searches found."""
        return self


@dataclass(frozen=True)
class TrainingReward(RecoveryObjective):
    """The objective of the training, which may pay a robot that stands as much as one that walks."""

    least: float
    name = "reward"

    @property
    def zero(self) -> float:  # type: ignore[override]
        """The worst value that counts."""
        return self.least

    def of(self, episodes: Episodes) -> np.ndarray:
        return np.where(episodes.diverged, self.least, episodes.objectives)

    def foreseen(self, episodes: Episodes, share: float) -> np.ndarray:
        return self.of(episodes) / np.where(episodes.fell | episodes.diverged, 1, share)

    def of_table(self, table: Table) -> Table:
        return table


@dataclass(frozen=True)
class Progress(RecoveryObjective):
    """Progress while up [m]: the distance, less a price for the share of the episode not survived.

    Args:
        price: of a fall in the first step [m], positive.
        steps: control steps of a whole episode.
        nowhere: see `RecoveryObjective` [m].
        forfeits: whether the distance ahead is lost with a fall, see `lasting`.
        aside: weight with which the lateral deviation at the end is subtracted, see `lasting`.
    """

    price: float
    steps: int
    nowhere: float = 0.0
    forfeits: bool = False
    aside: float = 0.0
    name = "progress"

    def __post_init__(self) -> None:
        if not 0 < self.price < np.inf:
            raise InvalidValueError(f"the price of a fall must be positive and finite, not {self.price}")

    @property
    def least(self) -> float:  # type: ignore[override]
        """A fall in the first step."""
        return -self.price

    def of(self, episodes: Episodes) -> np.ndarray:
        ahead = episodes.distances - self.aside * np.abs(episodes.lateral)
        values = self._of(ahead, episodes.fell, episodes.steps / self.steps)
        return np.where(episodes.diverged, self.least, values)

    def foreseen(self, episodes: Episodes, share: float) -> np.ndarray:
        fell = episodes.fell
        distances = np.where(fell, episodes.distances, episodes.distances / share)
        values = self._of(distances, fell, np.where(fell, episodes.steps / self.steps, 1))
        return np.where(episodes.diverged, self.least, values)

    def _of(self, distances: np.ndarray, falls: np.ndarray, survived: np.ndarray) -> np.ndarray:
        """Values by distances [m], whether robots fell or how often, and shares of the episode survived."""
        lost = falls * np.maximum(distances, 0) if self.forfeits else 0.0
        return np.maximum(distances - lost - self.price * (1 - survived), self.least)

    def of_table(self, table: Table) -> Table:
        """See `RecoveryObjective`; noise is scaled as the spread of the objectives is.

        Where a file does not tell distances, gaits that survive are taken to go on as fast as in the first
        two fifths of an episode.
        """
        shown = dict(zip(table.evidence_names, np.moveaxis(table.evidence, 2, 0), strict=True))
        survived, distances = shown["survived [share]"], table.distances
        if distances is None:
            distances = shown["midway [m]"] * np.maximum(1, survived / MIDWAY)
        progress = self._of(distances, table.falls, survived).astype(np.float32)
        spread = float(table.objectives.std())
        share = float(progress.std()) / spread if spread > 0 else 1.0
        return replace(table, objectives=progress, noise=table.noise * np.float32(share))

    def lenient(self, steps: int) -> RecoveryObjective:
        """See `RecoveryObjective`; falls cost less, but still the distance that is not walked any more."""
        return Progress(LENIENCY * self.price, steps, aside=self.aside)

    def lasting(self, robot: Robot) -> RecoveryObjective:
        """See `RecoveryObjective`; a fall forfeits the distance, and drift costs some, as in the training.

        In a single trial on the robot that would hide how far it came.
        """
        reward = robot.description.reward
        aside = max(0.0, -reward.drift / reward.progress) if reward.progress > 0 else 0.0
        return replace(self, forfeits=robot.description.alive.forfeits, aside=aside)


def find_objective(
    name: Literal["progress", "reward"], repertoire: Repertoire, healthy: float
) -> RecoveryObjective:
    """The recovery objective of a name, for a robot that walks so far when it is healthy [m]."""
    if name == "reward" or healthy <= 0:  # of a robot that never walked no distance is a measure
        return TrainingReward(repertoire.settings.min_objective)
    return Progress(PRICE * healthy, repertoire.robot.description.episode_steps, LIMPING * healthy)
