"""`Recombination`: how parents are weighted by rank, and summed."""

import math
from typing import NamedTuple

import numpy as np

from robots.compilation import compiled


class Recombination(NamedTuple):
    """Weights of the better half of a batch; a named tuple because kernels take it whole.

    Attributes:
        weights: (parents,) float64, positive, falling, sum 1.
        mu_eff: variance effective selection mass, 1 / Σ w².
    """

    weights: np.ndarray
    mu_eff: float


def logarithmic(batch_size: int) -> Recombination:
    """Weights that fall with the logarithm of the rank; half of the batch, rounded down, are parents."""
    parents = batch_size // 2
    weights = math.log((batch_size + 1) / 2) - np.log(np.arange(1, parents + 1))  # Hansen 2016, eq. 49
    weights /= weights.sum()
    return Recombination(weights, 1 / float(np.sum(weights**2)))  # Hansen 2016, eq. 8


@compiled(fastmath={"contract"})
def add_scaled(source: np.ndarray, factor: float, target: np.ndarray) -> None:
    """Add a multiple of one vector to another, in place; a float32 source is converted first."""
    for j in range(source.size):
        target[j] += factor * np.float64(source[j])
