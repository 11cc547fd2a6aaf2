"""Separable CMA-ES: its updates against pycma's machinery, and its constants."""

import math

import cma
import numpy as np
import pytest
from search_tools import generator
from searching import assert_rounded, ellipsoid, linear, rosenbrock, sphere

from repertoire.strategies import sep_cma_es
from repertoire.strategies.sep_cma_es import SepCMAES, SepCMAESSettings


def pycma_twin(n: int, batch_size: int, sigma0: float) -> cma.CMAEvolutionStrategy:
    """Return pycma with its diagonal covariance sampler and separable learning rates, set to ours.

    Its own diagonal mode multiplies the variances by exponentials instead of adding to them, so it cannot be
    the reference. The sampler does add, and takes learning rates; the constants come from pycma where it has
    the same ones, and from the tutorial otherwise.
    """
    options = {
        "popsize": batch_size,
        "CMA_active": False,
        "CMA_diagonal_decoding": 0,
        "CMA_sampler": cma.sampler.GaussDiagonalSampler,
        "CSA_squared": True,
        "verbose": -9,
    }
    es = cma.CMAEvolutionStrategy(np.ones(n), sigma0, options)
    mu_eff = es.sp.weights.mueff
    es.sp.cc = es.sp.cc_sep
    c_mu = (mu_eff + 1 / mu_eff - 2) / (n + 4 * math.sqrt(n) + mu_eff / 2)
    rates = es.sm.parameters(mueff=mu_eff, lam=batch_size)
    rates.update(c1=es.sp.c1_sep, cmu=min(c_mu, 1 - es.sp.c1_sep))
    es.adapt_sigma.cs = (mu_eff + 2) / (n + mu_eff + 5)
    es.adapt_sigma.damps = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + es.adapt_sigma.cs
    return es


def assert_equals_twin(es: SepCMAES, twin: cma.CMAEvolutionStrategy) -> None:
    state = es.state()
    for name, expected in (("mean", twin.mean), ("variances", twin.sm.C), ("sigma", twin.sigma)):
        np.testing.assert_allclose(state[name], expected, rtol=1e-10, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(state["path_sigma"], twin.adapt_sigma.ps, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(state["path_c"], twin.pc, rtol=1e-10, atol=1e-10)


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
def test_updates_equal_pycmas(n, batch_size, objective, monkeypatch):
    # pycma would otherwise move part of a diverging step size into the variances
    monkeypatch.setattr(cma.evolution_strategy, "_redistribute_sigma_above", math.inf)
    monkeypatch.setattr(cma.evolution_strategy, "_record_hsig", True)
    es = SepCMAESSettings(sigma0=0.3, batch_size=batch_size).make(np.ones(n), generator(5))
    twin = pycma_twin(n, batch_size, 0.3)
    for generation in range(50):
        solutions = es.ask()
        x = twin.mean + twin.sigma * np.sqrt(twin.sm.C) * es._noise  # the float64 samples
        assert_rounded(solutions, x)
        values = objective(solutions)
        es.tell(np.argsort(values))
        twin.ask()  # pycma wants to be asked; what it samples is not used
        twin.tell(list(x), list(values), check_points=False)
        if generation in (0, 49):
            assert_equals_twin(es, twin)
    # a linear objective lengthens the path, so that this also covers the stalled rank-one update
    assert twin.hsiglist or objective is not linear


@pytest.mark.parametrize("n", [10, 100, 21256])
def test_constants_are_pycmas_where_it_has_them(n):
    es = cma.CMAEvolutionStrategy(np.zeros(n), 1, {"popsize": 40, "CMA_diagonal": True, "verbose": -9})
    ours = sep_cma_es._constants(n, 40)
    np.testing.assert_allclose(ours.weights, es.sp.weights.positive_weights, rtol=1e-13)
    np.testing.assert_allclose(
        (ours.mu_eff, ours.c_1, ours.c_c), (es.sp.weights.mueff, es.sp.c1_sep, es.sp.cc_sep), rtol=1e-13
    )
    # pycma's later offset of 1/4 in the numerator is the one difference
    ratio = (ours.mu_eff + 1 / ours.mu_eff - 2) / (ours.mu_eff + 1 / ours.mu_eff - 2 + 0.25)
    assert ours.c_mu == pytest.approx(es.sp.cmu_sep * ratio, rel=1e-13)


def test_constants_for_a_network_controller():
    constants = sep_cma_es._constants(21256, 40)
    assert constants.mu_eff == pytest.approx(11.309, abs=5e-4)
    assert constants.c_sigma == pytest.approx(6.26e-4, rel=1e-3)
    assert constants.damping == pytest.approx(1 + 6.26e-4, rel=1e-6)
    assert constants.c_c == pytest.approx(6.86e-3, rel=1e-3)
    assert constants.c_1 == pytest.approx(4.64e-5, rel=1e-3)
    assert constants.c_mu == pytest.approx(4.30e-4, rel=1e-3)
