"""OpenAI-ES: its updates against the published algorithms."""

import numpy as np
import pytest
from published import SalimansES
from searching import assert_rounded, ellipsoid, generator, linear, rosenbrock, sphere

from repertoire.strategies.openai_es import AdamRates, OpenAIES


def assert_equals_published(es: OpenAIES, published: SalimansES) -> None:
    state = es.state()
    expected = {
        "mean": published.theta,
        "first_moment": published.m,
        "second_moment": published.v,
        "generation": published.t,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(state[name], value, rtol=1e-10, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(
    ("n", "batch_size", "adam", "objective"),
    [
        (10, 12, AdamRates(), sphere),
        (10, 2, AdamRates(), linear),
        (10, 40, AdamRates(learning_rate=0.1, l2=0.5), rosenbrock),
        (100, 40, AdamRates(l2=0), ellipsoid),
        (1000, 40, AdamRates(), ellipsoid),
        (1000, 14, AdamRates(learning_rate=0.001), linear),
    ],
)
def test_updates_equal_the_published_ones(n, batch_size, adam, objective):
    es = OpenAIES(np.ones(n), sigma0=0.02, batch_size=batch_size, rng=generator(5), adam=adam)
    published = SalimansES(np.ones(n), 0.02, adam.learning_rate, adam.l2)
    for generation in range(50):
        solutions = es.ask()
        assert_rounded(solutions, published.samples(es._noise))
        ranking = np.argsort(objective(solutions), kind="stable")
        es.tell(ranking)
        published.update(ranking)
        if generation in (0, 49):
            assert_equals_published(es, published)
