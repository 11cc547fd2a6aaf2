"""CMA-ES: a Gaussian with a full covariance matrix, in time and memory quadratic in n.

Source: N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016, arXiv:1604.00772 (Hansen below), without
    negative weights.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.strategies.adaptation import (
    Constants,
    adapt_step_size,
    add_scaled,
    damping,
    logarithmic,
    path_rate,
    path_stalls,
)
from repertoire.strategies.strategy import Strategy, StrategySettings
from robots.compilation import compiled

_MAX_CONDITION = 1e14
_MIN_STEP = 1e-11  # in units of the parameters


@dataclass
class _Search:
    """What changes."""

    mean: np.ndarray  # (n,)
    path_sigma: np.ndarray  # (n,)
    path_c: np.ndarray  # (n,)
    covariance: (
        np.ndarray
    )  # (n, n), Fortran order, of which the lower triangle holds C, without the step size
    basis: np.ndarray  # (n, n), eigenvectors of an earlier C in its columns
    deviations: np.ndarray  # (n,), square roots of its eigenvalues, ascending
    sigma: float
    generation: int = 0
    decomposed: int = 0  # the generation that basis and deviations are of


class CMAESSettings(StrategySettings):
    """Settings of `CMAES`, whose time and memory are quadratic in the number of parameters."""

    kind = "cma-es"
    summary = "a full covariance matrix"

    def make(self, mean: np.ndarray, rng: np.random.Generator) -> "CMAES":
        """See `StrategySettings.make`."""
        return CMAES(mean, sigma0=self.sigma0, batch_size=self.batch_size, rng=rng)

    def memory(self, n: int) -> int:
        """Four matrices of float64, two of them while decomposing."""
        return 4 * 8 * n**2


class CMAES(Strategy):
    """CMA-ES with positive weights for the better half of a batch.

    Learning rates are the tutorial's; the step size follows the squared length of its path. The
    eigendecomposition is done only when C may have changed noticeably, after 0.5 λ / (n (c_1 + c_μ))
    evaluations, as in pycma's purecma. It stops on a condition number of C above 1e14, on a largest standard
    deviation below 1e-11, and on flat values.

    Args:
        mean: (n,), the mean to start from, finite.
        sigma0: initial standard deviation of every parameter, in units of the parameters.
        batch_size: see `Strategy`; half of it, rounded down, are parents.
        rng: see `Strategy`.

    Raises:
        InvalidValueError: if an argument is outside what is said here.
    """

    def __init__(self, mean: np.ndarray, *, sigma0: float, batch_size: int, rng: np.random.Generator) -> None:
        super().__init__(mean, sigma0=sigma0, batch_size=batch_size, rng=rng)
        n = self.solution_dim
        self._constants = _constants(n, self.batch_size)
        rates = self._constants.c_1 + self._constants.c_mu
        self._patience = 0.5 / (n * rates)  # generations
        self._noise = np.empty((self.batch_size, n), np.float32)
        self._steps = np.empty((self.batch_size, n))  # (x - mean) / σ
        self._recombined = np.empty((2, n))
        # C grows by the product of this with itself
        self._factors = np.empty((self._constants.weights.size + 1, n))
        self._reset(self.initial.copy())

    @property
    def sigma(self) -> float:
        """The step size, in units of the parameters."""
        return self._search.sigma

    @property
    def condition_number(self) -> float:
        """Largest over smallest eigenvalue at the last decomposition, inf if C was not positive definite."""
        smallest, largest = self._search.deviations[0], self._search.deviations[-1]
        return float(largest / smallest) ** 2 if smallest > 0 else math.inf

    @property
    def mean(self) -> np.ndarray:
        """A copy of the mean, (n,) float64."""
        return self._search.mean.copy()

    @property
    def covariance(self) -> np.ndarray:
        """A copy of C, (n, n) float64; the covariance of solutions is sigma² times that."""
        lower = np.tril(self._search.covariance)
        return lower + np.tril(lower, -1).T

    def _reset(self, mean: np.ndarray) -> None:
        n = self.solution_dim
        self._search = _Search(
            mean=mean,
            path_sigma=np.zeros(n),
            path_c=np.zeros(n),
            covariance=np.eye(n, order="F"),
            basis=np.eye(n, order="F"),
            deviations=np.ones(n),
            sigma=self.sigma0,
        )

    def _sample(self, solutions: np.ndarray) -> None:
        search = self._search
        self._draw(self._noise)
        np.matmul(search.deviations * self._noise, search.basis.T, out=self._steps)  # Hansen 2016, eq. 38, 39
        _place(search.mean, search.sigma, self._steps, solutions)

    def _update(self, ranking: np.ndarray) -> None:
        search, constants, n = self._search, self._constants, self.solution_dim
        search.generation += 1
        _recombine(self._noise, self._steps, ranking, constants.weights, self._recombined, self._factors)
        z, y = self._recombined
        length = _advance_path_sigma(search.path_sigma, search.basis @ z, constants)
        stalled = path_stalls(length, n, constants.c_sigma, search.generation)
        kept = _advance_path_c(search.path_c, y, constants, stalled, self._factors)
        from scipy.linalg.blas import dsyrk  # here, as it takes long to import

        # Hansen 2016, eq. 47, both updates as one product; Fortran order spares BLAS a copy of C
        dsyrk(1.0, self._factors.T, beta=kept, c=search.covariance, lower=1, overwrite_c=1)
        search.mean += search.sigma * y  # Hansen 2016, eq. 42
        search.sigma = adapt_step_size(search.sigma, length, n, constants.c_sigma, constants.damping)
        if search.generation > search.decomposed + self._patience:
            self._decompose()

    def _decompose(self) -> None:
        search = self._search
        # of SciPy's drivers and this one, this is the fastest at 100 and 1000 parameters
        eigenvalues, basis = np.linalg.eigh(search.covariance)
        search.basis = np.asfortranarray(basis)
        search.deviations = np.sqrt(np.maximum(eigenvalues, 0))
        search.decomposed = search.generation

    def _degenerate(self) -> str | None:
        smallest, largest = self._search.deviations[0], self._search.deviations[-1]
        if largest**2 > _MAX_CONDITION * smallest**2:
            return "condition number too large"
        if self._search.sigma * largest < _MIN_STEP:
            return "step size too small"
        return None

    def _search_state(self) -> dict[str, np.ndarray]:
        return {name: np.array(value) for name, value in vars(self._search).items()}

    def _restore_search(self, state: Mapping[str, np.ndarray]) -> None:
        n = self.solution_dim
        vectors = {
            name: self._vector(name, state[name]) for name in ("mean", "path_sigma", "path_c", "deviations")
        }
        matrices = {
            name: np.asfortranarray(self._array(name, state[name], (n, n)))
            for name in ("covariance", "basis")
        }
        counts = {name: self._count(name, state) for name in ("generation", "decomposed")}
        self._search = _Search(
            **vectors,  # type: ignore[arg-type]
            **matrices,  # type: ignore[arg-type]
            **counts,  # type: ignore[arg-type]
            sigma=self._size("sigma", state),
        )


def _constants(n: int, batch_size: int) -> Constants:
    weights, mu_eff = logarithmic(batch_size)
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)  # Hansen 2016, eq. 57
    return Constants(
        weights=weights,
        mu_eff=mu_eff,
        c_sigma=path_rate(n, mu_eff),
        damping=damping(n, mu_eff),
        c_c=(4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n),  # Hansen 2016, eq. 56
        c_1=c_1,
        c_mu=min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff)),  # Hansen 2016, eq. 58
    )


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
    """Update the path of the step size and return its squared length.

    The step is C^(-1/2) (m' - m) / σ, which is B z because (m' - m) / σ is B D z.
    """
    c_sigma = constants.c_sigma
    gain = math.sqrt(c_sigma * (2 - c_sigma) * constants.mu_eff)
    for j in range(path.size):
        path[j] = (1 - c_sigma) * path[j] + gain * step[j]  # Hansen 2016, eq. 43
    return np.dot(path, path)


@compiled()
def _advance_path_c(
    path: np.ndarray, y: np.ndarray, constants: Constants, stalled: bool, factors: np.ndarray
) -> float:
    """Update the path of C, turn the y in `factors` into what C grows by, and return what C keeps."""
    c_c, c_1, c_mu = constants.c_c, constants.c_1, constants.c_mu
    gain = 0.0 if stalled else math.sqrt(c_c * (2 - c_c) * constants.mu_eff)
    for j in range(path.size):
        path[j] = (1 - c_c) * path[j] + gain * y[j]  # Hansen 2016, eq. 45
    for rank in range(constants.weights.size):
        factors[rank] *= math.sqrt(c_mu * constants.weights[rank])
    factors[-1] = math.sqrt(c_1) * path
    # what a stalled path does not add, C keeps
    return 1 - c_mu - c_1 * (1 - c_c * (2 - c_c) if stalled else 1.0)
