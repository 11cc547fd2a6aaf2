"""`Constants`: what CMA-ES and its separable variant learn with."""

from typing import NamedTuple

import numpy as np


class Constants(NamedTuple):
    """Weights, learning rates and damping, which follow from the dimension and the batch size alone.

    A named tuple because kernels take it whole. Both strategies use this one class: numba's dispatcher tells
    two classes with fields of the same types apart only by a slow path, which costs more than the update.

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
