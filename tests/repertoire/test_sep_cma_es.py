"""Separable CMA-ES: pinned to pycma's machinery, compared with its diagonal mode, and the laws it obeys."""

import math
import warnings

import cma
import numpy as np
import pytest

from repertoire.strategies import SepCMAES, sep_cma_es
from robots.errors import InvalidValueError


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def strategy(n: int = 10, *, batch_size: int = 12, sigma0: float = 0.5, seed: int = 1, mean=1.0) -> SepCMAES:
    return SepCMAES(np.full(n, mean), sigma0=sigma0, batch_size=batch_size, rng=generator(seed))


def sphere(x: np.ndarray) -> np.ndarray:
    return np.sum(np.square(x, dtype=np.float64), axis=-1)


def ellipsoid(x: np.ndarray, condition: float = 1e6) -> np.ndarray:
    n = np.shape(x)[-1]
    return np.square(x, dtype=np.float64) @ condition ** (np.arange(n) / (n - 1))


def linear(x: np.ndarray) -> np.ndarray:
    return np.sum(x, axis=-1, dtype=np.float64)


def minimise(es: SepCMAES, objective, generations: int) -> None:
    for _ in range(generations):
        es.tell(np.argsort(objective(es.ask()), kind="stable"))


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
    [(20, 40, ellipsoid), (100, 40, ellipsoid), (30, 13, sphere), (20, 40, linear)],
)
def test_updates_equal_pycmas(n, batch_size, objective, monkeypatch):
    # pycma would otherwise move part of a diverging step size into the variances
    monkeypatch.setattr(cma.evolution_strategy, "_redistribute_sigma_above", math.inf)
    monkeypatch.setattr(cma.evolution_strategy, "_record_hsig", True)
    es, noise = strategy(n, batch_size=batch_size, sigma0=0.3, seed=5), generator(5)
    twin = pycma_twin(n, batch_size, 0.3)
    for generation in range(50):
        z = noise.standard_normal((batch_size, n), dtype=np.float32)
        x = twin.mean + twin.sigma * np.sqrt(twin.sm.C) * z  # the float64 samples
        solutions = es.ask()
        np.testing.assert_allclose(solutions, x, rtol=1e-6, atol=1e-7)
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
    assert constants.c_c == pytest.approx(6.86e-3, rel=1e-3)
    assert constants.c_1 == pytest.approx(4.64e-5, rel=1e-3)
    assert constants.c_mu == pytest.approx(4.30e-4, rel=1e-3)


def evaluations(ask, tell, objective, target: float = 1e-8) -> int:
    count = 0
    while count < 60_000:
        x = ask()
        values = objective(x)
        count += len(values)
        if values.min() < target:
            break
        tell(x, values)
    return count


