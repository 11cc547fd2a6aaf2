"""`GaussianProcess`: exact regression over a fixed set of points, one observation at a time."""

import numpy as np

from adapt.selectors.checks import check_positive
from adapt.selectors.posterior import Posterior


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

    Args:
        points: (k, m).
        length_scale: of the kernel, ρ, in units of the points.
        variance: of the signal, k(x, x).
        noise: variance of an observation, σ².

    Raises:
        InvalidValueError: a setting is not positive.
    """

    def __init__(
        self, points: np.ndarray, *, length_scale: float, variance: float = 1.0, noise: float
    ) -> None:
        check_positive(length_scale=length_scale, variance=variance, noise=noise)
        self.points = np.asarray(points, np.float64)
        self.length_scale = length_scale
        self.noise = noise
        self._signal = float(variance)
        self._posterior = Posterior(np.full(len(self.points), self._signal))

    @property
    def mean(self) -> np.ndarray:
        """Posterior mean at the points, (k,)."""
        return np.asarray(self._posterior.means()[0])

    @property
    def variance(self) -> np.ndarray:
        """Posterior variance at the points, without the noise, (k,)."""
        return self._posterior.variance

    def observe(self, index: int, value: float) -> None:
        """Take in a noisy value at a point, which may have been observed before.

        Args:
            index: of the point.
            value: finite.
        """
        distances = np.linalg.norm(self.points - self.points[index], axis=1)
        covariance = matern_52(distances, length_scale=self.length_scale, variance=self._signal)
        self._posterior.observe(index, covariance, value, self.noise)

    def mean_given(self, values: np.ndarray) -> np.ndarray:
        """Posterior mean at the points, (k,), had the values observed so far been others, (t,)."""
        return self._posterior.mean_given(values)
