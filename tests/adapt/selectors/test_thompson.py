"""Thompson's samples against the moments of the posterior that they are drawn from."""

import numpy as np

from adapt.gaussian_process import matern_52
from adapt.records import Outcome
from adapt.selectors.map_bo import MapBO, MapBOSettings, Thompson
from adapt.selectors.selector import Context, Prior


def test_samples_have_the_mean_and_covariance_of_the_belief():
    rng = np.random.default_rng(0)
    measures = rng.random((25, 3))
    prior = Prior(rng.uniform(1, 2, 25), measures, 0.0)
    settings = MapBOSettings(length_scale=0.5, noise_variance=0.05)
    believer = MapBO(Context(prior, trials=9), settings=settings)
    samples = []
    for seed in range(60):  # the waves are drawn once a selector
        sampler = Thompson(Context(prior, trials=9, seed=seed), settings=settings)
        for row, objective in ((3, 0.2), (8, 3.0), (3, 0.4)):
            sampler.tell(row, Outcome(objective))
            if seed == 0:
                believer.tell(row, Outcome(objective))
        samples += [sampler.sample() for _ in range(50)]
    samples = np.array(samples)
    unit = prior.objectives.max()
    np.testing.assert_allclose(samples.mean(axis=0), believer.predicted, atol=0.08 * unit)
    expected = unit * np.sqrt(believer._error.variance)
    np.testing.assert_allclose(samples.std(axis=0), expected, atol=0.08 * unit)
    near = np.argsort(np.linalg.norm(measures - measures[0], axis=1))
    together = np.corrcoef(samples.T)[0]
    assert together[near[1]] > together[near[-1]] + 0.3


def test_waves_have_the_kernels_covariance():
    measures = np.random.default_rng(0).random((25, 3))
    prior = Prior(np.ones(25), measures, 0.0)
    settings = MapBOSettings(length_scale=0.5)
    samplers = (Thompson(Context(prior, trials=9, seed=seed), settings=settings) for seed in range(100))
    samples = np.array([sampler.sample() - 1 for sampler in samplers for _ in range(50)])
    distances = np.linalg.norm(measures[:, None] - measures[None], axis=2)
    difference = samples.T @ samples / len(samples) - matern_52(distances, length_scale=0.5)
    assert np.abs(difference).mean() < 0.025
