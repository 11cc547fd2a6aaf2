"""Objectives to minimise, and searches for their minima, that the tests of this folder share."""

from collections.abc import Callable

import numpy as np

from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.strategy import Strategy

Objective = Callable[[np.ndarray], np.ndarray]


def sphere(x: np.ndarray) -> np.ndarray:
    return np.sum(np.square(x, dtype=np.float64), axis=-1)


def ellipsoid(x: np.ndarray, condition: float = 1e6) -> np.ndarray:
    n = np.shape(x)[-1]
    return np.square(x, dtype=np.float64) @ condition ** (np.arange(n) / (n - 1))


def rosenbrock(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, np.float64)
    return np.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2, axis=-1)


def linear(x: np.ndarray) -> np.ndarray:
    return np.sum(x, axis=-1, dtype=np.float64)


def minimise(es: Strategy, objective: Objective, generations: int) -> None:
    for _ in range(generations):
        es.tell(np.argsort(objective(es.ask()), kind="stable"))


def covariance(es: CMAES) -> np.ndarray:
    """C, of which the search keeps the lower triangle alone."""
    lower = np.tril(es.state()["covariance"])
    return lower + np.tril(lower, -1).T


def assert_rounded(solutions: np.ndarray, samples: np.ndarray) -> None:
    """Solutions are the float32 numbers nearest to the samples, which are known to 1e-11 or so."""
    assert solutions.dtype == np.float32
    np.testing.assert_allclose(solutions, samples, rtol=1.01 * 2.0**-24, atol=1e-10)
