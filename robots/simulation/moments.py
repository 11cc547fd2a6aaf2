"""What controllers have seen: sums over observations, from which their mean and spread follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robots.compilation import compiled
from robots.errors import InvalidValueError

NOT_WATCHED = np.zeros((2, 0))
MIN_STD = 0.1  # a lesser spread is hardly information, and to divide by it would amplify whatever is new


@dataclass(frozen=True)
class ObservationMoments:
    """Sums over observations.

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
        """Of no observations."""
        return cls(0, np.zeros(observation_dim), np.zeros(observation_dim))

    def merge(self, other: ObservationMoments) -> ObservationMoments:
        """Of the observations of both."""
        return ObservationMoments(
            self.count + other.count, self.sums + other.sums, self.squares + other.squares
        )

    @property
    def mean(self) -> np.ndarray:
        """(o,) float64; 0 of no observations."""
        return self.sums / max(self.count, 1)

    @property
    def std(self) -> np.ndarray:
        """Standard deviations, at least 0.1, (o,) float64; 1 of no observations."""
        if not self.count:
            return np.ones(len(self.sums))
        variance = self.squares / self.count - self.mean**2
        return np.sqrt(np.maximum(variance, MIN_STD**2))

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return {"count": np.array(self.count), "sums": self.sums, "squares": self.squares}

    def restored(self, state: Mapping[str, np.ndarray]) -> ObservationMoments:
        """What `state` was taken from, of observations as long as these.

        Raises:
            InvalidValueError: something has the wrong shape, or cannot be of any observations.
        """
        count = np.asarray(state["count"])
        sums, squares = (np.array(state[name], np.float64) for name in ("sums", "squares"))
        if count.shape != () or count.dtype.kind not in "iu" or count < 0:
            raise InvalidValueError("the count of observations must be an integer and not negative")
        if sums.shape != self.sums.shape or squares.shape != self.sums.shape:
            raise InvalidValueError(
                f"the sums over observations must have shape {self.sums.shape}, "
                f"got {sums.shape} and {squares.shape}"
            )
        if not (np.isfinite(sums).all() and np.isfinite(squares).all()):
            raise InvalidValueError("the sums over observations must be finite")
        return ObservationMoments(int(count), sums, squares)


class Watch:
    """Sums the observations of some of n episodes.

    Each episode has sums of its own, so that neither the threads that run them nor their order change
    anything.

    Args:
        watched: which episodes, (n,) bool.
        observation_dim: length of an observation.
    """

    def __init__(self, watched: np.ndarray, observation_dim: int) -> None:
        self._episodes = np.flatnonzero(watched)
        self._row = np.full(len(watched), -1)  # of each episode in the sums, or -1
        self._row[self._episodes] = np.arange(len(self._episodes))
        self._sums = np.zeros((len(self._episodes), 2, observation_dim))  # of the values and of their squares

    def sums(self, episode: int) -> np.ndarray:
        """Where to add the observations of an episode and their squares, (2, o); (2, 0) if not watched."""
        row = self._row[episode]
        return self._sums[row] if row >= 0 else NOT_WATCHED

    def moments(self, steps: np.ndarray, failed: np.ndarray) -> ObservationMoments:
        """What was seen in the watched episodes that did not fail.

        Args:
            steps: control steps of each episode, (n,).
            failed: (n,) bool.
        """
        good = ~failed[self._episodes]
        sums, squares = self._sums[good].sum(axis=0)
        return ObservationMoments(int(steps[self._episodes[good]].sum()), sums, squares)


@compiled()
def add_observation(observation: np.ndarray, sums: np.ndarray) -> None:
    """Add an observation (o,) to its sums (2, o), unless these are (2, 0)."""
    for j in range(sums.shape[1]):
        value = np.float64(observation[j])
        sums[0, j] += value
        sums[1, j] += value * value
