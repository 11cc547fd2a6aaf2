"""LM-MA-ES: a Gaussian whose transformation is built from a few direction vectors, in time linear in n.

Source: I. Loshchilov, T. Glasmachers, H.-G. Beyer, "Large Scale Black-Box Optimization by Limited-Memory
    Matrix Adaptation", IEEE Transactions on Evolutionary Computation 23(2), 2019, Algorithm 1 (Loshchilov
    below).
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from repertoire.strategies.cma_es import add_scaled, logarithmic, weigh
from repertoire.strategies.strategy import Strategy, StrategySettings
from robots.compilation import compiled
from robots.errors import InvalidValueError

_MIN_STEP = 1e-12  # in units of the parameters
_MOST_GROWTH = 500.0  # logarithm of a growth after which any step size is too large, but still a number
_BLOCK = 2048  # columns a pass

Vectors = Annotated[int, Field(gt=0, le=10_000, strict=True)]


class _Constants(NamedTuple):
    """Learning rates, from the dimension, the batch size and the number of vectors alone."""

    c_sigma: float
    c_d: np.ndarray  # (vectors,)
    c_c: np.ndarray  # (vectors,)


class _Search(NamedTuple):
    """The arrays that change, float64."""

    mean: np.ndarray  # (n,)
    path: np.ndarray  # (n,)
    vectors: np.ndarray  # (vectors, n), M in the paper
    products: np.ndarray  # (vectors, vectors), the inner products of M's rows


class _Transform(NamedTuple):
    """What sampling does to z: scale z + (z Mᵀ) mixing M, over the vectors that were updated so far."""

    scale: float
    mixing: np.ndarray  # (active, active)


class LMMAES(Strategy):
    """LM-MA-ES with positive weights for the better half of a batch.

    Sampling passes each z through one rank-one transformation after another (Loshchilov 2019, Algorithm 1,
    lines 6 to 9). Since every one of them adds a multiple of a vector M_i, the result is a multiple of z
    plus a combination of the M_i whose coefficients follow from the products M z and M Mᵀ alone, so that a
    batch takes two matrix products instead of a pass over it for every vector; see `_mixing`.

    It stops on a step size below 1e-12, and on flat values. See `Strategy` for arguments and errors; the mean
    must have at least 2 parameters.
    """

    _search: _Search

    def __init__(self, settings: "LMMAESSettings", mean: np.ndarray, rng: np.random.Generator) -> None:
        super().__init__(settings, mean, rng)
        n = self.solution_dim
        if n < 2:
            raise InvalidValueError("LM-MA-ES needs a mean of at least 2 parameters")
        self.vectors = min(n, settings.vectors or self.batch_size)
        self._constants = _constants(n, self.batch_size, self.vectors)
        self._noise = np.empty((self.batch_size, n), np.float32)
        self._directions = np.empty((self.batch_size, n))
        self._recombined = np.empty(n)
        self._reset(self.initial.copy())

    def _reset(self, mean: np.ndarray) -> None:
        n, m = self.solution_dim, self.vectors
        self._search = _Search(mean, np.zeros(n), np.zeros((m, n)), np.zeros((m, m)))

    def _sample(self, solutions: np.ndarray) -> None:
        self._draw(self._noise)
        scale, mixing = self._transform = self._compose()
        vectors = self._search.vectors[: len(mixing)]
        self._directions[:] = self._noise
        coefficients = (self._directions @ vectors.T) @ mixing  # (batch_size, active)
        np.matmul(coefficients, vectors, out=self._directions)
        _place(self._search.mean, self._sigma, scale, self._noise, self._directions, solutions)

    def _update(self, ranking: np.ndarray, population: int) -> None:
        weights, mu_eff = logarithmic(population)
        weigh(self._noise[ranking[: weights.size]], weights, self._recombined)
        along = self._search.vectors @ self._recombined  # (vectors,)
        active = len(self._transform.mixing)
        coefficients = along[:active] @ self._transform.mixing
        length = _advance(
            self._search,
            self._recombined,
            along,
            self._sigma * self._transform.scale,
            self._sigma * coefficients,
            mu_eff,
            self._constants,
        )
        # Loshchilov 2019, Algorithm 1, line 18
        growth = self._constants.c_sigma / 2 * (length / self.solution_dim - 1)
        self._sigma *= math.exp(min(growth, _MOST_GROWTH))
        self._generation += 1

    def _compose(self) -> _Transform:
        """Work out what the transformations of all vectors that were updated so far amount to.

        With a = 1 - c_d, P_i = a_1 ... a_i and q_i = M_i d_(i-1) / P_(i-1), lines 7 to 9 of Loshchilov 2019's
        Algorithm 1, d_i = a_i d_(i-1) + c_d,i M_i (M_i d_(i-1)), give

            q_i = M_i z + sum over j < i of (c_d,j / a_j) (M_i M_j) q_j,
            d = P (z + sum over j of (c_d,j / a_j) q_j M_j).

        The first is a triangular system for q that has the M z on its right hand side.
        """
        active = min(self._generation, self.vectors)
        rates = self._constants.c_d[:active]
        scale = float(np.prod(1 - rates))
        return _Transform(scale, scale * _mixing(self._search.products, rates / (1 - rates)))

    def _degenerate(self) -> str | None:
        return "step size too small" if self._sigma < _MIN_STEP else None


class LMMAESSettings(StrategySettings):
    """Settings of `LMMAES`.

    Attributes:
        vectors: number of direction vectors, of which at most n are used; if none is given, the batch size,
            as in Tjanaka et al. 2023.
    """

    kind = "lm-ma-es"
    summary = "a few direction vectors"
    strategy = LMMAES
    vectors: Vectors | None = None


def _constants(n: int, batch_size: int, vectors: int) -> _Constants:
    i = np.arange(vectors)
    return _Constants(
        # Loshchilov 2019, Algorithm 1, line 2. The rates are meant for batches much smaller than n: at
        # larger ones they would exceed 1, and a path with a negative memory would swing instead of cumulate.
        c_sigma=min(1.0, 2 * batch_size / n),
        c_d=1 / (1.5**i * n),
        c_c=np.minimum(1.0, batch_size / (4.0**i * n)),
    )


@compiled()
def _mixing(products: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Return the matrix that turns M z, from the right, into the coefficients of the vectors in d / P."""
    size = gains.size
    solved = np.zeros((size, size))  # solved[k, i]: how much of M_k z there is in q_i
    for i in range(size):
        solved[i, i] = 1
        for j in range(i):
            factor = products[i, j] * gains[j]
            for k in range(j + 1):
                solved[k, i] += factor * solved[k, j]
    return solved * gains


