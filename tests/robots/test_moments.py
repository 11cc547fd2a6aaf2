"""Moments of observations: sums, floors, states; and which episodes of a simulation are summed."""

import numpy as np
import pytest
from sabotage import sabotage

from robots.errors import InvalidValueError
from robots.simulation.episodes import ObservationMoments
from robots.simulation.simulation import Simulation
from robots.simulation.stepper import Stepper

SEEDS = np.arange(12) + 100
WATCHED = np.isin(np.arange(12), (1, 4, 5, 11))


def moments_of(observations: np.ndarray) -> ObservationMoments:
    return ObservationMoments(len(observations), observations.sum(axis=0), (observations**2).sum(axis=0))


def test_mean_and_std_are_those_of_all_observations_merged() -> None:
    observations = np.random.default_rng(0).normal([0, 3, -2], [1, 0.5, 4], (500, 3))
    merged = moments_of(observations[:120]).merge(moments_of(observations[120:]))
    assert merged.count == 500
    np.testing.assert_allclose(merged.mean, observations.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(merged.std, observations.std(axis=0), rtol=1e-12)


def test_the_spread_has_a_floor() -> None:
    observations = np.random.default_rng(0).normal([5, 5], [0.05, 0.2], (500, 2))
    observations[:, 0] = 5.0
    std = moments_of(observations).std
    assert std[0] == pytest.approx(0.1)
    assert std[1] == pytest.approx(0.2, rel=0.1)


def test_no_observations_change_nothing() -> None:
    none = ObservationMoments.none(4)
    assert none.mean.tolist() == [0] * 4
    assert none.std.tolist() == [1] * 4
    some = moments_of(np.random.default_rng(0).normal(size=(9, 4)))
    for merged in (none.merge(some), some.merge(none)):
        assert np.array_equal(merged.mean, some.mean)
        assert np.array_equal(merged.std, some.std)


def test_a_state_restores_them() -> None:
    some = moments_of(np.random.default_rng(0).normal(size=(9, 4)))
    restored = ObservationMoments.none(4).restored(some.state())
    assert restored.count == 9
    assert np.array_equal(restored.std, some.std)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": np.array(-1)}, "must be an integer and not negative"),
        ({"count": np.array(1.5)}, "must be an integer and not negative"),
        ({"sums": np.zeros(3)}, r"must have shape \(4,\), got \(3,\) and \(4,\)"),
        ({"squares": np.full(4, np.nan)}, "must be finite"),
    ],
)
def test_states_that_cannot_be_are_refused(change, message) -> None:
    none = ObservationMoments.none(4)
    with pytest.raises(InvalidValueError, match=message):
        none.restored(none.state() | change)


def watch(ant, controllers, **options) -> ObservationMoments:
    with Simulation(ant, **options) as simulation:
        moments = simulation.evaluate(controllers, SEEDS, watched=WATCHED).moments
    assert moments is not None
    return moments


def test_threads_change_no_bit_of_what_was_seen(ant, controllers) -> None:
    reference = watch(ant, controllers, threads=1)
    for threads in (2, 3, 20):
        moments = watch(ant, controllers, threads=threads)
        assert moments.count == reference.count
        assert np.array_equal(moments.sums, reference.sums)
        assert np.array_equal(moments.squares, reference.squares)


def test_what_was_seen_is_what_the_watched_controllers_acted_on(ant, controllers) -> None:
    stepper, seen = Stepper(ant), []
    for episode in np.flatnonzero(WATCHED):
        stepper.reset(int(SEEDS[episode]))
        while not stepper.over:
            seen.append(stepper.state.observation.astype(np.float64))
            stepper.drive(controllers[episode])
    moments = watch(ant, controllers, threads=2)
    assert moments.count == len(seen)
    np.testing.assert_allclose(moments.mean, np.mean(seen, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(moments.std, np.maximum(np.std(seen, axis=0), 0.1), rtol=1e-9)


def test_a_diverged_episode_counts_for_nothing(ant, controllers, monkeypatch) -> None:
    sabotage(monkeypatch, SEEDS[4])
    with Simulation(ant, threads=2) as simulation:
        episodes = simulation.evaluate(controllers, SEEDS, watched=WATCHED)
        others = simulation.evaluate(controllers, SEEDS, watched=WATCHED & ~episodes.diverged)
    assert episodes.diverged.tolist() == [i == 4 for i in range(12)]
    assert episodes.moments.count == others.moments.count
    assert np.array_equal(episodes.moments.sums, others.moments.sums)
    assert np.array_equal(episodes.moments.squares, others.moments.squares)


def test_unless_asked_nothing_is_watched(ant, controllers) -> None:
    with Simulation(ant, threads=1) as simulation:
        assert simulation.evaluate(controllers[:2], SEEDS[:2]).moments is None
        nobody = simulation.evaluate(controllers[:2], SEEDS[:2], watched=np.zeros(2, bool)).moments
    assert nobody.count == 0
    assert nobody.std.tolist() == [1] * ant.observation_dim


@pytest.mark.parametrize("watched", [np.ones(3, bool), np.ones(2), np.ones((2, 1), bool)])
def test_watching_anything_but_a_boolean_each_is_refused(ant, controllers, watched) -> None:
    with (
        Simulation(ant, threads=1) as simulation,
        pytest.raises(InvalidValueError, match="watched must be 2 booleans, not "),
    ):
        simulation.evaluate(controllers[:2], SEEDS[:2], watched=watched)
