"""`Episodes`: what running controllers found."""

from dataclasses import dataclass

import numpy as np

from robots.simulation.moments import ObservationMoments


@dataclass(frozen=True)
class Episodes:
    """Results of n episodes, in the order they were asked for.

    Attributes:
        objectives: sum of rewards, (n,); NaN where the simulation diverged.
        measures: share of control steps in which each measured foot touched the floor, (n, m);
            NaN where the simulation diverged.
        steps: control steps survived, (n,).
        distances: progress towards the target [m], (n,).
        energies: mechanical work of the motors, both signs counted [J], (n,).
        diverged: whether the simulation blew up, (n,).
        fell: whether the episode ended before its time, (n,).
        midway: progress after two fifths of the longest episode, or at the end of a shorter one [m], (n,).
        lateral: displacement to the left of the start at the end [m], (n,).
        heading: yaw at the end [rad], (n,).
        moments: of what the controllers saw in the watched episodes that did not diverge; None if none were
            to be watched.
    """

    objectives: np.ndarray
    measures: np.ndarray
    steps: np.ndarray
    distances: np.ndarray
    energies: np.ndarray
    diverged: np.ndarray
    fell: np.ndarray
    midway: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray
    moments: ObservationMoments | None = None

    def __len__(self) -> int:
        return len(self.objectives)


def empty_episodes(n: int, measure_dim: int) -> Episodes:
    """Results to be filled in, of n episodes."""
    return Episodes(
        objectives=np.zeros(n),
        measures=np.zeros((n, measure_dim)),
        steps=np.zeros(n, np.int64),
        distances=np.zeros(n),
        energies=np.zeros(n),
        diverged=np.zeros(n, np.bool_),
        fell=np.zeros(n, np.bool_),
        midway=np.zeros(n),
        lateral=np.zeros(n),
        heading=np.zeros(n),
    )