@compiled()
def _place(
    mean: np.ndarray,
    sigma: float,
    scale: float,
    noise: np.ndarray,
    directions: np.ndarray,
    solutions: np.ndarray,
) -> None:
    for i in range(solutions.shape[0]):
        _place_row(mean, sigma, scale, noise[i], directions[i], solutions[i])


@compiled(fastmath={"contract"})
def _place_row(
    mean: np.ndarray,
    sigma: float,
    scale: float,
    noise: np.ndarray,
    direction: np.ndarray,
    solution: np.ndarray,
) -> None:
    for j in range(mean.size):
        step = scale * noise[j] + direction[j]
        solution[j] = np.float32(mean[j] + sigma * step)  # Loshchilov 2019, Algorithm 1, line 10


@compiled()
def _advance(
    search: _Search,
    z: np.ndarray,
    along: np.ndarray,
    scale: float,
    coefficients: np.ndarray,
    mu_eff: float,
    constants: _Constants,
) -> float:
    """Update the search in place, and return the squared length of the path.

    The recombined noise is z, (n,), and `along` is M z, (vectors,). The mean moves by `scale` of z, and by
    `coefficients`, (active,), of the vectors.
    """
    c_sigma, c_c = constants.c_sigma, constants.c_c
    mean, path, vectors, products = search
    mean += scale * z
    path *= 1 - c_sigma
    path += math.sqrt(mu_eff * c_sigma * (2 - c_sigma)) * z  # Loshchilov 2019, Algorithm 1, line 16
    gains = np.sqrt(mu_eff * c_c * (2 - c_c))
    _advance_products(products, along, np.dot(z, z), 1 - c_c, gains)
    for start in range(0, z.size, _BLOCK):  # so that a block of the mean stays in the cache
        columns = slice(start, min(start + _BLOCK, z.size))
        for i in range(c_c.size):
            if i < coefficients.size:
                add_scaled(vectors[i, columns], coefficients[i], mean[columns])
            _advance_vector(vectors[i, columns], 1 - c_c[i], gains[i], z[columns])
    return np.dot(path, path)


@compiled()
def _advance_products(
    products: np.ndarray, along: np.ndarray, square: float, kept: np.ndarray, gains: np.ndarray
) -> None:
    """Update the inner products of rows that become kept M + gains z, where M z = along and z z = square."""
    for i in range(gains.size):
        for j in range(gains.size):
            products[i, j] = (
                kept[i] * kept[j] * products[i, j]
                + kept[i] * along[i] * gains[j]
                + kept[j] * along[j] * gains[i]
                + gains[i] * gains[j] * square
            )


@compiled(fastmath={"contract"})
def _advance_vector(vector: np.ndarray, kept: float, gain: float, z: np.ndarray) -> None:
    for j in range(vector.size):
        vector[j] = kept * vector[j] + gain * z[j]  # Loshchilov 2019, Algorithm 1, line 17
