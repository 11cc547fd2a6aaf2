"""CMA-ES: its updates against pycma's, its constants, and the schedule of its decompositions."""

import math

import cma
import numpy as np
import pytest
from search_tools import generator
from searching import assert_rounded, ellipsoid, linear, minimise, rosenbrock, sphere

from repertoire.strategies import cma_es
from repertoire.strategies.cma_es import CMAES, CMAESSettings


def tutorial_rates(n: int, mu_eff: float) -> dict[str, float]:
    """Hansen 2016, eq. 57 and 58, which pycma has a later offset of 1/4 in the second of."""
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    return {"c1": c_1, "cmu": min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))}


def pycma_twin(n: int, batch_size: int, sigma0: float, gap: int) -> cma.CMAEvolutionStrategy:
    """Return pycma with the tutorial's constants where it has others, decomposing every gap generations."""
    options = {
        "popsize": batch_size,
        "CMA_active": False,
        "CMA_diagonal_decoding": 0,
        "CMA_sampler": cma.sampler.GaussFullSampler,
        "CMA_sampler_options": {"lazy_update_gap": gap},
        "CSA_squared": True,
        "verbose": -9,
    }
    es = cma.CMAEvolutionStrategy(np.ones(n), sigma0, options)
    es.sm.C, es.sm.D, es.sm.B = np.eye(n), np.ones(n), np.eye(n)  # pycma starts near the identity
    mu_eff = es.sp.weights.mueff
    es.sm.parameters(mueff=mu_eff, lam=batch_size).update(tutorial_rates(n, mu_eff))
    es.adapt_sigma.cs = (mu_eff + 2) / (n + mu_eff + 5)
    es.adapt_sigma.damps = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + es.adapt_sigma.cs
    return es


def assert_equals_twin(es: CMAES, twin: cma.CMAEvolutionStrategy) -> None:
    state = es.state()
    for name, expected in (("mean", twin.mean), ("sigma", twin.sigma), ("path_c", twin.pc)):
        np.testing.assert_allclose(state[name], expected, rtol=1e-10, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(state["path_sigma"], twin.adapt_sigma.ps, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(es.covariance, twin.sm.C, rtol=1e-10, atol=1e-10 * np.diag(twin.sm.C).max())


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
def test_updates_equal_pycmas(n, batch_size, objective, gap, monkeypatch):
    # pycma would otherwise move part of a diverging step size into the covariance matrix
    monkeypatch.setattr(cma.evolution_strategy, "_redistribute_sigma_above", math.inf)
    monkeypatch.setattr(cma.evolution_strategy, "_record_hsig", True)
    es = CMAESSettings(sigma0=0.3, batch_size=batch_size).make(np.ones(n), generator(5))
    twin = pycma_twin(n, batch_size, 0.3, gap)
    for generation in range(50):
        twin.ask()  # pycma decomposes when it is asked; what it samples is not used
        state = es.state()
        np.testing.assert_allclose(state["deviations"], twin.sm.D, rtol=1e-10, atol=1e-10 * twin.sm.D[-1])
        solutions = es.ask()
        steps = (es._noise * state["deviations"]) @ state["basis"].T
        x = twin.mean + twin.sigma * steps  # the float64 samples
        assert_rounded(solutions, x)
        values = objective(solutions)
        es.tell(np.argsort(values))
        twin.tell(list(x), list(values), check_points=False)
        if generation in (0, 49):
            assert_equals_twin(es, twin)
    # a linear objective lengthens the path, so that this also covers the stalled rank-one update
    assert twin.hsiglist or objective is not linear


@pytest.mark.parametrize(("n", "batch_size"), [(10, 12), (10, 40), (100, 40), (1000, 40)])
def test_constants_are_pycmas_where_it_has_them(n, batch_size):
    es = cma.CMAEvolutionStrategy(np.zeros(n), 1, {"popsize": batch_size, "CMA_active": False, "verbose": -9})
    ours = cma_es._constants(n, batch_size)
    np.testing.assert_allclose(ours.weights, es.sp.weights.positive_weights, rtol=1e-13)
    np.testing.assert_allclose(
        (ours.mu_eff, ours.c_1, ours.c_c), (es.sp.weights.mueff, es.sp.c1, es.sp.cc), rtol=1e-13
    )
    # pycma's later offset of 1/4 in the numerator is the one difference
    ratio = (ours.mu_eff + 1 / ours.mu_eff - 2) / (ours.mu_eff + 1 / ours.mu_eff - 2 + 0.25)
    assert ours.c_mu == pytest.approx(es.sp.cmu * ratio, rel=1e-13)


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
    minimise(es, ellipsoid, 60)
    state = es.state()
    basis, deviations = state["basis"], state["deviations"]
    np.testing.assert_allclose(basis.T @ basis, np.eye(10), atol=1e-12)
    np.testing.assert_allclose((basis * deviations**2) @ basis.T, es.covariance, rtol=1e-10, atol=1e-12)
    assert (np.diff(deviations) > 0).all()
    assert es.condition_number == pytest.approx(np.linalg.cond(es.covariance), rel=1e-6)
