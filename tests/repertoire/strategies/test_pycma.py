"""CMA-ES and its separable variant: their updates and constants against pycma's, and the decompositions."""

import math
from collections.abc import Callable

import cma
import numpy as np
import pytest
from search_tools import generator
from searching import Objective, assert_rounded, covariance, ellipsoid, linear, minimise, rosenbrock, sphere

from repertoire.strategies.cma_es import CMAES, CMAESSettings, full_rates, make_constants
from repertoire.strategies.sep_cma_es import SepCMAESSettings, separable_rates
from repertoire.strategies.strategy import Strategy


@pytest.fixture
def plain_pycma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pycma would otherwise move part of a diverging step size into the covariance matrix."""
    monkeypatch.setattr(cma.evolution_strategy, "_redistribute_sigma_above", math.inf)
    monkeypatch.setattr(cma.evolution_strategy, "_record_hsig", True)


def pycma(n: int, batch_size: int, **options: object) -> cma.CMAEvolutionStrategy:
    """Return pycma with a sampler, and with the tutorial's step size adaptation."""
    options |= {"popsize": batch_size, "CMA_active": False, "CMA_diagonal_decoding": 0, "CSA_squared": True}
    es = cma.CMAEvolutionStrategy(np.ones(n), 0.3, {**options, "verbose": -9})
    mu_eff = es.sp.weights.mueff
    es.adapt_sigma.cs = (mu_eff + 2) / (n + mu_eff + 5)
    es.adapt_sigma.damps = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + es.adapt_sigma.cs
    return es


def full_twin(n: int, batch_size: int, gap: int) -> cma.CMAEvolutionStrategy:
    """Return pycma with the tutorial's constants where it has others, decomposing every gap generations."""
    es = pycma(
        n,
        batch_size,
        CMA_sampler=cma.sampler.GaussFullSampler,
        CMA_sampler_options={"lazy_update_gap": gap},
    )
    es.sm.C, es.sm.D, es.sm.B = np.eye(n), np.ones(n), np.eye(n)  # pycma starts near the identity
    mu_eff = es.sp.weights.mueff
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)  # Hansen 2016, eq. 57
    c_mu = 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff)  # eq. 58: pycma adds 1/4 to mu_eff
    es.sm.parameters(mueff=mu_eff, lam=batch_size).update(c1=c_1, cmu=min(1 - c_1, c_mu))
    return es


def separable_twin(n: int, batch_size: int) -> cma.CMAEvolutionStrategy:
    """Return pycma with its diagonal covariance sampler and separable learning rates, set to ours.

    Its own diagonal mode multiplies the variances by exponentials instead of adding to them, so it cannot be
    the reference. The sampler does add, and takes learning rates; the constants come from pycma where it has
    the same ones, and from the tutorial otherwise.
    """
    es = pycma(n, batch_size, CMA_sampler=cma.sampler.GaussDiagonalSampler)
    mu_eff = es.sp.weights.mueff
    es.sp.cc = es.sp.cc_sep
    c_mu = (mu_eff + 1 / mu_eff - 2) / (n + 4 * math.sqrt(n) + mu_eff / 2)
    rates = es.sm.parameters(mueff=mu_eff, lam=batch_size)
    rates.update(c1=es.sp.c1_sep, cmu=min(c_mu, 1 - es.sp.c1_sep))
    return es


