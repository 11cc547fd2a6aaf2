"""`Episodes`: what running controllers found, and in `ObservationMoments` and transitions what they saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_STD = 0.1  # a smaller spread is hardly information, and to divide by it would amplify whatever is new


@dataclass(frozen=True)
class Episodes:
    """Results of n episodes, in the order in which they were asked for.

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
        watched: whose observations count in `moments`, (n,) bool; None if none were to be watched.
        sums: of each episode's observations, and of their squares, (n, 2, o); None likewise.
        transitions: of each episode, (n,) of objects: (its steps, columns) float32, see `TransitionColumns`,
            without rows where it diverged. None if they were not to be recorded.
        traces: of each episode what its sensors read, likewise, see `robots.simulation.trace`.
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
    watched: np.ndarray | None = None
    sums: np.ndarray | None = None
    transitions: np.ndarray | None = None
    traces: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.objectives)

    @property
    def moments(self) -> ObservationMoments | None:
        """Of what the controllers saw in the watched episodes that did not diverge; None without any."""
        if self.watched is None or self.sums is None:
            return None
        good = self.watched & ~self.diverged
        return ObservationMoments(int(self.steps[good].sum()), *self.sums[good].sum(axis=0))


def empty_episodes(n: int, measure_dim: int) -> Episodes:
    """Results of n episodes that are still to be filled in."""
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


@dataclass(frozen=True)
class ObservationMoments:
    """Sums over observations, from which their mean and spread follow.

    Attributes:
        count: of the observations.
        sums: of each of their o numbers, (o,) float64.
        squares: sums of the squares, (o,) float64.
    """

    count: int
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def none(cls, observation_dim: int) -> ObservationMoments:
        """The moments of no observations."""
        return cls(0, np.zeros(observation_dim), np.zeros(observation_dim))

    def merge(self, other: ObservationMoments) -> ObservationMoments:
        """The moments of the observations of both."""
        return ObservationMoments(
            self.count + other.count, self.sums + other.sums, self.squares + other.squares
        )

    @property
    def mean(self) -> np.ndarray:
        """Means, (o,) float64; 0 of no observations."""
        return self.sums / max(self.count, 1)

    @property
    def std(self) -> np.ndarray:
        """Standard deviations, at least 0.1, (o,) float64; 1 of no observations."""
        if not self.count:
            return np.ones(len(self.sums))
        variance = self.squares / self.count - self.mean**2
        return np.sqrt(np.maximum(variance, MIN_STD**2))


@dataclass(frozen=True)
class TransitionColumns:
    """Where things are in a transition, which is what one control step brought, as a row of float32.

    The columns are the observation before the step, the action, the observation after it, the reward, whether
    the robot's end ended the episode (1 or 0), and whether anything did, its time limit included.

    Attributes:
        observation_dim: numbers in an observation, o.
        action_dim: numbers in an action, a.
    """

    observation_dim: int
    action_dim: int
    reward = -3
    terminated = -2
    ended = -1

    @property
    def observation(self) -> slice:
        """The o columns of the observation before the step."""
        return slice(0, self.observation_dim)

    @property
    def action(self) -> slice:
        """The a columns of the action, those after the observation."""
        return slice(self.observation_dim, self.observation_dim + self.action_dim)

    @property
    def following(self) -> slice:
        """The o columns of the observation after the step."""
        return slice(self.action.stop, self.action.stop + self.observation_dim)

    @property
    def count(self) -> int:
        """All columns, 2 o + a + 3."""
        return self.following.stop + 3
