"""Gaussian processes over a fixed set of points, observed at one of them at a time; the Matérn 5/2 kernel."""

import numpy as np
from scipy.linalg import solve_triangular

_ROWS = 16  # initial capacity for observations


def matern_52(distances: np.ndarray, *, length_scale: float) -> np.ndarray:
    """Matérn covariance of variance 1 with ν = 5/2 (Rasmussen & Williams 2006, eq. 4.17).

    Args:
        distances: between points, of any shape, not negative.
        length_scale: ρ, in units of the distances.
    """
    d = np.sqrt(5.0) * distances / length_scale
    return (1 + d + d**2 / 3) * np.exp(-d)


class Posterior:
    """Zero-mean processes at k points that share their covariance and where they are observed.

    Because the points are fixed, what an observation says is kept for all of them: it appends a row to V =
    L⁻¹ K(observed, all), where L Lᵀ = K(observed, observed) + Σ (Cholesky; Σ is diagonal, the variances of
    the noise). With z = L⁻¹ y, the posterior mean is Vᵀ z and the variance k(x, x) - Σ_t V_t² (Rasmussen &
    Williams 2006, algorithm 2.1). The new row of L is a column of V, so that nothing is solved or factored
    again, and the t-th observation takes O(k t) time. V does not depend on the values y: d series of values
    that were observed at the same points share it, and each costs O(t) more.

    Args:
        variance: k(x, x) at each point, (k,).
        series: d.

    Attributes:
        variance: posterior variance at the points, without the noise, (k,).
        observed: points observed so far, in order.
    """

    def __init__(self, variance: np.ndarray, *, series: int = 1) -> None:
        self.variance = np.array(variance, np.float64)
        self.observed: list[int] = []
        self._rows = np.empty((_ROWS, len(self.variance)))  # V, its first t rows
        self._diagonal = np.empty(_ROWS)  # of L
        self._values = np.empty((_ROWS, series))  # z

    def mean_at(self, point: int) -> np.ndarray:
        """Posterior mean of every series at a point, (d,)."""
        t = len(self.observed)
        return np.asarray(self._rows[:t, point] @ self._values[:t])

    def means(self, series: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Posterior means of some series at all points, (n, k)."""
        t = len(self.observed)
        return np.asarray(self._values[:t, series].T @ self._rows[:t])

    def observe(
        self, point: int, covariance: np.ndarray, values: np.ndarray | float, noise_variance: float
    ) -> None:
        """Take in a noisy value of each series at a point, which may have been observed before.

        Args:
            point: its index.
            covariance: k(point, all), (k,).
            values: (d,).
            noise_variance: positive.
        """
        t = len(self.observed)
        if t == len(self._rows):
            self._grow()
        factor = self._rows[:t, point]  # new row of L but for its diagonal, (t,)
        # At least the noise is under the root
        diagonal = np.sqrt(max(covariance[point] - factor @ factor, 0.0) + noise_variance)
        row = (covariance - factor @ self._rows[:t]) / diagonal
        self._rows[t] = row
        self._diagonal[t] = diagonal
        self._values[t] = (values - factor @ self._values[:t]) / diagonal
        self.variance = np.maximum(self.variance - row**2, 0.0)  # rounding may fall below 0
        self.observed.append(point)

    def mean_given(self, values: np.ndarray) -> np.ndarray:
        """Posterior mean at all points had the observed values been others, (t,) to (k,): Vᵀ L⁻¹ y."""
        t = len(self.observed)
        if not t:
            return np.zeros(len(self.variance))
        lower = np.tril(self._rows[:t, self.observed].T, -1)
        np.fill_diagonal(lower, self._diagonal[:t])
        return np.asarray(solve_triangular(lower, values, lower=True) @ self._rows[:t])

    def _grow(self) -> None:
        """Make room for twice as many observations."""
        for name in ("_rows", "_diagonal", "_values"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty_like(old)]))
