"""`Expectations`: what hypotheses of what is wrong expect of a robot's gaits, however they came about."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adapt.damage.damage import Damage


class Expectations(ABC):
    """What each of n hypotheses expects of a trial of each of k gaits.

    A damage that was rehearsed is such a hypothesis, and so is a fault that was fitted to trials; whoever
    weighs hypotheses asks no more of them. Of a repertoire that grows there are new expectations, of more
    gaits: what trials said is kept by whoever weighs, not here.

    Attributes:
        damages: that may be what is wrong, n of them.
        objectives: means, (n, k), in units of the objective.
        falls: probabilities, (n, k).
        episodes: of how many episodes an expectation is the mean, so that trials differ from it by more than
            from each other.
    """

    damages: Sequence["Damage"]
    objectives: np.ndarray
    falls: np.ndarray
    episodes: int

    @abstractmethod
    def noise(self, row: int) -> np.ndarray:
        """Variance of the objective from episode to episode of a gait, (n,)."""

    @abstractmethod
    def evidence(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """What else a trial of a gait shows, and the variance of a trial around that, (n, e) each."""
