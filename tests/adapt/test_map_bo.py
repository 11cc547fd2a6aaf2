"""The Gaussian process against the textbook, and map-based Bayesian optimisation against its laws."""

import numpy as np
import pytest

from adapt.gaussian_process import Posterior, matern_52
from adapt.records import Outcome
from adapt.selectors.map_bo import MapBO, MapBOSettings
from adapt.selectors.selector import Context, Prior
from robots.errors import InvalidValueError


def dense_posterior(points, observed, values, *, length_scale, variance, noise):
    """Rasmussen & Williams 2006, eqs. 2.23-2.24, with an explicit inverse."""
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    a = np.sqrt(5) * distances / length_scale
    k = variance * (1 + a + a**2 / 3) * np.exp(-a)
    cross = k[:, observed]
    inverse = np.linalg.inv(k[np.ix_(observed, observed)] + noise * np.eye(len(observed)))
    return cross @ inverse @ values, variance - np.einsum("ij,jk,ik->i", cross, inverse, cross)


def make_prior(k=200, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return Prior(rng.uniform(500, 2000, k) + offset, rng.random((k, 4)), -375.0 + offset)


def damaged(prior, seed=1):
    """Objectives that fall with the use of the first foot."""
    noise = np.random.default_rng(seed).normal(0, 20, len(prior))
    return prior.objectives - 1500 * prior.measures[:, 0] + noise


@pytest.mark.parametrize("noise", [1e-3, 0.3])
def test_posterior_equals_the_dense_formula(noise):
    rng = np.random.default_rng(0)
    points = rng.random((60, 3))
    kernel = {"length_scale": 0.4, "variance": 1.7}
    posterior = Posterior(np.full(60, 1.7), series=2)
    observed = [3, 50, 3, 17, 59, 20, 21, 22, *range(30, 40)]  # a point may be observed twice
    values = rng.normal(size=(len(observed), 2))
    for t, (index, value) in enumerate(zip(observed, values, strict=True), start=1):
        distances = np.linalg.norm(points - points[index], axis=1)
        posterior.observe(index, 1.7 * matern_52(distances, length_scale=0.4), value, noise)
        mean, variance = dense_posterior(points, observed[:t], values[:t], noise=noise, **kernel)
        np.testing.assert_allclose(posterior.means(), mean.T, atol=1e-9)
        np.testing.assert_allclose(posterior.variance, variance, atol=1e-9)


# The hexapod's constants, but for a weight of exploration that makes a difference
EXPLORING = MapBOSettings(length_scale=0.4, noise_variance=0.001, exploration=0.3)


def test_choices_are_those_of_the_published_rule():
    prior = make_prior()
    truth = damaged(prior)
    selector = MapBO(Context(prior, trials=20), settings=EXPLORING)
    unit = prior.objectives.max() - prior.min_objective
    rows = []
    for _ in range(12):
        error = (truth[rows] - prior.objectives[rows]) / unit
        gp = {"length_scale": 0.4, "variance": 1.0, "noise": 0.001}
        mean, variance = (
            dense_posterior(prior.measures, rows, error, **gp) if rows else (0, np.ones(len(prior)))
        )
        belief = (prior.objectives - prior.min_objective) / unit + mean
        bound = belief + 0.3 * np.sqrt(np.maximum(variance, 0))
        bound[rows] = -np.inf
        np.testing.assert_allclose((selector.predicted - prior.min_objective) / unit, belief, atol=1e-9)
        np.testing.assert_allclose(selector._error.variance, np.maximum(variance, 0), atol=1e-9)
        rows.append(int(np.argmax(bound)))
        assert selector.ask() == rows[-1]
        selector.tell(rows[-1], Outcome(truth[rows[-1]]))
    assert len(set(rows)) == 12


@pytest.mark.parametrize(
    ("hope", "measured", "satisfied"),
    [(1000.0, 899.0, False), (1000.0, 901.0, True), (-1000.0, -1101.0, False), (-1000.0, -1099.0, True)],
)
def test_enough_is_90_percent_of_the_best_prediction(hope, measured, satisfied):
    # far apart, so that the second keeps its prediction
    prior = Prior(np.array([hope, hope]), np.array([[0.0], [100.0]]), -2000.0)
    selector = MapBO(Context(prior, trials=2))
    selector.tell(0, Outcome(measured))
    assert (selector.done() is not None) == satisfied


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.empty(0), np.empty((0, 4)), 0.0), "empty"),
        ((np.ones((2, 1)), np.ones((2, 4)), 0.0), "objectives must have shape"),
        ((np.ones(2), np.ones((3, 4)), 0.0), r"measures must have shape \(2, m\), not \(3, 4\)"),
        ((np.array([1.0, np.nan]), np.ones((2, 4)), 0.0), "objectives must be finite"),
        ((np.ones(2), np.ones((2, 4)), -np.inf), "min_objective must be finite"),
    ],
)
def test_a_prior_must_make_sense(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        Prior(*arguments)
