"""OpenAI-ES: a Gaussian of constant width whose mean follows, with Adam, what mirrored samples estimate.

Sources: T. Salimans, J. Ho, X. Chen, S. Sidor, I. Sutskever, "Evolution Strategies as a Scalable Alternative
    to Reinforcement Learning", 2017, arXiv:1703.03864 (Salimans below); D. Kingma, J. Ba, "Adam: A Method
    for Stochastic Optimization", ICLR 2015, Algorithm 1 (Adam below).
"""

import math
from typing import NamedTuple

import numpy as np

from repertoire.strategies.cma_es import weigh
from repertoire.strategies.noise import Noise
from repertoire.strategies.strategy import Strategy, StrategySettings
from robots.compilation import compiled
from robots.errors import InvalidValueError

_MIN_STEP = 1e-9  # relative to the length of the mean


class AdamRates(NamedTuple):
    """Settings of Adam with L2 regularisation; a named tuple because the kernels take it whole.

    The defaults are those of Tjanaka et al. 2023, Section IV; decay rates and epsilon are Adam's own.
    """

    learning_rate: float = 0.01
    l2: float = 0.005  # added to the gradient of the loss as l2 times the mean
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


class _Search(NamedTuple):
    """The vectors that change, (n,) float64 each."""

    mean: np.ndarray
    first_moment: np.ndarray
    second_moment: np.ndarray


class OpenAIES(Strategy):
    """OpenAI-ES with mirrored samples, centred ranks, and Adam.

    Rows 2i and 2i + 1 of a batch are mean + σ ε and mean - σ ε. The gradient is the mean over these pairs of
    (r+ - r-) ε / σ, r the centred ranks: twice the estimate of Salimans, as in the code of Tjanaka et al.
    2023, whose coefficient of L2 is meant for that. It stops on a step shorter than 1e-9 of the mean's
    length, and on flat values. See `Strategy` for arguments and errors; the batch size must be even.
    """

    selective = False
    _search: _Search
    _numbers = ("generation",)

    def __init__(
        self,
        settings: "OpenAIESSettings",
        mean: np.ndarray,
        rng: np.random.Generator,
        adam: AdamRates | None = None,
    ) -> None:
        super().__init__(settings, mean, rng)
        if self.batch_size % 2:
            raise InvalidValueError(
                f"batch_size must be even, since samples are mirrored, got {self.batch_size}"
            )
        self._adam = adam or AdamRates()
        self._noise = np.empty((self.batch_size // 2, self.solution_dim), np.float32)
        self._gradient = np.empty(self.solution_dim)
        # Salimans 2017, Section 2.1: ranks centred to [-1/2, 1/2], best first
        self._utilities = 0.5 - np.arange(self.batch_size) / (self.batch_size - 1)
        self._reset(self.initial.copy())

    @property
    def condition_number(self) -> float:
        return 1.0

    def _reset(self, mean: np.ndarray) -> None:
        n = self.solution_dim
        self._search = _Search(mean, np.zeros(n), np.zeros(n))
        self._relative_step = math.inf

    def _sample(self, solutions: np.ndarray) -> None:
        self._draw(self._noise)
        mirror(self._search.mean, self.sigma0, self._noise, solutions)

    def _update(self, ranking: np.ndarray, population: int) -> None:
        self._generation += 1
        utilities = np.empty(self.batch_size)
        utilities[ranking] = self._utilities
        # Salimans 2017, Algorithm 1, but divided by the number of pairs rather than of samples
        weights = (utilities[0::2] - utilities[1::2]) / (self.batch_size // 2 * self.sigma0)
        weigh(self._noise, weights, self._gradient)
        self._relative_step = _adam_step(self._search, self._gradient, self._adam, self._generation)

    def _degenerate(self) -> str | None:
        return "step too small" if self._relative_step < _MIN_STEP else None


class OpenAIESSettings(StrategySettings):
    """Settings of `OpenAIES`; the batch size must be even."""

    kind = "openai-es"
    summary = "a Gaussian of constant width, moved by Adam"
    strategy = OpenAIES


class MirroredSamples:
    """Gaussian samples whose rows 2i and 2i + 1 are point + σ ε and point - σ ε.

    Attributes:
        count: samples a draw; even, at least 2.
        noise: all that a checkpoint must hold between draws.
    """

    def __init__(self, count: int, *, sigma: float, solution_dim: int, rng: np.random.Generator) -> None:
        if count < 2 or count % 2:
            raise InvalidValueError(f"gradient_samples must be even and at least 2, got {count}")
        self.count = int(count)
        self._sigma = float(sigma)
        self.noise = Noise(rng)
        self._drawn = np.empty((self.count // 2, solution_dim), np.float32)

    def draw(self, point: np.ndarray, solutions: np.ndarray) -> None:
        """Fill solutions, (count, n) float32, with samples around a point, (n,) float64."""
        half = self.count // 4
        self.noise.draw(self._drawn, split=half, stream=half)
        mirror(point, self._sigma, self._drawn, solutions)

    def gradients(self, values: np.ndarray) -> np.ndarray:
        """Estimate the gradients (k, n) of k functions from their values (count, k) at the last samples.

        They are those of the centred ranks rather than of the values, of which NaN are unknown.
        """
        gradients = np.empty((values.shape[1], self._drawn.shape[1]))
        for gradient, column in zip(gradients, values.T, strict=True):
            ranks = centred_ranks(column)
            # Salimans 2017, Algorithm 1, over `count` samples of which two share an ε
            weigh(self._drawn, (ranks[0::2] - ranks[1::2]) / (self.count * self._sigma), gradient)
        return gradients


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
def _adam_step(search: _Search, gradient: np.ndarray, rates: AdamRates, generation: int) -> float:
    """Take a step of Adam, in place, up the gradient; return its length relative to the mean's."""
    correction1 = 1 - rates.beta1**generation
    correction2 = 1 - rates.beta2**generation
    moved = length = 0.0
    for j in range(gradient.size):
        descent = rates.l2 * search.mean[j] - gradient[j]
        first = rates.beta1 * search.first_moment[j] + (1 - rates.beta1) * descent
        second = rates.beta2 * search.second_moment[j] + (1 - rates.beta2) * descent * descent
        search.first_moment[j], search.second_moment[j] = first, second
        step = rates.learning_rate * (first / correction1) / (math.sqrt(second / correction2) + rates.epsilon)
        search.mean[j] -= step
        moved += step * step
        length += search.mean[j] * search.mean[j]
    return math.sqrt(moved / length) if length else math.inf
