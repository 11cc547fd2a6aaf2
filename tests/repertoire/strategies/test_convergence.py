"""How many evaluations the strategies take to a target, compared with pycma and the published algorithms."""

import warnings
from collections.abc import Callable, Iterable

import cma
import numpy as np
import pytest
from published import LoshchilovLMMAES, SalimansES
from searching import Objective, ellipsoid, generator, rosenbrock, sphere

from repertoire.strategies.cma_es import CMAES
from repertoire.strategies.lm_ma_es import LMMAES
from repertoire.strategies.openai_es import AdamRates, OpenAIES
from repertoire.strategies.sep_cma_es import SepCMAES
from repertoire.strategies.strategy import Strategy

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


def ours(es: Strategy, objective: Objective, target: float) -> int:
    return evaluations(es.ask, lambda _, values: es.tell(np.argsort(values)), objective, target)


def pycmas(mean: np.ndarray, seed: int, objective: Objective, target: float, **options: bool) -> int:
    settings = {"popsize": BATCH, "seed": seed, "verbose": -9, **options}
    es = cma.CMAEvolutionStrategy(mean, 0.5, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on large steps
        return evaluations(es.ask, es.tell, objective, target)


def published(
    es: LoshchilovLMMAES | SalimansES, rows: int, seed: int, objective: Objective, target: float
) -> int:
    rng = np.random.default_rng(seed)
    return evaluations(
        lambda: es.samples(rng.standard_normal((rows, es.n))),
        lambda _, values: es.update(np.argsort(values)),
        objective,
        target,
    )


def reduced(objective: Objective, n: int, factor: float) -> tuple[np.ndarray, float]:
    """Return the mean to start from, and a factor of the objective there."""
    mean = np.full(n, START[objective])
    return mean, factor * float(objective(mean))


def mean_evaluations(counts: Iterable[int]) -> float:
    return float(np.mean(list(counts)))


@pytest.mark.parametrize(
    ("n", "objective", "factor"),
    [
        (10, sphere, 1e-9),
        (10, ellipsoid, 1e-14),
        (10, rosenbrock, 1e-8),
        (20, ellipsoid, 1e-6),
        (100, sphere, 1e-2),
        (100, rosenbrock, 1e-2),
    ],
)
def test_cma_es_takes_at_most_a_fifth_more_than_pycma_without_negative_weights(n, objective, factor):
    seeds = (1, 2)
    mean, target = reduced(objective, n, factor)
    searches = [CMAES(mean, sigma0=0.5, batch_size=BATCH, rng=generator(seed)) for seed in seeds]
    actual = mean_evaluations(ours(es, objective, target) for es in searches)
    theirs = mean_evaluations(pycmas(mean, seed, objective, target, CMA_active=False) for seed in seeds)
    assert actual <= 1.2 * theirs


@pytest.mark.parametrize(
    ("n", "objective", "factor"),
    [
        (10, sphere, 1e-9),
        (10, ellipsoid, 1e-14),
        (10, rosenbrock, 1e-3),
        (100, sphere, 1e-4),
        (100, ellipsoid, 1e-9),
        (100, rosenbrock, 1e-3),
    ],
)
def test_sep_cma_es_takes_at_most_a_fifth_more_than_pycmas_diagonal_mode(n, objective, factor):
    seeds = (1, 2, 3) if n == 10 else (1, 2)
    mean, target = reduced(objective, n, factor)
    searches = [SepCMAES(mean, sigma0=0.5, batch_size=BATCH, rng=generator(seed)) for seed in seeds]
    actual = mean_evaluations(ours(es, objective, target) for es in searches)
    theirs = mean_evaluations(pycmas(mean, seed, objective, target, CMA_diagonal=True) for seed in seeds)
    assert actual <= 1.2 * theirs


@pytest.mark.parametrize(
    ("n", "objective", "factor"),
    [
        (10, sphere, 1e-9),
        (100, sphere, 1e-6),
        (100, ellipsoid, 1e-2),
        (100, rosenbrock, 1e-3),
    ],
)
def test_lm_ma_es_takes_as_many_as_the_published_algorithm(n, objective, factor):
    seeds = range(1, 13) if n == 10 else range(1, 4)
    mean, target = reduced(objective, n, factor)
    searches = [LMMAES(mean, sigma0=0.5, batch_size=BATCH, rng=generator(seed)) for seed in seeds]
    actual = mean_evaluations(ours(es, objective, target) for es in searches)
    theirs = mean_evaluations(
        published(LoshchilovLMMAES(mean, 0.5, BATCH), BATCH, seed, objective, target) for seed in seeds
    )
    assert actual == pytest.approx(theirs, rel=0.2)


@pytest.mark.parametrize(
    ("n", "objective", "factor"),
    [
        (10, sphere, 1e-3),
        (10, ellipsoid, 1e-3),
        (10, rosenbrock, 1e-3),
        (100, sphere, 1e-2),
        (100, ellipsoid, 1e-2),
        (100, rosenbrock, 1e-3),
    ],
)
def test_openai_es_takes_as_many_as_the_published_algorithms(n, objective, factor):
    seeds, adam = (1, 2), AdamRates(l2=0)
    mean, target = reduced(objective, n, factor)
    searches = [
        OpenAIES(mean, sigma0=0.02, batch_size=BATCH, rng=generator(seed), adam=adam) for seed in seeds
    ]
    actual = mean_evaluations(ours(es, objective, target) for es in searches)
    theirs = mean_evaluations(
        published(SalimansES(mean, 0.02, 0.01, 0), BATCH // 2, seed, objective, target) for seed in seeds
    )
    assert actual == pytest.approx(theirs, rel=0.2)
