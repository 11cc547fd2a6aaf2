"""OpenAI-ES: an isotropic Gaussian of constant width whose mean follows a gradient estimate with Adam.

Sources: T. Salimans, J. Ho, X. Chen, S. Sidor, I. Sutskever, "Evolution Strategies as a Scalable Alternative
    to Reinforcement Learning", 2017, arXiv:1703.03864 (Salimans below); D. Kingma, J. Ba, "Adam: A Method
    for Stochastic Optimization", ICLR 2015, Algorithm 1 (Adam below).
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from repertoire.strategies.mirrored import mirror, weigh
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


class OpenAIESSettings(StrategySettings):
    """Settings of `OpenAIES`; the batch size must be even."""

    kind = "openai-es"
    summary = "a Gaussian of constant width, moved by Adam"

    def make(self, mean: np.ndarray, rng: np.random.Generator) -> "OpenAIES":
        """See `StrategySettings.make`."""
        return OpenAIES(mean, sigma0=self.sigma0, batch_size=self.batch_size, rng=rng)


class OpenAIES(Strategy):
    """OpenAI-ES with mirrored samples, centred ranks, and Adam.

    Rows 2i and 2i + 1 of a batch are mean + σ ε and mean - σ ε. It stops on a step shorter than 1e-9 of the
    mean's length, and on flat values.

    Args:
        mean: (n,), the mean to start from, finite.
        sigma0: standard deviation of every parameter, constant, in units of the parameters.
        batch_size: see `Strategy`; even.
        rng: see `Strategy`.
        adam: settings of the optimiser.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    def __init__(
        self,
        mean: np.ndarray,
        *,
        sigma0: float,
        batch_size: int,
        rng: np.random.Generator,
        adam: AdamRates | None = None,
    ) -> None:
        super().__init__(mean, sigma0=sigma0, batch_size=batch_size, rng=rng)
        if batch_size % 2:
            raise InvalidValueError(f"batch_size must be even, since samples are mirrored, got {batch_size}")
        self._adam = adam or AdamRates()
        self._noise = np.empty((self.batch_size // 2, self.solution_dim), np.float32)
        self._gradient = np.empty(self.solution_dim)
        # Salimans 2017, Section 2.1: ranks centred to [-1/2, 1/2], best first
        self._utilities = 0.5 - np.arange(self.batch_size) / (self.batch_size - 1)
        self._reset(self.initial.copy())

    @property
    def sigma(self) -> float:
        """The standard deviation of the samples, constant."""
        return self.sigma0

    @property
    def condition_number(self) -> float:
        """Of the identity."""
        return 1.0

    @property
    def mean(self) -> np.ndarray:
        """A copy of the mean, (n,) float64."""
        return self._search.mean.copy()

    def _reset(self, mean: np.ndarray) -> None:
        n = self.solution_dim
        self._search = _Search(mean, np.zeros(n), np.zeros(n))
        self._generation = 0
        self._relative_step = math.inf

    def _sample(self, solutions: np.ndarray) -> None:
        self._draw(self._noise)
        mirror(self._search.mean, self.sigma0, self._noise, solutions)

    def _update(self, ranking: np.ndarray) -> None:
        self._generation += 1
        utilities = np.empty(self.batch_size)
        utilities[ranking] = self._utilities
        # Salimans 2017, Algorithm 1, over batch_size samples of which two share an ε
        weights = (utilities[0::2] - utilities[1::2]) / (self.batch_size * self.sigma0)
        weigh(self._noise, weights, self._gradient)
        self._relative_step = _adam_step(self._search, self._gradient, self._adam, self._generation)

    def _degenerate(self) -> str | None:
        return "step too small" if self._relative_step < _MIN_STEP else None

    def _search_state(self) -> dict[str, np.ndarray]:
        vectors = {name: vector.copy() for name, vector in self._search._asdict().items()}
        return {**vectors, "generation": np.array(self._generation)}

    def _restore_search(self, state: Mapping[str, np.ndarray]) -> None:
        self._search = _Search(*(self._vector(name, state[name]) for name in _Search._fields))
        self._generation = self._count("generation", state)


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
