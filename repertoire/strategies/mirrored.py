"""`MirroredSamples`: pairs of samples on either side of a point, and the gradients that their values suggest.

Source: T. Salimans, J. Ho, X. Chen, S. Sidor, I. Sutskever, "Evolution Strategies as a Scalable Alternative
    to Reinforcement Learning", 2017, arXiv:1703.03864 (Salimans below).
"""

import math
from collections.abc import Mapping

import numpy as np

from repertoire.strategies.adaptation import add_scaled
from repertoire.strategies.noise import Noise
from robots.compilation import compiled
from robots.errors import InvalidValueError


class MirroredSamples:
    """Gaussian samples whose rows 2i and 2i + 1 are point + σ ε and point - σ ε.

    Args:
        count: samples a draw; even, at least 2.
        sigma: standard deviation of every parameter, in units of the parameters; positive.
        solution_dim: number of parameters, n.
        rng: gives the key of the noise.

    Attributes:
        count: see above.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    def __init__(self, count: int, *, sigma: float, solution_dim: int, rng: np.random.Generator) -> None:
        if count < 2 or count % 2:
            raise InvalidValueError(f"gradient_samples must be even and at least 2, got {count}")
        if not 0 < sigma < math.inf:
            raise InvalidValueError(f"gradient_sigma must be positive and finite, got {sigma}")
        self.count = int(count)
        self._sigma = float(sigma)
        self._random = Noise(rng)
        self._noise = np.empty((self.count // 2, solution_dim), np.float32)

    def draw(self, point: np.ndarray, solutions: np.ndarray) -> None:
        """Draw samples.

        Args:
            point: (n,) float64, to sample around.
            solutions: (count, n) float32, contiguous, to be filled.
        """
        number, half = self._random.next_draw(), self.count // 4
        self._random.fill(self._noise[:half], draw=number, stream=0)
        self._random.fill(self._noise[half:], draw=number, stream=half)
        mirror(point, self._sigma, self._noise, solutions)

    def gradients(self, values: np.ndarray) -> np.ndarray:
        """Estimate the gradients of several functions from their values at the samples drawn last.

        Args:
            values: (count, k), a function in each column; NaN where unknown.

        Returns:
            (k, n) float64, of the centred ranks rather than of the values.
        """
        gradients = np.empty((values.shape[1], self._noise.shape[1]))
        for gradient, column in zip(gradients, values.T, strict=True):
            ranks = centred_ranks(column)
            # Salimans 2017, Algorithm 1, over `count` samples of which two share an ε
            weigh(self._noise, (ranks[0::2] - ranks[1::2]) / (self.count * self._sigma), gradient)
        return gradients

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold between draws."""
        return self._random.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned; see `Noise.restore`."""
        self._random.restore(state)


def centred_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values (k,), centred to [-1/2, 1/2], the largest value having the largest.

    Equal values share the mean of their ranks, as any order among them would be a direction without reason:
    contact shares of 0 and 1 are frequent. A NaN has rank 0, which says neither large nor small.
    """
    known = ~np.isnan(values)
    ranks, count = np.zeros(len(values)), np.count_nonzero(known)
    if count > 1:
        _, groups, sizes = np.unique(values[known], return_inverse=True, return_counts=True)
        means = np.cumsum(sizes) - (sizes + 1) / 2  # of the ranks from 0 of equal values
        ranks[known] = means[groups] / (count - 1) - 0.5  # Salimans 2017, Section 2.1
    return ranks


@compiled()
def mirror(mean: np.ndarray, sigma: float, noise: np.ndarray, solutions: np.ndarray) -> None:
    """Write mean ± σ ε to solutions (2k, n) float32, from noise (k, n)."""
    for i in range(noise.shape[0]):
        _mirror_row(mean, sigma, noise[i], solutions[2 * i], solutions[2 * i + 1])


@compiled(fastmath={"contract"})
def _mirror_row(
    mean: np.ndarray, sigma: float, noise: np.ndarray, ahead: np.ndarray, behind: np.ndarray
) -> None:
    for j in range(noise.size):
        step = sigma * noise[j]
        ahead[j] = np.float32(mean[j] + step)
        behind[j] = np.float32(mean[j] - step)


@compiled()
def weigh(noise: np.ndarray, weights: np.ndarray, total: np.ndarray) -> None:
    """Write Σ w ε to `total`, (n,)."""
    total[:] = 0
    for i in range(weights.size):
        add_scaled(noise[i], weights[i], total)
