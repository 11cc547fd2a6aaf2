"""`GaussianProcess`: exact regression over a fixed set of points, one observation at a time."""

import numpy as np

from robots.errors import InvalidValueError


def matern_52(distances: np.ndarray, *, length_scale: float, variance: float = 1.0) -> np.ndarray:
    """Matérn covariance with ν = 5/2 (Rasmussen & Williams 2006, eq. 4.17).

    Args:
        distances: between points, of any shape, not negative.
        length_scale: ρ, in units of the distances.
        variance: of the signal, k(x, x).
    """
    d = np.sqrt(5.0) * distances / length_scale
    return variance * (1 + d + d**2 / 3) * np.exp(-d)


class GaussianProcess:
    """A zero-mean process with a Matérn 5/2 kernel, known at k points only.

    Because the points are fixed, the posterior at all of them is kept up to date: an observation appends a
    row to V = L⁻¹ K(observed, all), where L Lᵀ = K(observed, observed) + σ² I (Cholesky). With z = L⁻¹ y, the
    posterior mean is Vᵀ z and the variance k(x, x) - Σ V² (Rasmussen & Williams 2006, algorithm 2.1). The new
    row of L is a column of V, so that nothing is solved or factored again, and the t-th observation takes
    O(k (t + m)) time.

    Args:
        points: (k, m).
        length_scale: of the kernel, ρ, in units of the points.
        variance: of the signal, k(x, x).
        noise: variance of an observation, σ².

    Attributes:
        mean: posterior mean at the points, (k,).
        variance: posterior variance at the points, without the noise, (k,).

    Raises:
        InvalidValueError: a setting is not positive.
    """

    def __init__(
        self, points: np.ndarray, *, length_scale: float, variance: float = 1.0, noise: float
    ) -> None:
        for name, value in (("length_scale", length_scale), ("variance", variance), ("noise", noise)):
            if not 0 < value < np.inf:
                raise InvalidValueError(f"{name} must be positive and finite, not {value}")
        self.points = np.asarray(points, np.float64)
        self.length_scale = length_scale
        self.noise = noise
        self.mean = np.zeros(len(self.points))
        self.variance = np.full(len(self.points), float(variance))
        self._signal = float(variance)
        self._rows = np.empty((0, len(self.points)))  # V, (t, k)
        self._residuals = np.empty(0)  # z, (t,)

    def observe(self, index: int, value: float) -> None:
        """Take in a noisy value at a point, which may have been observed before.

        Args:
            index: of the point.
            value: finite.
        """
        distances = np.linalg.norm(self.points - self.points[index], axis=1)
        covariance = matern_52(distances, length_scale=self.length_scale, variance=self._signal)  # (k,)
        factor = self._rows[:, index]  # new row of L but for its diagonal, (t,)
        diagonal = np.sqrt(
            self._signal + self.noise - factor @ factor
        )  # at least the noise is under the root
        row = (covariance - factor @ self._rows) / diagonal
        residual = (value - factor @ self._residuals) / diagonal
        self.mean = self.mean + residual * row
        self.variance = np.maximum(self.variance - row**2, 0.0)  # rounding may fall below 0
        self._rows = np.vstack([self._rows, row])
        self._residuals = np.append(self._residuals, residual)
