"""`Refiner`: what every way to search for a better gait on models of a damaged robot promises."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adapt.objective import RecoveryObjective
from robots.robot import Robot
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES


@dataclass(frozen=True, eq=False)
class Refinement:
    """What a search found.

    Attributes:
        solution: parameters of the gait, (n,) float32.
        start: row of the gait that the search started from, of those that were given.
        score: mean recovery objective of the gait in fresh episodes on the models.
        before: that of the most promising gait, or of that where it started, if that is better, in the same
            episodes.
        episodes: that the search took, as control steps in units of a whole episode.
        fall: how probable a fall of the gait is by the fresh episodes, between 0 and 1.
    """

    solution: np.ndarray
    start: int
    score: float
    before: float
    episodes: int
    fall: float = 0.5


class Refiner(ABC):
    """A search for a better gait on some models; its settings make it."""

    @abstractmethod
    def refine(self, solutions: np.ndarray) -> Refinement:
        """Search once.

        Args:
            solutions: of the gaits that it may start from, (k, n) float32, the most promising one first; rows
                are counted from 0.
        """


@dataclass(frozen=True)
class RefinerSettings(ABC):
    """Settings of a way to search; a frozen dataclass.

    Attributes:
        episodes: at most, as control steps in units of a whole episode: an early fall takes less.
    """

    episodes: int

    @abstractmethod
    def make(
        self,
        robots: Sequence[Robot],
        *,
        objective: RecoveryObjective,
        seed: int,
        number: int = 0,
        backend: Backend = ALL_CORES,
        on_progress: Callable[[float], None] | None = None,
        hurried: Callable[[], bool] = lambda: False,
    ) -> Refiner:
        """Start a search.

        Args:
            robots: the models, at least one.
            objective: what to maximise.
            seed: from which all random numbers derive.
            number: of the search, which has others than the next.
            backend: what runs the episodes. The result does not depend on it.
            on_progress: called with the share that is done.
            hurried: asked again and again whether to end with what was found so far.
        """
