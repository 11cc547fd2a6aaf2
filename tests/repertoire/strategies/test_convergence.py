"""How many evaluations the strategies take to a target, compared with pycma and the published algorithms."""

import warnings
from collections.abc import Callable

import cma
import numpy as np
import pytest
from published import LoshchilovLMMAES, SalimansES
from search_tools import generator
from searching import Objective, ellipsoid, rosenbrock, sphere

from repertoire.strategies.openai_es import AdamRates, OpenAIES, OpenAIESSettings
from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import STRATEGIES

pytestmark = pytest.mark.slow
START = {sphere: 1.0, ellipsoid: 1.0, rosenbrock: 3.0}
BATCH = 40
BUDGET = 60_000


def evaluations(
    ask: Callable[[], np.ndarray],
    tell: Callable[[np.ndarray, np.ndarray], object],
    objective: Objective,
    target: float,
) -> int:
    for count in range(BATCH, BUDGET, BATCH):
        x = ask()
        values = objective(x)
        if values.min() < target:
            return count
        tell(x, values)
    raise AssertionError(f"{BUDGET} evaluations were not enough")


def mean_evaluations(
    make: Callable[[np.ndarray, int], Strategy], n: int, objective: Objective, factor: float, seeds: int
) -> float:
    """Mean number of evaluations to a factor of the objective at the start."""
    mean = np.full(n, START[objective])
    target = factor * float(objective(mean))
    # one after the other, as pycma seeds the generator of all
    searches = (make(mean, seed) for seed in range(1, seeds + 1))
    return float(np.mean([evaluations(es.ask, es.tell, objective, target) for es in searches]))


class Ours:
    """A strategy that is told values instead of their ranking."""

    def __init__(self, es: Strategy) -> None:
        self.ask = es.ask
        self.tell = lambda _, values: es.tell(np.argsort(values))


class Published:
    """A published algorithm, with noise."""

    def __init__(self, es: LoshchilovLMMAES | SalimansES, rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.ask = lambda: es.samples(rng.standard_normal((rows, es.n)))
        self.tell = lambda _, values: es.update(np.argsort(values))


def pycmas(**options: bool) -> Callable[[np.ndarray, int], cma.CMAEvolutionStrategy]:
    settings = {"popsize": BATCH, "verbose": -9, **options}
    return lambda mean, seed: cma.CMAEvolutionStrategy(mean, 0.5, {**settings, "seed": seed})


@pytest.mark.parametrize(
    ("name", "n", "objective", "factor"),
    [
        ("cma-es", 10, sphere, 1e-9),
        ("cma-es", 10, ellipsoid, 1e-14),
        ("cma-es", 10, rosenbrock, 1e-8),
        ("cma-es", 100, sphere, 1e-2),
        ("sep-cma-es", 10, ellipsoid, 1e-14),
        ("sep-cma-es", 10, rosenbrock, 1e-3),
        ("sep-cma-es", 100, sphere, 1e-4),
        ("sep-cma-es", 100, ellipsoid, 1e-9),
    ],
)
def test_at_most_a_fifth_more_than_pycma_without_negative_weights(name, n, objective, factor):
    settings = STRATEGIES[name](sigma0=0.5, batch_size=BATCH)
    seeds = 3 if (name, n) == ("sep-cma-es", 10) else 2
    problem = (n, objective, factor, seeds)
    actual = mean_evaluations(lambda mean, seed: Ours(settings.make(mean, generator(seed))), *problem)
    option = {"cma-es": {"CMA_active": False}, "sep-cma-es": {"CMA_diagonal": True}}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pycma remarks on large steps
        assert actual <= 1.2 * mean_evaluations(pycmas(**option), *problem)


@pytest.mark.parametrize(
    ("name", "n", "objective", "factor"),
    [
        ("lm-ma-es", 100, sphere, 1e-6),
        ("lm-ma-es", 100, ellipsoid, 1e-2),
        ("lm-ma-es", 100, rosenbrock, 1e-3),
        ("openai-es", 10, sphere, 1e-3),
        ("openai-es", 100, ellipsoid, 1e-2),
        ("openai-es", 100, rosenbrock, 1e-3),
    ],
)
def test_as_many_as_the_published_algorithm(name, n, objective, factor):
    if name == "openai-es":
        settings, adam, seeds = OpenAIESSettings(sigma0=0.02, batch_size=BATCH), AdamRates(l2=0), 2

        def ours(mean: np.ndarray, seed: int) -> Strategy:
            return Ours(OpenAIES(settings, mean, generator(seed), adam=adam))

        def theirs(mean: np.ndarray, seed: int) -> Published:
            return Published(SalimansES(mean, 0.02, 0.01, 0), BATCH // 2, seed)
    else:
        vectors, seeds = 4 + int(3 * np.log(n)), 3

        def ours(mean: np.ndarray, seed: int) -> Strategy:
            settings = STRATEGIES[name](sigma0=0.5, batch_size=BATCH, vectors=vectors)
            return Ours(settings.make(mean, generator(seed)))

        def theirs(mean: np.ndarray, seed: int) -> Published:
            return Published(LoshchilovLMMAES(mean, 0.5, BATCH, vectors), BATCH, seed)

    problem = (n, objective, factor, seeds)
    assert mean_evaluations(ours, *problem) == pytest.approx(mean_evaluations(theirs, *problem), rel=0.2)
