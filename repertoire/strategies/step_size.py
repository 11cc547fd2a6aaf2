"""Cumulative step-size adaptation, as CMA-ES and its separable variant share it.

Source: N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016, arXiv:1604.00772 (Hansen below), with
    squared path lengths for lengths as in pycma's option `CSA_squared`.
"""

import math

from robots.compilation import compiled


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
