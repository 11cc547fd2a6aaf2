"""`Normaliser`: how a problem's solutions take up a normalisation of what their controllers see."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Fold = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Normaliser:
    """Maps solutions, given the mean and the standard deviation of observations, (o,) each.

    Attributes:
        observation_dim: numbers in an observation, o.
        fold: makes solutions that do with observations what the given ones, (n, d), do with normalised ones.
        unfold: undoes it.
    """

    observation_dim: int
    fold: Fold
    unfold: Fold
