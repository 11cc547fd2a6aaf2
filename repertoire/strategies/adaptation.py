"""What CMA-ES and its variants share: recombination weights, learning rates, and step-size adaptation.

Source: N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016, arXiv:1604.00772 (Hansen below), with
    squared path lengths for lengths as in pycma's option `CSA_squared`.
"""

import math
from typing import NamedTuple

import numpy as np

from robots.compilation import compiled


class Constants(NamedTuple):
    """Weights, learning rates and damping, which follow from the dimension and the batch size alone.

    A named tuple because kernels take it whole. CMA-ES and its separable variant use this one class: numba's
    dispatcher tells two classes with fields of the same types apart only slowly, which costs more than the
    update.

    Attributes:
        weights: (parents,) float64, positive, sum 1.
        mu_eff: variance effective selection mass.
        c_sigma: learning rate of the step size's path.
        damping: of the step size.
        c_c: learning rate of the covariance matrix's path.
        c_1: learning rate of the rank-one update.
        c_mu: learning rate of the rank-μ update.
    """

    weights: np.ndarray
    mu_eff: float
    c_sigma: float
    damping: float
    c_c: float
    c_1: float
    c_mu: float


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


def path_rate(n: int, mu_eff: float) -> float:
    """Learning rate c_σ of the step size's path."""
    return (mu_eff + 2) / (n + mu_eff + 5)  # Hansen 2016, eq. 55


def damping(n: int, mu_eff: float) -> float:
    """Damping d_σ of the step size."""
    return (
        1 + 2 * max(0.0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + path_rate(n, mu_eff)
    )  # Hansen 2016, eq. 55


@compiled()
def path_stalls(length: float, n: int, c_sigma: float, generation: int) -> bool:
    """Whether the path, of a squared length, is so long that the path of C must not grow with it."""
    # h of Hansen 2016, eq. 45, on squared lengths
    rest = 1 - (1 - c_sigma) ** (2 * generation)
    return length / n / rest >= 2 + 4 / (n + 1)


@compiled()
def adapt_step_size(sigma: float, length: float, n: int, c_sigma: float, d_sigma: float) -> float:
    """Return the next step size, given the squared length of the path."""
    # Hansen 2016, eq. 44, with (‖p‖²/n - 1)/2 for ‖p‖/E‖N(0, I)‖ - 1
    return sigma * math.exp(min(1.0, c_sigma / d_sigma * (length / n - 1) / 2))
