"""Gaussian processes over a fixed set of points, observed at one of them at a time; the Matérn 5/2 kernel."""

import numpy as np


def matern_52(distances: np.ndarray, *, length_scale: float) -> np.ndarray:
    """Matérn covariance of variance 1 with ν = 5/2 and length ρ (Rasmussen & Williams 2006, eq. 4.17)."""
    d = np.sqrt(5.0) * distances / length_scale
    return (1 + d + d**2 / 3) * np.exp(-d)


class Posterior:
    """Zero-mean processes at k fixed points that share their covariance and where they are observed.

    An observation appends a row to V = L⁻¹ K(observed, all), where L Lᵀ = K(observed, observed) + Σ
    (Cholesky; Σ is diagonal, the variances of the noise), in O(k t) time for the t-th. With z = L⁻¹ y, the
    posterior mean is Vᵀ z and the variance k(x, x) - Σ_t V_t² (Rasmussen & Williams 2006, algorithm 2.1). V
    does not depend on the values y: d series that were observed at the same points share it.

    Args:
        variance: k(x, x) at each point, (k,).
        series: d.

    Attributes:
        variance: posterior variance at the points, without the noise, (k,).
    """

    def __init__(self, variance: np.ndarray, *, series: int = 1) -> None:
        self.variance = np.array(variance, np.float64)
        self._rows = np.empty((0, len(self.variance)))  # V, (t, k)
        self._values = np.empty((0, series))  # z, (t, d)

    def mean_at(self, point: int) -> np.ndarray:
        """Posterior mean of every series at a point, (d,)."""
        return np.asarray(self._rows[:, point] @ self._values)

    def means(self, series: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Posterior means of some series at all points, (n, k)."""
        return np.asarray(self._values[:, series].T @ self._rows)

    def observe(
        self, point: int, covariance: np.ndarray, values: np.ndarray | float, noise_variance: float
    ) -> None:
        """Take in a noisy value of each series, (d,), at a point, which may have been observed before.

        The covariance is k(point, all), (k,), and the noise's variance positive.
        """
        factor = self._rows[:, point]  # new row of L but for its diagonal, (t,)
        # At least the noise is under the root
        diagonal = np.sqrt(max(covariance[point] - factor @ factor, 0.0) + noise_variance)
        row = (covariance - factor @ self._rows) / diagonal
        value = (values - factor @ self._values) / diagonal
        self._rows, self._values = np.vstack([self._rows, row]), np.vstack([self._values, value])
        self.variance = np.maximum(self.variance - row**2, 0.0)  # rounding may fall below 0
