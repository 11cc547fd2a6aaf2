"""`Expectations`: what hypotheses of what is wrong expect of a robot's gaits, however they came about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adapt.damage.damage import Damage


@dataclass(frozen=True, eq=False)
class Expectations:
    """What each of n hypotheses expects of a trial of each of k gaits.

    A damage that was rehearsed is such a hypothesis, and so is a fault that was fitted to trials; whoever
    weighs hypotheses asks no more of them. Of a repertoire that grows there are new expectations, of more
    gaits: what trials said is kept by whoever weighs, not here.

    Attributes:
        damages: that may be what is wrong, n of them.
        objectives: means, (n, k), in units of the objective.
        noise_variance: of the objective from episode to episode, (n, k).
        falls: probabilities, (n, k).
        evidence: of the gait in a row, what else a trial of it shows, and the variance of a trial around
            that, (n, e) each.
        episodes: of how many episodes an expectation is the mean, so that trials differ from it by more than
            from each other.
    """

    damages: Sequence["Damage"]
    objectives: np.ndarray
    noise_variance: np.ndarray
    falls: np.ndarray
    evidence: Callable[[int], tuple[np.ndarray, np.ndarray]]
    episodes: int
