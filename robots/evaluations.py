"""`Evaluations`: what evaluating solutions gives, one record from the simulation to archives and emitters.

A `Request` says what it is to hold in addition to objectives and measures.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np

MIN_STD = 0.1  # a smaller spread is hardly information, and to divide by it would amplify whatever is new


@dataclass(frozen=True)
class Request:
    """What is to be found out about n solutions in addition to their objectives and measures."""

    #: (n,) bool, the solutions whose observations are summed; of a robot, or a problem with a `normaliser`
    observed: np.ndarray | None = None
    transitions: bool = False  #: only of a robot, or a problem with `policy_layers`
    traces: bool = False  #: what the sensors of a robot read, instead of transitions


OBJECTIVES_AND_MEASURES = Request()


@dataclass(frozen=True)
class ObservationMoments:
    """Sums over observations, from which their mean and spread follow."""

    count: int  # of the observations
    sums: np.ndarray  # of each of their o numbers, (o,) float64
    squares: np.ndarray  # sums of the squares, (o,) float64

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


@dataclass
class Evaluations:
    """What evaluating n solutions gave, and what archives said to it.

    It is not frozen because a search makes several for each batch, for which frozen ones take too long.
    """

    objectives: np.ndarray  # (n,), larger is better; NaN where the evaluation diverged
    measures: np.ndarray  # (n, m), about within the problem's ranges; NaN where the evaluation diverged
    diverged: np.ndarray  # (n,) bool, evaluations without a result, which must not enter an archive
    steps: np.ndarray  # (n,), what each cost, in the problem's own unit of work
    moments: ObservationMoments | None = None  # of all observations that were requested
    # of each solution, (n,) of objects: (its steps, columns) float32, see `TransitionColumns`; no rows if it
    # diverged
    transitions: np.ndarray | None = None
    # what `archive.add` returned, (n,); -inf where diverged or not offered to the archives; empty before that
    improvements: np.ndarray = field(default_factory=lambda: np.zeros(0))
    # whether each was accepted into a cell that was empty before it, (n,) bool; empty before that
    opened: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __len__(self) -> int:
        return len(self.objectives)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """What there is with an entry for each solution, by name; at least one solution must be there."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray) and len(value) == len(self)
        }

    def part(self, rows: slice) -> Self:
        """What some of the solutions gave; the moments stay those of all."""
        part = copy.copy(self)
        for name, value in self.columns.items():
            setattr(part, name, value[rows])
        return part


class TransitionColumns:
    """Where things are in a transition, which is what one control step brought, as a row of float32."""

    reward = -3
    terminated = -2  # whether the robot's end ended the episode, 1 or 0
    ended = -1  # whether anything did, its time limit included

    def __init__(self, observation_dim: int, action_dim: int) -> None:
        after = observation_dim + action_dim
        self.action_dim = action_dim
        self.observation, self.action = slice(0, observation_dim), slice(observation_dim, after)
        self.following = slice(after, after + observation_dim)  # the observation after the step
        self.count = after + observation_dim + 3
