"""The updates against the published algorithms, and those of CMA-ES against published code."""

import cma
import numpy as np
import pytest
from published import CodedCMAES, LoshchilovLMMAES, SalimansES, samples_of
from search_tools import generator
from searching import Objective, assert_rounded, covariance, ellipsoid, linear, minimise, rosenbrock, sphere

from repertoire.strategies.cma_es import CMAESSettings, full_rates, make_constants
from repertoire.strategies.lm_ma_es import LMMAESSettings
from repertoire.strategies.openai_es import AdamRates, OpenAIES, OpenAIESSettings
from repertoire.strategies.sep_cma_es import SepCMAESSettings, separable_rates
from repertoire.strategies.strategy import Strategy


def advance(es: Strategy, published: LoshchilovLMMAES | SalimansES, objective: Objective) -> None:
    """Run a generation of both, with the same noise and ranking."""
    solutions = es.ask()
    assert_rounded(solutions, published.samples(es._noise))
    ranking = np.argsort(objective(solutions), kind="stable")
    es.tell(ranking)
    published.update(ranking)


def assert_state(es: Strategy, atol: float, **expected: object) -> None:
    state = es.state()
    for name, value in expected.items():
        scale = max(1.0, float(np.max(np.abs(value)))) if atol > 1e-12 else 1.0
        np.testing.assert_allclose(state[name], value, rtol=1e-10, atol=atol * scale, err_msg=name)


@pytest.mark.parametrize(
    ("n", "batch_size", "vectors", "objective"),
    [
        (10, 12, 10, sphere),  # c_sigma would be 2.4: capped
        (10, 40, 10, rosenbrock),  # the first two c_c are capped as well
        (10, 13, 4, linear),
        (100, 40, 17, ellipsoid),
        (1000, 40, 24, ellipsoid),
        (2, 4, 6, sphere),
    ],
)
def test_lm_ma_es(n, batch_size, vectors, objective):
    settings = LMMAESSettings(sigma0=0.3, batch_size=batch_size, vectors=vectors)
    es = settings.make(np.ones(n), generator(5))
    published = LoshchilovLMMAES(np.ones(n), 0.3, batch_size, vectors)
    for generation in range(50):
        advance(es, published, objective)
        if generation in (0, 49):
            vectors = np.array(published.M)
            assert_state(es, 1e-10, mean=published.y, sigma=published.sigma, path=published.p)
            assert_state(es, 1e-10, vectors=vectors, products=vectors @ vectors.T, generation=published.t)


@pytest.mark.parametrize(
    ("n", "batch_size", "adam", "objective"),
    [
        (10, 12, AdamRates(), sphere),
        (10, 2, AdamRates(), linear),
        (10, 40, AdamRates(learning_rate=0.1, l2=0.5), rosenbrock),
        (100, 40, AdamRates(l2=0), ellipsoid),
        (1000, 14, AdamRates(learning_rate=0.001), linear),
    ],
)
def test_openai_es(n, batch_size, adam, objective):
    settings = OpenAIESSettings(sigma0=0.02, batch_size=batch_size)
    es = OpenAIES(settings, np.ones(n), generator(5), adam=adam)
    published = SalimansES(np.ones(n), 0.02, adam.learning_rate, adam.l2)
    for generation in range(50):
        advance(es, published, objective)
        if generation in (0, 49):
            moments = {"first_moment": published.m, "second_moment": published.v}
            assert_state(es, 1e-13, mean=published.theta, generation=published.t, **moments)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("sigma", [0.02, 10.0])  # with the larger step, the published rank-one term counts
@pytest.mark.parametrize(
    ("n", "batch_size", "objective"), [(10, 12, rosenbrock), (40, 40, ellipsoid), (6, 40, linear)]
)
@pytest.mark.parametrize("record", [CMAESSettings, SepCMAESSettings])
def test_cma_es_with_either_rank_one_update_and_any_number_of_parents(
    record, n, batch_size, objective, sigma, published
):
    rank_one = "published" if published else "textbook"
    es = record(sigma0=sigma, batch_size=batch_size, rank_one=rank_one).make(np.ones(n), generator(5))
    coded = CodedCMAES(np.ones(n), sigma, separable=record is SepCMAESSettings, published=published)
    for generation in range(40):
        state, solutions = es.state(), es.ask()
        x, whitening = samples_of(es, state)
        assert_rounded(solutions, x)
        ranking = np.argsort(objective(solutions), kind="stable")
        parents = None if generation % 3 == 0 else 1 + (7 * generation) % batch_size
        es.tell(ranking, parents=parents)
        coded.update(x[ranking[: parents or batch_size // 2]], whitening)
    expected = {"mean": coded.m, "sigma": coded.sigma, "path_c": coded.p_c, "path_sigma": coded.p_s}
    assert_state(es, 1e-9, **expected)
    actual = np.diag(es.state()["variances"]) if coded.separable else covariance(es)
    np.testing.assert_allclose(actual, coded.C, rtol=1e-9, atol=1e-9 * coded.C.max())


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


def test_the_decomposition_is_one_of_the_covariance_matrix():
    es = CMAESSettings(sigma0=0.3, batch_size=40).make(np.ones(10), generator(1))
    minimise(es, ellipsoid, 60)
    state = es.state()
    basis, deviations = state["basis"], state["deviations"]
    np.testing.assert_allclose(basis.T @ basis, np.eye(10), atol=1e-12)
    np.testing.assert_allclose((basis * deviations**2) @ basis.T, covariance(es), rtol=1e-10, atol=1e-12)
    assert (np.diff(deviations) > 0).all()
    assert es.condition_number == pytest.approx(np.linalg.cond(covariance(es)), rel=1e-6)
