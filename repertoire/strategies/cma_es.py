"""CMA-ES: a Gaussian with a full covariance matrix, in quadratic time and memory; what its variants share.

Source: N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016, arXiv:1604.00772 (Hansen below), without
    negative weights, and with squared path lengths for lengths as in pycma's option `CSA_squared`.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from repertoire.strategies.strategy import Strategy, StrategySettings
from robots.compilation import compiled

_MAX_CONDITION = 1e14
_MIN_STEP = 1e-11  # in units of the parameters

RankOne = Literal["textbook", "published"]


class Constants(NamedTuple):
    """Weights, learning rates and damping, which follow from the dimension and the batch size alone.

    A named tuple because kernels take it whole. CMA-ES and its separable variant use this one class: numba's
    dispatcher tells two classes with fields of the same types apart only slowly, which costs more than the
    update.
    """

    weights: np.ndarray  # (parents,) float64, positive, falling, sum 1
    mu_eff: float  # variance effective selection mass
    c_sigma: float  # learning rate of the step size's path
    damping: float  # of the step size
    c_c: float  # learning rate of the covariance matrix's path
    c_1: float  # learning rate of the rank-one update
    c_mu: float  # learning rate of the rank-μ update
    published: bool  # whether the rank-one update is that of published code, see `CMAESSettings`


class _Search(NamedTuple):
    """The arrays that change, float64."""

    mean: np.ndarray  # (n,)
    path_sigma: np.ndarray  # (n,)
    path_c: np.ndarray  # (n,)
    covariance: np.ndarray  # (n, n), Fortran order; its lower triangle holds C, without the step size
    basis: np.ndarray  # (n, n), Fortran order, eigenvectors of an earlier C in its columns
    deviations: np.ndarray  # (n,), square roots of its eigenvalues, ascending


class CMAES(Strategy):
    """CMA-ES with positive weights for the better half of a batch, rounded down.

    Learning rates are the tutorial's; the step size follows the squared length of its path. The
    eigendecomposition is done only when C may have changed noticeably, after 0.5 λ / (n (c_1 + c_μ))
    evaluations, as in pycma's purecma. It stops on a condition number of C above 1e14, on a largest standard
    deviation below 1e-11, and on flat values. See `Strategy` for arguments and errors.
    """

    _search: _Search
    _numbers = ("sigma", "generation", "decomposed")

    def __init__(self, settings: "CMAESSettings", mean: np.ndarray, rng: np.random.Generator) -> None:
        super().__init__(settings, mean, rng)
        n = self.solution_dim
        self._rank_one = settings.rank_one
        rates = make_constants(n, self.batch_size, self._rank_one, full_rates)
        self._patience = 0.5 / (n * (rates.c_1 + rates.c_mu))  # generations
        self._noise = np.empty((self.batch_size, n), np.float32)
        self._steps = np.empty((self.batch_size, n))  # (x - mean) / σ
        self._recombined = np.empty((2, n))
        # C grows by the product of this with itself
        self._factors = np.empty((self.batch_size + 1, n))
        self._reset(self.initial.copy())

    @property
    def condition_number(self) -> float:
        """Largest over smallest eigenvalue at the last decomposition, inf if C was not positive definite."""
        smallest, largest = self._search.deviations[0], self._search.deviations[-1]
        return float(largest / smallest) ** 2 if smallest > 0 else math.inf

    def _reset(self, mean: np.ndarray) -> None:
        n = self.solution_dim
        identity = np.eye(n, order="F")
        self._search = _Search(mean, np.zeros(n), np.zeros(n), identity, identity.copy("F"), np.ones(n))
        self._decomposed = 0  # the generation that the basis and the deviations are of

    def _sample(self, solutions: np.ndarray) -> None:
        search = self._search
        self._draw(self._noise)
        np.matmul(search.deviations * self._noise, search.basis.T, out=self._steps)  # Hansen 2016, eq. 38, 39
        _place(search.mean, self._sigma, self._steps, solutions)

    def _update(self, ranking: np.ndarray, population: int) -> None:
        from scipy.linalg.blas import dsyrk  # here, as it takes long to import

        search, n = self._search, self.solution_dim
        constants = make_constants(n, population, self._rank_one, full_rates)
        factors = self._factors[: constants.weights.size + 1]
        self._generation += 1
        _recombine(self._noise, self._steps, ranking, constants.weights, self._recombined, factors)
        z, y = self._recombined
        # (m' - m) / σ is B D z, so that C^(-1/2) times that is B z
        length = _advance_path_sigma(search.path_sigma, search.basis @ z, constants)
        stalled = path_stalls(length, n, constants.c_sigma, self._generation)
        kept = _advance_path_c(search.path_c, y, constants, self._sigma, stalled, factors)
        # Hansen 2016, eq. 47, both updates as one product; Fortran order spares BLAS a copy of C
        dsyrk(1.0, factors.T, beta=kept, c=search.covariance, lower=1, overwrite_c=1)
        np.add(search.mean, self._sigma * y, out=search.mean)  # Hansen 2016, eq. 42
        self._sigma = adapt_step_size(self._sigma, length, n, constants.c_sigma, constants.damping)
        if self._generation > self._decomposed + self._patience:
            self._decompose()

    def _decompose(self) -> None:
        # of SciPy's drivers and this one, this is the fastest at 100 and 1000 parameters
        eigenvalues, self._search.basis[:] = np.linalg.eigh(self._search.covariance)
        np.sqrt(np.maximum(eigenvalues, 0), out=self._search.deviations)
        self._decomposed = self._generation

    def _degenerate(self) -> str | None:
        smallest, largest = self._search.deviations[0], self._search.deviations[-1]
        return degenerate(smallest**2, largest**2, self._sigma)


class CMAESSettings(StrategySettings):
    """Settings of `CMAES`, whose time and memory are quadratic in the number of parameters.

    Attributes:
        rank_one: the rank-one update of C. "textbook" is Hansen's. "published" is that of the code with which
            Tjanaka et al. 2023 made their tables, and of pyribs: its path is not divided by σ, and grows C
            with weight c_1² while C forgets with c_1, so that with small steps it has no effect.
    """

    kind = "cma-es"
    summary = "a full covariance matrix"
    strategy = CMAES
    rank_one: RankOne = "textbook"

    def memory(self, n: int) -> int:
        """Four matrices of float64, two of them while decomposing."""
        return 4 * 8 * n**2


def full_rates(n: int, mu_eff: float, rank_one: RankOne) -> tuple[float, float, float]:
    """Return c_c, c_1 and c_mu of a full matrix, whichever the rank-one update."""
    return (
        (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n),  # Hansen 2016, eq. 56
        2 / ((n + 1.3) ** 2 + mu_eff),  # Hansen 2016, eq. 57
        2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff),  # Hansen 2016, eq. 58
    )


@lru_cache(maxsize=256)
def make_constants(
    n: int, population: int, rank_one: RankOne, rates: Callable[[int, float, RankOne], tuple[float, ...]]
) -> Constants:
    """Return the constants for n parameters, and for parents that are the better half of a population.

    `rates` gives c_c, c_1 and c_mu for n, the variance effective selection mass, and the rank-one update.
    """
    weights, mu_eff = logarithmic(population)
    c_sigma = (mu_eff + 2) / (n + mu_eff + 5)  # Hansen 2016, eq. 55
    c_c, c_1, c_mu = rates(n, mu_eff, rank_one)
    return Constants(
        weights=weights,
        mu_eff=mu_eff,
        c_sigma=c_sigma,
        damping=1 + 2 * max(0.0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma,  # Hansen 2016, eq. 55
        c_c=c_c,
        c_1=c_1,
        c_mu=min(1 - c_1, c_mu),
        published=rank_one == "published",
    )


@lru_cache(maxsize=256)
def logarithmic(batch_size: int) -> tuple[np.ndarray, float]:
    """Return weights that fall with the logarithm of the rank, and their variance effective selection mass.

    Half of the batch, rounded down, are parents; their weights, (parents,), sum to 1.
    """
    parents = batch_size // 2
    weights = math.log((batch_size + 1) / 2) - np.log(np.arange(1, parents + 1))  # Hansen 2016, eq. 49
    weights /= weights.sum()
    return weights, 1 / float(np.sum(weights**2))  # Hansen 2016, eq. 8


def degenerate(smallest: float, largest: float, sigma: float) -> str | None:
    """Return why to stop, given the extremes of the variances before they are scaled by σ², or None."""
    if largest > _MAX_CONDITION * smallest:
        return "condition number too large"
    if sigma * math.sqrt(largest) < _MIN_STEP:
        return "step size too small"
    return None


@compiled(fastmath={"contract"})
def add_scaled(source: np.ndarray, factor: float, target: np.ndarray) -> None:
    """Add a multiple of one vector to another, in place; a float32 source is converted first."""
    for j in range(source.size):
        target[j] += factor * np.float64(source[j])


@compiled()
def weigh(noise: np.ndarray, weights: np.ndarray, total: np.ndarray) -> None:
    """Write Σ w z over rows z of noise to `total`, (n,)."""
    total[:] = 0
    for i in range(weights.size):
        add_scaled(noise[i], weights[i], total)


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


@compiled()
def advance_path(path: np.ndarray, step: np.ndarray, rate: float, mu_eff: float) -> None:
    """Let a path forget at a rate, and add a step, of a variance effective selection mass, to it in place."""
    gain = math.sqrt(rate * (2 - rate) * mu_eff)
    for j in range(path.size):
        path[j] = (1 - rate) * path[j] + gain * step[j]  # Hansen 2016, eq. 43 and 45


@compiled()
def rank_one_terms(constants: Constants, sigma: float, stalled: bool) -> tuple[float, float]:
    """Return the selection mass with which the path of C takes up (m' - m) / σ, and its weight in C."""
    mass = 0.0 if stalled else constants.mu_eff
    if constants.published:
        return mass * sigma**2, constants.c_1**2
    return mass, constants.c_1


@compiled()
def kept_share(constants: Constants, stalled: bool) -> float:
    """Return what the update keeps of C: also what a stalled path does not add to it."""
    c_c, c_1, c_mu = constants.c_c, constants.c_1, constants.c_mu
    return 1 - c_mu - c_1 * (1 - c_c * (2 - c_c) if stalled else 1.0)  # Hansen 2016, eq. 47


@compiled()
def _place(mean: np.ndarray, sigma: float, steps: np.ndarray, solutions: np.ndarray) -> None:
    for i in range(steps.shape[0]):
        for j in range(mean.size):
            solutions[i, j] = np.float32(mean[j] + sigma * steps[i, j])  # Hansen 2016, eq. 40


@compiled()
def _recombine(
    noise: np.ndarray,
    steps: np.ndarray,
    ranking: np.ndarray,
    weights: np.ndarray,
    recombined: np.ndarray,
    factors: np.ndarray,
) -> None:
    """Write Σ w z and Σ w y over the parents to `recombined`, (2, n), and their y to `factors`."""
    recombined[:] = 0
    for rank in range(weights.size):
        add_scaled(noise[ranking[rank]], weights[rank], recombined[0])
        add_scaled(steps[ranking[rank]], weights[rank], recombined[1])
        factors[rank] = steps[ranking[rank]]


@compiled()
def _advance_path_sigma(path: np.ndarray, step: np.ndarray, constants: Constants) -> float:
    """Update the path of the step size, given C^(-1/2) (m' - m) / σ, and return its squared length."""
    advance_path(path, step, constants.c_sigma, constants.mu_eff)
    return np.dot(path, path)


@compiled()
def _advance_path_c(
    path: np.ndarray, y: np.ndarray, constants: Constants, sigma: float, stalled: bool, factors: np.ndarray
) -> float:
    """Update the path of C, turn the y in `factors` into what C grows by, and return what C keeps."""
    mass, weight = rank_one_terms(constants, sigma, stalled)
    advance_path(path, y, constants.c_c, mass)
    for rank in range(constants.weights.size):
        factors[rank] *= math.sqrt(constants.c_mu * constants.weights[rank])
    factors[-1] = math.sqrt(weight) * path
    return kept_share(constants, stalled)
