import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from robots.errors import InvalidValueError
from robots.evaluations import ObservationMoments, Request
from robots.robot import Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads

STEPS = 60  # of the longest episodes
SEEDS = np.arange(12) + 100
OBSERVED = np.isin(np.arange(12), (1, 4, 5, 11))


@pytest.fixture(scope="session")
def ant() -> Robot:
    return load_robot("ant").with_episode_steps(STEPS)


def _evaluate(ant: Robot, controllers: np.ndarray, seeds: np.ndarray = SEEDS, threads: int = 2) -> Episodes:
    request = Request(observed=OBSERVED[: len(seeds)])
    return Threads(threads).run(ModelBatch(ant), controllers, seeds, request=request)


def _equal(a: Episodes, b: Episodes) -> bool:
    pairs = ((a.columns[name], b.columns[name]) for name in Episodes.unknown(1, load_robot("ant")).columns)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


@pytest.fixture(scope="module")
def reference(ant: Robot, controllers: np.ndarray) -> Episodes:
    return _evaluate(ant, controllers, threads=1)


@pytest.mark.parametrize("threads", [2, 20])
def test_threads_change_nothing(ant, controllers, reference, threads: int) -> None:
    seen: list[int] = []
    request, batch = Request(observed=OBSERVED), ModelBatch(ant)
    episodes = Threads(threads).run(batch, controllers, SEEDS, request=request, on_finished=seen.append)
    assert seen == list(range(1, 13))
    assert _equal(episodes, reference)
    assert episodes.moments.count == reference.moments.count
    assert np.array_equal(episodes.moments.sums, reference.moments.sums)
    assert np.array_equal(episodes.moments.squares, reference.moments.squares)


def test_variants_run_side_by_side_as_each_does_alone(ant, controllers, reference) -> None:
    heavy = ant.modified("heavy", lambda spec: setattr(spec.body("torso"), "mass", 150.0))
    variants = np.arange(len(SEEDS)) % 2
    backend, batch = Threads(2), ModelBatch(ant, heavy)
    mixed = backend.run(batch, controllers, SEEDS, models=variants)
    assert _equal(backend.run(batch, controllers, SEEDS), reference)
    other = _evaluate(heavy, controllers)
    assert not np.array_equal(other.objectives, reference.objectives)
    for name, found in mixed.columns.items():
        alone, as_heavy = reference.columns[name], other.columns[name]
        chosen = variants.reshape(-1, *[1] * (found.ndim - 1))
        assert np.array_equal(found, np.where(chosen, as_heavy, alone), equal_nan=True)


def test_a_diverging_episode_is_marked_and_harms_no_other(ant, controllers, reference, monkeypatch) -> None:
    sabotage(monkeypatch, SEEDS[4])
    backend, batch = Threads(2), ModelBatch(ant)
    request = Request(observed=OBSERVED, transitions=True)
    episodes = backend.run(batch, controllers, SEEDS, request=request)
    assert [len(rows) > 0 for rows in episodes.transitions] == [i != 4 for i in range(12)]
    good = Request(observed=OBSERVED & ~episodes.diverged)
    others = backend.run(batch, controllers, SEEDS, request=good).moments
    assert episodes.diverged.tolist() == [i == 4 for i in range(12)]
    assert np.isnan(episodes.objectives[4])
    assert np.isnan(episodes.measures[4]).all()
    assert np.array_equal(np.delete(episodes.objectives, 4), np.delete(reference.objectives, 4))
    assert episodes.moments.count == others.count < reference.moments.count
    assert np.array_equal(episodes.moments.sums, others.sums)
    assert np.array_equal(episodes.moments.squares, others.squares)


