"""Expected improvement over a mixture of normal beliefs, in closed form."""

import numpy as np
from scipy.special import ndtr

from robots.compilation import compiled

# (μ - b) Φ(u) + σ φ(u) = σ τ(u): τ is tabulated, and read with linear interpolation within 3e-7
_REACH = 6.0  # beyond that τ is 0 or u within 2e-10
_CELLS = 8192
_U = np.linspace(-_REACH, _REACH, _CELLS + 1)
_TAU = _U * ndtr(_U) + np.exp(-0.5 * _U**2) / np.sqrt(2 * np.pi)
_PER_UNIT = _CELLS / (2 * _REACH)
_LEAST = 1e-12  # standard deviation


@compiled()
def add_expected_improvement(
    means: np.ndarray, deviations: np.ndarray, weights: np.ndarray, best: float, out: np.ndarray
) -> None:
    """Add what components of a mixture expect of every controller beyond the best so far.

    For a belief N(μ, σ²), E[max(f - b, 0)] = (μ - b) Φ(u) + σ φ(u) with u = (μ - b) / σ (Jones, Schonlau &
    Welch 1998, eq. 15); that of a mixture is the weighted sum of its components', since expectations are
    linear.

    Args:
        means: μ of n components at k controllers, (n, k).
        deviations: σ, which they share, (k,).
        weights: of the components, (n,).
        best: b.
        out: to be added to, (k,).
    """
    n, k = means.shape
    for i in range(n):
        for x in range(k):
            deviation = max(deviations[x], _LEAST)
            gain = means[i, x] - best
            u = gain / deviation
            if u >= _REACH:
                out[x] += weights[i] * gain
            elif u > -_REACH:
                place = (u + _REACH) * _PER_UNIT
                cell = int(place)
                tau = _TAU[cell] + (place - cell) * (_TAU[cell + 1] - _TAU[cell])
                out[x] += weights[i] * deviation * tau
