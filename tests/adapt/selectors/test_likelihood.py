"""Likelihoods and expected improvement against SciPy and Monte Carlo."""

import numpy as np
import pytest
from scipy import stats

from adapt.selectors.mixture import add_expected_improvement, log_evidence, log_fall, log_objective


def test_objectives_are_normal_but_for_surprises():
    rng = np.random.default_rng(0)
    residuals, variances = rng.normal(size=9), rng.uniform(0.1, 2, 9)
    normal = stats.norm.logpdf(residuals, scale=np.sqrt(variances))
    np.testing.assert_allclose(log_objective(residuals, variances, surprise=0.0), normal)
    mixed = np.log(0.9 * np.exp(normal) + 0.1)
    np.testing.assert_allclose(log_objective(residuals, variances, surprise=0.1), mixed)
    far = log_objective(np.array([50.0]), np.array([0.01]), surprise=0.01)
    assert far == pytest.approx(np.log(0.01))


@pytest.mark.parametrize("e", [1, 8, 13, 40])
def test_evidence_is_students(e):
    rng = np.random.default_rng(0)
    residuals, variances, discrepancies = rng.normal(size=(5, e)), rng.random((5, e)), rng.uniform(1e-9, 1, e)
    t = stats.t.logpdf(residuals, 4, scale=np.sqrt(variances + discrepancies)).sum(axis=1)
    whole = log_evidence(residuals, variances, discrepancies, channels=100.0)
    np.testing.assert_allclose(whole, t, rtol=1e-10)
    tempered = log_evidence(residuals, variances, discrepancies, channels=0.5)
    np.testing.assert_allclose(tempered, 0.5 / e * t, rtol=1e-10)


def test_falls_are_bernoulli_with_doubt():
    p = np.array([0.0, 0.3, 1.0])
    np.testing.assert_allclose(np.exp(log_fall(1.0, p, doubt=0.2)), [0.1, 0.34, 0.9])
    np.testing.assert_allclose(np.exp(log_fall(0.0, p, doubt=0.2)), [0.9, 0.66, 0.1])


def test_expected_improvement_is_that_of_samples():
    rng = np.random.default_rng(0)
    means, deviations = rng.normal(size=(4, 6)), rng.uniform(0.01, 1, 6)
    weights, best = np.array([0.4, 0.3, 0.2, 0.1]), 0.3
    gain = np.zeros(6)
    add_expected_improvement(means, deviations, weights, best, gain)
    component = rng.choice(4, p=weights, size=400000)
    samples = means[component] + deviations * rng.normal(size=(400000, 6))
    sampled = np.maximum(samples - best, 0).mean(axis=0)
    np.testing.assert_allclose(gain, sampled, atol=5e-3)
    u = (means - best) / deviations
    exact = weights @ (deviations * (u * stats.norm.cdf(u) + stats.norm.pdf(u)))
    np.testing.assert_allclose(gain, exact, atol=5e-7)


@pytest.mark.parametrize(
    ("mean", "deviation", "gain"), [(2.0, 0.0, 1.5), (0.2, 0.0, 0.0), (-9.0, 1e-3, 0.0), (9.0, 1.0, 8.5)]
)
def test_expected_improvement_of_what_is_certain(mean, deviation, gain):
    out = np.zeros(1)
    add_expected_improvement(np.array([[mean]]), np.array([deviation]), np.ones(1), 0.5, out)
    assert out[0] == pytest.approx(gain, abs=1e-9)
