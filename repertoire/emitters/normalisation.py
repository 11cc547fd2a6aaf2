"""`Normalisation`: running statistics of observations, in front of the controllers of a search."""

from collections.abc import Mapping

import numpy as np

from repertoire.problems.problem import Normaliser
from robots.simulation.episodes import ObservationMoments


class Normalisation:
    """Turns controllers that are meant to see normalised observations into solutions, and back.

    The statistics become part of each solution, so that wherever it goes it sees what it saw when it was
    made. They start as those that change nothing.

    Args:
        normaliser: how solutions take them up.
    """

    def __init__(self, normaliser: Normaliser) -> None:
        self._normaliser = normaliser
        self._moments = ObservationMoments.none(normaliser.observation_dim)

    def fold(self, controllers: np.ndarray) -> np.ndarray:
        """Return the solutions (n, d) that do with observations what controllers do with normalised ones."""
        return self._normaliser.fold(controllers, self._moments.mean, self._moments.std)

    def unfold(self, solutions: np.ndarray) -> np.ndarray:
        """Return the controllers (n, d) that become these solutions once folded."""
        return self._normaliser.unfold(solutions, self._moments.mean, self._moments.std)

    def learn(self, moments: ObservationMoments | None) -> None:
        """Take further observations into account, if there are any."""
        if moments is not None:
            self._moments = self._moments.merge(moments)

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return self._moments.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned; see `ObservationMoments.restored`."""
        self._moments = self._moments.restored(state)
