"""`Controller`: what every kind of controller offers."""

from abc import ABC, abstractmethod

import numpy as np


class Controller(ABC):
    """A map from flat parameter vectors and observations to actions in [-1, 1].

    Attributes:
        observation_dim: number of inputs, o.
        action_dim: number of outputs, a.
        sigma0: initial step size that suits a search among them.
    """

    observation_dim: int
    action_dim: int
    sigma0: float

    @property
    @abstractmethod
    def parameter_count(self) -> int:
        """Length p of a parameter vector."""

    @property
    @abstractmethod
    def shape(self) -> str:
        """The kind and its sizes in a word, the same for controllers that can exchange parameters."""

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A random parameter vector to start a search from, (p,) float32."""

    @abstractmethod
    def act(
        self,
        parameters: np.ndarray,
        observations: np.ndarray,
        steps: np.ndarray,
        actions: np.ndarray,
        ids: np.ndarray,
    ) -> None:
        """Write the actions of some simulations.

        Several threads may call this at once with different arrays.

        Args:
            parameters: (n, p) float32, one row per simulation.
            observations: (n, o) float32.
            steps: control steps since each episode began, (n,) integers.
            actions: (n, a) float32, written in the rows of `ids`.
            ids: (k,) int32, the simulations to act in.
        """

    @abstractmethod
    def fold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return controllers that do with observations what these do with normalised ones, (x - mean) / std.

        Args:
            parameters: (n, p), not changed.
            mean: (o,) float64.
            std: (o,) float64, positive.

        Returns:
            (n, p), of the type of the parameters.
        """

    @abstractmethod
    def unfold(self, parameters: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return controllers that do with normalised observations what these do with plain ones: undo `fold`.

        Arguments and result are those of `fold`.
        """