def pycma_evaluations(n: int, seed: int, objective) -> int:
    options = {"popsize": 40, "CMA_diagonal": True, "seed": seed, "verbose": -9}
    es = cma.CMAEvolutionStrategy(np.ones(n), 0.5, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on large steps
        return evaluations(es.ask, es.tell, objective)


@pytest.mark.parametrize("objective", [sphere, ellipsoid])
@pytest.mark.parametrize(("n", "seeds"), [(10, (1, 2, 3)), (100, (1,))])
def test_convergence_takes_at_most_a_fifth_more_than_pycmas_diagonal_mode(n, seeds, objective):
    ours = []
    for seed in seeds:
        es = strategy(n, batch_size=40, seed=seed)
        ours.append(evaluations(es.ask, lambda x, values, es=es: es.tell(np.argsort(values)), objective))
    theirs = [pycma_evaluations(n, seed, objective) for seed in seeds]
    assert np.mean(ours) <= 1.2 * np.mean(theirs)


def test_the_search_is_invariant_under_increasing_transformations():
    plain, transformed = strategy(), strategy()
    minimise(plain, sphere, 40)
    minimise(transformed, lambda x: np.log(sphere(x)) ** 3, 40)
    assert_same_state(transformed.state(), plain.state())


def test_the_search_is_invariant_under_translation():
    here, there = strategy(mean=1.0), strategy(mean=4.0)
    minimise(here, ellipsoid, 30)
    minimise(there, lambda x: ellipsoid(np.float64(x) - 3), 30)
    np.testing.assert_allclose(there.mean - 3, here.mean, atol=1e-12)
    np.testing.assert_allclose(there.variances, here.variances, rtol=1e-12)


def assert_same_state(actual, expected) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


def test_equal_seeds_give_equal_searches_and_others_do_not():
    first, second, other = strategy(seed=1), strategy(seed=1), strategy(seed=2)
    for es in (first, second, other):
        minimise(es, sphere, 5)
    assert_same_state(second.state(), first.state())
    assert (other.mean != first.mean).all()


def test_a_restored_strategy_goes_on_as_the_original():
    original, restored = strategy(seed=1), strategy(seed=2)
    minimise(original, ellipsoid, 7)
    state = original.state()
    assert all(isinstance(value, np.ndarray) and value.dtype.kind in "fiu" for value in state.values())
    saved = {name: value.copy() for name, value in state.items()}
    minimise(restored, ellipsoid, 3)
    restored.restore(state)
    minimise(original, ellipsoid, 7)
    minimise(restored, ellipsoid, 7)
    assert_same_state(restored.state(), original.state())
    assert_same_state(state, saved)  # what was saved does not move on


def test_a_state_that_does_not_fit_is_refused():
    es = strategy(10)
    with pytest.raises(InvalidValueError, match=r"mean must have shape \(10,\), got \(9,\)"):
        es.restore(strategy(9).state())
    with pytest.raises(InvalidValueError, match="lacks sigma"):
        es.restore({name: value for name, value in es.state().items() if name != "sigma"})


def test_a_restart_is_a_fresh_start_elsewhere():
    es = strategy(seed=1)
    minimise(es, sphere, 10)
    es.ask()
    es.restart(np.full(10, 3.0, np.float32))
    state, fresh = es.state(), strategy(mean=3.0).state()
    assert_same_state({**state, "generator": None}, {**fresh, "generator": None})
    assert (state["generator"] != fresh["generator"]).any()
    assert (es.initial == 1).all()


def test_solutions_are_float32_and_the_callers_own():
    es = strategy()
    first = es.ask()
    assert first.dtype == np.float32
    kept = first.copy()
    es.tell(np.arange(12))
    es.ask()
    np.testing.assert_array_equal(first, kept)


def test_misuse_of_the_order_raises():
    es = strategy()
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        es.tell(np.arange(12))
    es.ask()
    with pytest.raises(RuntimeError, match="ask was called twice"):
        es.ask()
    with pytest.raises(RuntimeError, match="between ask and tell"):
        es.state()


@pytest.mark.parametrize(
    "ranking", [np.arange(11), np.zeros(12, int), np.arange(12).reshape(3, 4), np.arange(1, 13)]
)
def test_a_ranking_must_be_a_permutation(ranking):
    es = strategy()
    es.ask()
    with pytest.raises(InvalidValueError, match="ranking must be a permutation of 0 to 11"):
        es.tell(ranking)
    es.tell(np.arange(12))  # a refused ranking does not use up the turn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma0": 0.0}, "sigma0 must be positive and finite, got 0.0"),
        ({"sigma0": math.inf}, "sigma0 must be positive and finite, got inf"),
        ({"batch_size": 1}, "batch_size must be at least 2, got 1"),
        ({"mean": math.nan}, "mean must be finite"),
        ({"n": 0}, "mean must have at least 1 parameter"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        strategy(**arguments)


def test_only_a_generator_whose_state_is_known_is_accepted():
    with pytest.raises(InvalidValueError, match="rng must be driven by SFC64, got PCG64"):
        SepCMAES(np.zeros(3), sigma0=1, batch_size=4, rng=np.random.default_rng())


def reason_to_stop(objective, *, n: int = 5, generations: int = 2000) -> str | None:
    es = strategy(n)
    different = np.arange(12.0, 0, -1)
    for _ in range(generations):
        minimise(es, objective, 1)
        if reason := es.converged(different):
            return reason
    return None


def test_each_reason_to_stop():
    es = strategy()
    minimise(es, sphere, 1)
    assert es.converged(np.linspace(2e-12, 0, 12)) is None
    assert es.converged(np.linspace(1 + 5e-13, 1, 12)) == "flat values"
    assert reason_to_stop(sphere) == "step size too small"
    assert reason_to_stop(lambda x: ellipsoid(x, 1e18)) == "condition number too large"


def test_the_compiled_kernels_equal_their_python(monkeypatch):
    compiled, interpreted = strategy(seed=3), strategy(seed=3)
    minimise(compiled, linear, 5)
    for name in ("_scale", "_recombine", "_adapt", "_advance_path_sigma", "_advance_covariance"):
        kernel = getattr(sep_cma_es, name)
        monkeypatch.setattr(sep_cma_es, name, getattr(kernel, "py_func", kernel))
    minimise(interpreted, linear, 5)
    expected = compiled.state()
    for name, value in interpreted.state().items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-14, err_msg=name)
