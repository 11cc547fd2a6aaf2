"""LM-MA-ES: its updates against the published algorithm, and its number of vectors."""

import numpy as np
import pytest
from published import LoshchilovLMMAES
from searching import assert_rounded, ellipsoid, generator, linear, rosenbrock, sphere

from repertoire.strategies.lm_ma_es import LMMAES


def assert_equals_published(es: LMMAES, published: LoshchilovLMMAES) -> None:
    state = es.state()
    expected = {
        "mean": published.y,
        "sigma": published.sigma,
        "path": published.p,
        "vectors": np.array(published.M),
        "products": np.array(published.M) @ np.array(published.M).T,
        "generation": published.t,
    }
    for name, value in expected.items():
        scale = max(1.0, float(np.max(np.abs(value))))
        np.testing.assert_allclose(state[name], value, rtol=1e-10, atol=1e-10 * scale, err_msg=name)


@pytest.mark.parametrize(
    ("n", "batch_size", "vectors", "objective"),
    [
        (10, 12, None, sphere),  # c_sigma would be 2.4: capped
        (10, 40, None, rosenbrock),  # the first two c_c are capped as well
        (10, 13, 4, linear),
        (100, 40, None, ellipsoid),
        (100, 24, 40, rosenbrock),
        (1000, 40, None, ellipsoid),
        (1000, 40, 40, linear),
        (2, 4, None, sphere),
    ],
)
def test_updates_equal_the_published_ones(n, batch_size, vectors, objective):
    es = LMMAES(np.ones(n), sigma0=0.3, batch_size=batch_size, rng=generator(5), vectors=vectors)
    published = LoshchilovLMMAES(np.ones(n), 0.3, batch_size, vectors)
    for generation in range(50):
        solutions = es.ask()
        assert_rounded(solutions, published.samples(es._noise))
        ranking = np.argsort(objective(solutions), kind="stable")
        es.tell(ranking)
        published.update(ranking)
        if generation in (0, 49):
            assert_equals_published(es, published)