def assert_equals_twin(es: Strategy, twin: cma.CMAEvolutionStrategy, covariance: np.ndarray) -> None:
    state = es.state()
    expected = {"mean": twin.mean, "sigma": twin.sigma, "path_c": twin.pc, "path_sigma": twin.adapt_sigma.ps}
    for name, value in expected.items():
        np.testing.assert_allclose(state[name], value, rtol=1e-10, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(covariance, twin.sm.C, rtol=1e-10, atol=1e-10 * np.max(twin.sm.C))


def advance(
    es: Strategy,
    twin: cma.CMAEvolutionStrategy,
    steps: Callable[[np.ndarray], np.ndarray],
    objective: Objective,
) -> None:
    """Run a generation of both on the float64 samples of ours, mean + sigma * steps."""
    solutions = es.ask()
    x = twin.mean + twin.sigma * steps(es._noise)
    assert_rounded(solutions, x)
    values = objective(solutions)
    es.tell(np.argsort(values))
    twin.tell(list(x), list(values), check_points=False)


@pytest.mark.parametrize(
    ("n", "batch_size", "objective", "gap"),
    [
        (10, 12, rosenbrock, 2),
        (10, 40, linear, 1),
        (20, 13, ellipsoid, 2),
        (20, 40, sphere, 1),
        (100, 40, ellipsoid, 3),
    ],
)
def test_updates_of_cma_es(n, batch_size, objective, gap, plain_pycma):
    es = CMAESSettings(sigma0=0.3, batch_size=batch_size).make(np.ones(n), generator(5))
    twin = full_twin(n, batch_size, gap)
    for generation in range(50):
        twin.ask()  # pycma decomposes when it is asked; what it samples is not used
        state = es.state()
        np.testing.assert_allclose(state["deviations"], twin.sm.D, rtol=1e-10, atol=1e-10 * twin.sm.D[-1])
        advance(es, twin, lambda z, s=state: (z * s["deviations"]) @ s["basis"].T, objective)
        if generation in (0, 49):
            assert_equals_twin(es, twin, covariance(es))
    # a linear objective lengthens the path, so that this also covers the stalled rank-one update
    assert twin.hsiglist or objective is not linear


@pytest.mark.parametrize(
    ("n", "batch_size", "objective"),
    [
        (10, 12, rosenbrock),
        (20, 40, ellipsoid),
        (100, 40, ellipsoid),
        (30, 13, sphere),
        (20, 40, linear),
        (2, 40, linear),
    ],
)
def test_updates_of_separable_cma_es(n, batch_size, objective, plain_pycma):
    es = SepCMAESSettings(sigma0=0.3, batch_size=batch_size).make(np.ones(n), generator(5))
    twin = separable_twin(n, batch_size)
    for generation in range(50):
        twin.ask()  # pycma wants to be asked; what it samples is not used
        advance(es, twin, lambda z: np.sqrt(twin.sm.C) * z, objective)
        if generation in (0, 49):
            assert_equals_twin(es, twin, es.state()["variances"])
    assert twin.hsiglist or objective is not linear


@pytest.mark.parametrize(("n", "batch_size"), [(10, 12), (10, 40), (100, 40), (1000, 40), (21256, 40)])
def test_constants_are_pycmas_where_it_has_them(n, batch_size):
    options = {"popsize": batch_size, "CMA_active": False, "verbose": -9}
    theirs = cma.CMAEvolutionStrategy(np.zeros(n), 1, {**options, "CMA_diagonal": n > 1000}).sp
    for rates, c_1, c_c, c_mu in (
        (full_rates, theirs.c1, theirs.cc, theirs.cmu),
        (separable_rates, theirs.c1_sep, theirs.cc_sep, theirs.cmu_sep),
    ):
        ours = make_constants(n, batch_size, "textbook", rates)
        mu_eff = theirs.weights.mueff
        np.testing.assert_allclose(ours.weights, theirs.weights.positive_weights, rtol=1e-13)
        np.testing.assert_allclose((ours.mu_eff, ours.c_1, ours.c_c), (mu_eff, c_1, c_c), rtol=1e-13)
        # pycma's later offset of 1/4 in the numerator is the one difference
        ratio = (mu_eff + 1 / mu_eff - 2) / (mu_eff + 1 / mu_eff - 2 + 0.25)
        assert ours.c_mu == pytest.approx(c_mu * ratio, rel=1e-13)


@pytest.mark.parametrize(
    ("n", "batch_size", "decomposed"),
    [(10, 40, [1, 2, 3, 4, 5, 6, 7]), (10, 12, [0, 2, 2, 4, 4, 6, 6]), (100, 40, [0, 0, 3, 3, 3, 6, 6])],
)
def test_decompositions_wait_for_half_of_the_published_number_of_evaluations(n, batch_size, decomposed):
    es = CMAESSettings(sigma0=0.3, batch_size=batch_size).make(np.ones(n), generator(1))
    generations = []
    for _ in range(7):
        minimise(es, sphere, 1)
        generations.append(int(es.state()["decomposed"]))
    assert generations == decomposed


def test_the_decomposition_is_one_of_the_covariance_matrix():
    es = CMAESSettings(sigma0=0.3, batch_size=40).make(np.ones(10), generator(1))
    assert isinstance(es, CMAES)
    minimise(es, ellipsoid, 60)
    state = es.state()
    basis, deviations = state["basis"], state["deviations"]
    np.testing.assert_allclose(basis.T @ basis, np.eye(10), atol=1e-12)
    np.testing.assert_allclose((basis * deviations**2) @ basis.T, covariance(es), rtol=1e-10, atol=1e-12)
    assert (np.diff(deviations) > 0).all()
    assert es.condition_number == pytest.approx(np.linalg.cond(covariance(es)), rel=1e-6)
