"""Separable CMA-ES: a Gaussian with a diagonal covariance matrix, in time and memory linear in n.

Sources: R. Ros, N. Hansen, "A simple modification in CMA-ES achieving linear time and space complexity", PPSN
2008 (Ros & Hansen below), and for the numbered equations N. Hansen, "The CMA Evolution Strategy: A Tutorial",
2016, arXiv:1604.00772 (Hansen below), with the matrices C and C^(-1/2) replaced by their diagonals.
"""

import math
from typing import NamedTuple

import numpy as np

from repertoire.strategies.cma_es import (
    Constants,
    RankOne,
    adapt_step_size,
    advance_path,
    degenerate,
    full_rates,
    kept_share,
    make_constants,
    path_stalls,
    rank_one_terms,
)
from repertoire.strategies.strategy import Strategy, StrategySettings
from robots.compilation import compiled


class _Search(NamedTuple):
    """The vectors that change, (n,) float64 each."""

    mean: np.ndarray
    variances: np.ndarray  # the diagonal of C, without the step size
    path_sigma: np.ndarray
    path_c: np.ndarray


class SepCMAES(Strategy):
    """Separable CMA-ES with positive weights for the better half of a batch.

    Learning rates are those of pycma's `c1_sep`, `cc_sep` and `cmu_sep` (the last without its later offset of
    1/4 in μ_eff), which replaced the (n + 2)/3-fold rates of Ros & Hansen; the step size follows the squared
    length of its path, as in pycma's purecma, rather than the length. It stops on a condition number of C
    above 1e14, on a largest standard deviation σ √C below 1e-11, and on flat values. See `Strategy` for
    arguments and errors.
    """

    _search: _Search

    def __init__(self, settings: "SepCMAESSettings", mean: np.ndarray, rng: np.random.Generator) -> None:
        super().__init__(settings, mean, rng)
        n = self.solution_dim
        self._rank_one = settings.rank_one
        self._noise = np.empty((self.batch_size, n), np.float32)
        self._recombined = np.empty((2, n))
        self._reset(self.initial.copy())

    @property
    def condition_number(self) -> float:
        smallest, largest = _extent(self._search.variances)
        return largest / smallest

    def _reset(self, mean: np.ndarray) -> None:
        n = self.solution_dim
        self._search = _Search(mean, np.ones(n), np.zeros(n), np.zeros(n))

    def _sample(self, solutions: np.ndarray) -> None:
        # Noise of 24 significant bits is drawn in half the time and kept in half the memory; the sample
        # mean + σ √C z that it defines is exact in float64.
        self._draw(self._noise)
        _scale(self._search.mean, self._search.variances, self._sigma, self._noise, solutions)

    def _update(self, ranking: np.ndarray, population: int) -> None:
        constants = make_constants(self.solution_dim, population, self._rank_one, separable_rates)
        self._generation += 1
        _recombine(self._noise, ranking, constants.weights, self._recombined)
        self._sigma = _adapt(self._search, self._recombined, constants, self._sigma, self._generation)

    def _degenerate(self) -> str | None:
        return degenerate(*_extent(self._search.variances), self._sigma)


class SepCMAESSettings(StrategySettings):
    """Settings of `SepCMAES`.

    Attributes:
        rank_one: the rank-one update of C, see `CMAESSettings` and `separable_rates`.
    """

    kind = "sep-cma-es"
    summary = "a diagonal covariance matrix"
    strategy = SepCMAES
    rank_one: RankOne = "textbook"


def separable_rates(n: int, mu_eff: float, rank_one: RankOne) -> tuple[float, float, float]:
    """Return c_c, c_1 and c_mu of a diagonal matrix; published code multiplies c_1 by that of a full one."""
    c_1 = 1 / (n + 2 * math.sqrt(n) + mu_eff / n)  # pycma, c1_sep
    if rank_one == "published":
        c_1 *= full_rates(n, mu_eff, rank_one)[1]
    return (
        (1 + 1 / n + mu_eff / n) / (math.sqrt(n) + 1 / n + 2 * mu_eff / n),  # pycma, cc_sep
        c_1,
        (mu_eff + 1 / mu_eff - 2) / (n + 4 * math.sqrt(n) + mu_eff / 2),  # pycma, cmu_sep
    )


@compiled()
def _extent(variances: np.ndarray) -> tuple[float, float]:
    smallest = largest = variances[0]
    for variance in variances:
        smallest, largest = min(smallest, variance), max(largest, variance)
    return smallest, largest


@compiled()
def _scale(
    mean: np.ndarray, variances: np.ndarray, sigma: float, noise: np.ndarray, solutions: np.ndarray
) -> None:
    deviations = sigma * np.sqrt(variances)
    for i in range(noise.shape[0]):
        _scale_row(mean, deviations, noise[i], solutions[i])


@compiled(fastmath={"contract"})
def _scale_row(mean: np.ndarray, deviations: np.ndarray, noise: np.ndarray, solution: np.ndarray) -> None:
    for j in range(noise.size):
        solution[j] = np.float32(mean[j] + deviations[j] * noise[j])  # Hansen 2016, eq. 38 to 40


@compiled()
def _recombine(noise: np.ndarray, ranking: np.ndarray, weights: np.ndarray, recombined: np.ndarray) -> None:
    """Write Σ w z and Σ w z² over the parents to `recombined`, (2, n).

    In z, the steps standardised by C^(-1/2) and σ, neither sum suffers the cancellation of x - mean.
    """
    recombined[:] = 0
    for rank in range(weights.size):
        _accumulate(noise[ranking[rank]], weights[rank], recombined[0], recombined[1])


@compiled(fastmath={"contract"})
def _accumulate(noise: np.ndarray, weight: float, first: np.ndarray, second: np.ndarray) -> None:
    for j in range(noise.size):
        z = np.float64(noise[j])
        first[j] += weight * z
        second[j] += weight * z * z


@compiled()
def _adapt(
    search: _Search, recombined: np.ndarray, constants: Constants, sigma: float, generation: int
) -> float:
    n = search.mean.size
    c_sigma = constants.c_sigma
    advance_path(search.path_sigma, recombined[0], c_sigma, constants.mu_eff)
    length = 0.0
    for j in range(n):
        length += search.path_sigma[j] * search.path_sigma[j]
    stalled = path_stalls(length, n, c_sigma, generation)
    _advance_covariance(search, recombined, constants, sigma, stalled)
    return adapt_step_size(sigma, length, n, c_sigma, constants.damping)


@compiled()
def _advance_covariance(
    search: _Search, recombined: np.ndarray, constants: Constants, sigma: float, stalled: bool
) -> None:
    """Update the path and the diagonal of C, and move the mean."""
    c_c, c_mu = constants.c_c, constants.c_mu
    mass, weight = rank_one_terms(constants, sigma, stalled)
    gain = math.sqrt(c_c * (2 - c_c) * mass)
    kept = kept_share(constants, stalled)
    for j in range(search.mean.size):
        variance = search.variances[j]
        step = math.sqrt(variance) * recombined[0, j]  # (m' - m) / σ
        search.mean[j] += sigma * step  # Hansen 2016, eq. 42
        search.path_c[j] = (1 - c_c) * search.path_c[j] + gain * step  # Hansen 2016, eq. 45
        rank_one = search.path_c[j] * search.path_c[j]
        rank_mu = variance * recombined[1, j]
        search.variances[j] = kept * variance + weight * rank_one + c_mu * rank_mu  # Hansen 2016, eq. 47
