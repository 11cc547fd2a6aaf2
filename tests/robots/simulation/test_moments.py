"""Moments of observations: sums, floors."""

import numpy as np
import pytest

from robots.evaluations import ObservationMoments


def moments_of(observations: np.ndarray) -> ObservationMoments:
    return ObservationMoments(len(observations), observations.sum(axis=0), (observations**2).sum(axis=0))


def test_mean_and_std_are_those_of_all_observations_merged() -> None:
    observations = np.random.default_rng(0).normal([0, 3, -2], [1, 0.5, 4], (500, 3))
    merged = moments_of(observations[:120]).merge(moments_of(observations[120:]))
    assert merged.count == 500
    np.testing.assert_allclose(merged.mean, observations.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(merged.std, observations.std(axis=0), rtol=1e-12)
    assert moments_of(np.full((9, 1), 5.0)).std == pytest.approx(0.1), "the spread has a floor"


def test_no_observations_change_nothing() -> None:
    none = ObservationMoments.none(4)
    assert none.mean.tolist() == [0] * 4
    assert none.std.tolist() == [1] * 4
    some = moments_of(np.random.default_rng(0).normal(size=(9, 4)))
    for merged in (none.merge(some), some.merge(none)):
        assert np.array_equal(merged.mean, some.mean)
        assert np.array_equal(merged.std, some.std)
