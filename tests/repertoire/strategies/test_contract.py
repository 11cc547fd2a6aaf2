"""The contract of every strategy: the laws it obeys, what it refuses, when it stops, and how it resumes."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from search_tools import assert_same_state, generator
from searching import ellipsoid, linear, minimise, sphere

from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import STRATEGIES
from robots.errors import InvalidValueError

Make = Callable[..., Strategy]
ADAPTIVE = ("cma-es", "sep-cma-es", "lm-ma-es")


def construct(name, n=10, *, mean=1.0, sigma0=0.5, batch_size=12, seed=1, **settings):
    record = STRATEGIES[name](sigma0=sigma0, batch_size=batch_size, **settings)
    return record.make(np.full(n, mean), generator(seed))


@pytest.fixture(params=STRATEGIES)
def make(request: pytest.FixtureRequest) -> Make:
    """Constructs a strategy, of each kind in the table in turn."""
    return partial(construct, request.param)


def apart_from_randomness(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: v for name, v in state.items() if name != "generator" and not name.startswith("noise/")}


def test_a_restored_strategy_goes_on_as_the_original(make):
    original, restored = make(seed=1), make(seed=2)
    minimise(original, ellipsoid, 7)
    state = original.state()
    assert all(isinstance(value, np.ndarray) and value.dtype.kind in "fiu" for value in state.values())
    saved = {name: np.array(value, order="C") for name, value in state.items()}
    minimise(restored, ellipsoid, 3)
    restored.ask()
    restored.restore(saved)
    assert_same_state(restored.state(), saved)
    for es in (original, restored):
        minimise(es, ellipsoid, 7)
    assert_same_state(restored.state(), original.state())
    assert restored.rng.random() == original.rng.random()
    np.testing.assert_array_equal(restored.ask(), original.ask())
    assert_same_state(state, saved)  # what was saved does not move on


def test_a_restart_is_a_fresh_start_elsewhere(make):
    es, fresh = make(seed=1), make(mean=3.0)
    minimise(es, sphere, 10)
    es.ask()
    es.restart(np.full(10, 3.0, np.float32))
    state = es.state()
    assert_same_state(apart_from_randomness(state), apart_from_randomness(fresh.state()))
    assert state["noise/draws"] == 11  # noise is not drawn twice
    assert (es.initial == 1).all()
    fresh.restore({**fresh.state(), **{name: state[name] for name in state if name.startswith("noise/")}})
    for search in (es, fresh):
        minimise(search, ellipsoid, 10)
    assert_same_state(es.state(), fresh.state())


@pytest.mark.parametrize(
    "ranking",
    [np.arange(11), np.zeros(12, int), np.arange(12).reshape(3, 4), np.arange(1, 13), np.arange(-1, 11)],
)
def test_a_ranking_must_be_a_permutation(make, ranking):
    es, other = make(), make()
    es.ask()
    with pytest.raises(InvalidValueError, match="ranking must be a permutation of 0 to 11"):
        es.tell(ranking)
    es.tell(np.arange(12))  # a refused ranking neither uses up the turn nor leaves a trace
    other.ask()
    other.tell(np.arange(12))
    assert_same_state(es.state(), other.state())


REASONS = [
    *((name, {"n": 5}, sphere, "step size too small") for name in ADAPTIVE),
    *((name, {"n": 5}, linear, "step size too large") for name in ADAPTIVE),
    ("lm-ma-es", {"n": 2, "batch_size": 10_000}, linear, "step size too large"),  # in a single step
    *(
        (name, {"n": 5}, partial(ellipsoid, condition=1e18), "condition number too large")
        for name in ("cma-es", "sep-cma-es")
    ),
    ("openai-es", {"mean": 1e8, "sigma0": 1e3}, sphere, "step too small"),
]


@pytest.mark.parametrize(("name", "arguments", "objective", "expected"), REASONS)
def test_each_reason_to_stop(name, arguments, objective, expected):
    es = construct(name, **arguments)
    different = np.arange(12.0, 0, -1)
    reason = None
    for _ in range(3000):
        minimise(es, objective, 1)
        if reason := es.converged(different):
            break
    assert reason == expected
    assert math.isfinite(es.sigma)