def test_what_was_seen_is_what_the_observed_controllers_acted_on(ant, controllers, reference) -> None:
    stepper, seen = Stepper(ant), []
    for episode in np.flatnonzero(OBSERVED):
        stepper.reset(int(SEEDS[episode]))
        while not stepper.over:
            seen.append(stepper.state.observation.astype(np.float64))
            stepper.drive(controllers[episode])
    assert reference.moments.count == len(seen)
    np.testing.assert_allclose(reference.moments.mean, np.mean(seen, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(reference.moments.std, np.maximum(np.std(seen, axis=0), 0.1), rtol=1e-9)


def test_unless_asked_nothing_is_observed(ant, controllers) -> None:
    backend, batch = Threads(1), ModelBatch(ant)
    assert backend.run(batch, controllers[:2], SEEDS[:2]).moments is None
    request = Request(observed=np.zeros(2, bool))
    nobody = backend.run(batch, controllers[:2], SEEDS[:2], request=request).moments
    assert nobody.count == 0
    assert nobody.std.tolist() == [1] * ant.observation_dim


def test_an_error_in_a_callback_reaches_the_caller_and_leaves_the_simulation_usable(
    ant, controllers, reference
) -> None:
    def fail(_finished: int) -> None:
        raise RuntimeError("no")

    backend, batch = Threads(2), ModelBatch(ant)
    with pytest.raises(RuntimeError, match="no"):
        backend.run(batch, controllers, SEEDS, on_finished=fail)
    assert _equal(backend.run(batch, controllers, SEEDS), reference)


def test_calls_from_several_threads_do_not_mix(ant, controllers, reference) -> None:
    run = partial(Threads(2).run, ModelBatch(ant))
    with ThreadPoolExecutor(3) as callers:
        jobs = [callers.submit(run, controllers, SEEDS + 50 * (i % 2)) for i in range(4)]
        results = [job.result() for job in jobs]
    assert all(_equal(result, reference) for result in results[::2])
    assert all(_equal(result, results[1]) for result in results[1::2])


def test_an_interrupt_leaves_the_simulation_usable(ant, controllers, reference) -> None:
    """Interrupt the caller while the threads are busy, as Ctrl-C does in a notebook."""
    run = partial(Threads(2).run, ModelBatch(ant))
    threading.Timer(0.02, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        [run(controllers[::-1], SEEDS + 7) for _ in range(1000)]
    assert _equal(run(controllers, SEEDS), reference)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solutions": np.zeros((2, 5))}, r"\(n, 21256\) for ant's mlp"),
        ({"solutions": np.zeros(21256)}, "parameters must have shape"),
        ({"solutions": np.full((2, 21256), np.nan)}, r"finite, but are not at rows \[0, 1\]"),
        ({"seeds": np.zeros(3, int)}, "seeds must be 2 integers"),
        ({"seeds": np.zeros(2)}, "seeds must be 2 integers, not float64"),
        ({"seeds": np.array([1, -1])}, "seeds must not be negative"),
        ({"models": np.array([0, 1])}, "models must be from 0 to 0, not 0 to 1"),
        ({"request": Request(observed=np.ones(2))}, "observed must be 2 booleans, not "),
        ({"request": Request(observed=np.ones((2, 1), bool))}, "observed must be 2 booleans, not "),
    ],
)
def test_wrong_arguments_are_refused(ant, changes: dict, message: str) -> None:
    right = {"solutions": np.zeros((2, 21256)), "seeds": np.zeros(2, int)}
    with pytest.raises(InvalidValueError, match=message):
        Threads(1).run(ModelBatch(ant), **right | changes)


def test_robots_that_are_no_variants_of_each_other_and_no_threads_are_refused(ant) -> None:
    hexapod = load_robot("hexapod")
    slower = hexapod.with_controller(hexapod.description.controller.model_copy(update={"period": 2.0}))
    for robots, message in (
        ([ant, load_robot("hopper")], r"share their controllers and measures, not: ant"),
        ([hexapod, slower], "hexapod with periodic-36, hexapod with periodic-36"),
        ([], "there is no robot"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            ModelBatch(*robots)
    with pytest.raises(InvalidValueError, match="threads must be at least 1 and at most 1024, not 0"):
        Threads(0)


def moments_of(observations: np.ndarray) -> ObservationMoments:
    return ObservationMoments(len(observations), observations.sum(axis=0), (observations**2).sum(axis=0))


def test_mean_and_std_are_those_of_all_observations_merged() -> None:
    observations = np.random.default_rng(0).normal([0, 3, -2], [1, 0.5, 4], (500, 3))
    merged = moments_of(observations[:120]).merge(moments_of(observations[120:]))
    assert merged.count == 500
    np.testing.assert_allclose(merged.mean, observations.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(merged.std, observations.std(axis=0), rtol=1e-12)
    assert moments_of(np.full((9, 1), 5.0)).std == pytest.approx(0.1), "the spread has a floor"


def sabotage(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let the episode of a seed start with a speed that is not a number."""
    place = Stepper._place

    def blown_up(stepper: Stepper, chosen: int) -> None:
        place(stepper, chosen)
        if chosen == seed:
            stepper.data.qvel[3] = np.nan

    monkeypatch.setattr(Stepper, "_place", blown_up)
