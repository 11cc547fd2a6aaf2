"""Replays: their noise, and that luck is the same for all selectors."""

import numpy as np
import pytest

from adapt.selectors.catalogue import make_selector
from adapt.selectors.selector import Context, Prior
from robots.errors import InvalidValueError
from suites.recovery.replay import Noise, Truth, replay

K = 400


@pytest.fixture
def truth():
    rng = np.random.default_rng(0)
    return Truth(
        rng.uniform(1, 2, K),
        np.linspace(0, 0.3, K),
        np.full(K, 0.25),
        rng.random((K, 3)),
        np.full((K, 3), 0.1),
    )


@pytest.fixture
def make():
    prior = Prior(np.ones(K), np.random.default_rng(1).random((K, 2)), 0.0)
    return lambda name, seed=0: lambda: make_selector(name, Context(prior, trials=K, seed=seed))


def test_noise_is_a_share_an_offset_and_that_of_the_episode(truth, make):
    noise = Noise(share=0.1, offset=0.05)
    went = [replay(make("random"), truth, seed=seed, trials=300, noise=noise) for seed in range(20)]
    values = np.concatenate([r.objectives for r in went])
    rows = np.concatenate([r.rows for r in went])
    true, std = truth.objectives[rows], truth.objective_std[rows]
    z = (values - true) / np.sqrt((0.1 * true) ** 2 + 0.05**2 + std**2)
    assert abs(z.mean()) < 0.05
    assert z.std() == pytest.approx(1, abs=0.03)
    assert z[std > 0.2].std() == pytest.approx(1, abs=0.05)
    assert np.concatenate([r.fell for r in went]).mean() == pytest.approx(0.25, abs=0.02)


def test_luck_is_the_same_for_all_selectors_and_depends_on_the_seed(truth, make):
    a, b = (replay(make(name), truth, seed=3, trials=9) for name in ("random", "best-first"))
    other = replay(make("random"), truth, seed=4, trials=9)
    assert (a.rows != b.rows).any()
    np.testing.assert_array_equal(a.fell, b.fell)
    assert (a.objectives != other.objectives).all()


def test_the_full_number_of_trials_is_made(truth, make):
    went = replay(make("map-bo"), truth, seed=0, trials=20)
    assert went.stop < 20
    assert "90%" in went.reason
    assert len(went.rows) == len(went.recommendations) == 20
    assert replay(make("random"), truth, seed=0, trials=20).stop == 20


@pytest.mark.parametrize("trials", [0, K + 1])
def test_trials_must_be_possible(truth, make, trials):
    with pytest.raises(InvalidValueError, match=f"trials must be from 1 to the {K} controllers"):
        replay(make("random"), truth, seed=0, trials=trials)
