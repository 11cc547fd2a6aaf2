import dataclasses
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sabotage import sabotage

from robots.errors import InvalidValueError
from robots.robot import Robot, load_robot
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation
from robots.simulation.stepper import Stepper

SEEDS = np.arange(12) + 100


def _evaluate(ant: Robot, controllers: np.ndarray, seeds: np.ndarray = SEEDS, **options: int) -> Episodes:
    with Simulation(ant, **options) as simulation:
        return simulation.evaluate(controllers, seeds)


def _columns(episodes: Episodes) -> list[np.ndarray]:
    """What there is of each episode."""
    return [
        getattr(episodes, field.name) for field in dataclasses.fields(episodes) if field.name != "moments"
    ]


def _equal(a: Episodes, b: Episodes) -> bool:
    pairs = zip(_columns(a), _columns(b), strict=True)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def _evaluate_until_interrupted(simulation: Simulation, controllers: np.ndarray, delay: float) -> None:
    """Evaluate again and again; a signal as of Ctrl-C comes after a delay [s]."""
    threading.Timer(delay, signal.raise_signal, [signal.SIGINT]).start()
    while True:
        simulation.evaluate(controllers, SEEDS + 7)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Whoever started the tests may have had them ignore interrupts, as nohup does."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


@pytest.fixture(scope="module")
def reference(ant: Robot, controllers: np.ndarray) -> Episodes:
    return _evaluate(ant, controllers, threads=1)


@pytest.mark.parametrize("threads", [1, 2, 3, 20])
def test_threads_change_nothing(ant, controllers, reference, threads: int) -> None:
    assert _equal(_evaluate(ant, controllers, threads=threads), reference)


def test_an_episode_is_that_of_single_steps_bit_for_bit(ant, controllers, reference) -> None:
    """Whole episodes in compiled code against control steps that the interpreter asks for one by one."""
    stepper = Stepper(ant)
    for i, parameters in enumerate(controllers):
        stepper.reset(int(SEEDS[i]))
        while not stepper.drive(parameters):
            pass
        assert stepper.tally.objective == reference.objectives[i]
        assert stepper.tally.steps == reference.steps[i]
        assert np.array_equal(stepper.measures, reference.measures[i])


def test_order_changes_nothing(ant, controllers, reference) -> None:
    order = np.random.default_rng(0).permutation(12)
    shuffled = _evaluate(ant, controllers[order], SEEDS[order], threads=2)
    expected = Episodes(*(values[order] for values in _columns(reference)))
    assert _equal(shuffled, expected)


def test_variants_run_side_by_side_as_each_does_alone(ant, controllers, reference) -> None:
    heavy = ant.modified("heavy", lambda spec: setattr(spec.body("torso").geoms[0], "density", 20.0))
    variants = np.arange(len(SEEDS)) % 2
    with Simulation(ant, heavy, threads=2) as simulation:
        mixed = simulation.evaluate(controllers, SEEDS, variants=variants)
        assert _equal(simulation.evaluate(controllers, SEEDS), reference)
        with pytest.raises(InvalidValueError, match="variants must be from 0 to 1, not 0 to 2"):
            simulation.evaluate(controllers[:2], SEEDS[:2], variants=np.array([0, 2]))
        with pytest.raises(InvalidValueError, match="variants must be 2 integers, not float64"):
            simulation.evaluate(controllers[:2], SEEDS[:2], variants=np.zeros(2))
    other = _evaluate(heavy, controllers)
    assert not np.array_equal(other.objectives, reference.objectives)
    for found, alone, as_heavy in zip(_columns(mixed), _columns(reference), _columns(other), strict=True):
        chosen = variants.reshape(-1, *[1] * (found.ndim - 1))
        assert np.array_equal(found, np.where(chosen, as_heavy, alone), equal_nan=True)


def test_robots_that_are_no_variants_of_each_other_are_refused(ant) -> None:
    with pytest.raises(
        InvalidValueError, match=r"share their controllers and measures, not: ant with mlp-28.*, hopper"
    ):
        Simulation(ant, load_robot("hopper"))
    hexapod = load_robot("hexapod")
    slower = hexapod.description.controller.model_copy(update={"period": 2.0})
    with pytest.raises(InvalidValueError, match="hexapod with periodic-36, hexapod with periodic-36"):
        Simulation(hexapod, hexapod.with_controller(slower))
    with pytest.raises(InvalidValueError, match="a simulation needs a robot"):
        Simulation()


def test_a_simulation_can_be_used_again(ant, controllers, reference) -> None:
    with Simulation(ant, threads=2) as simulation:
        simulation.evaluate(controllers[::-1], SEEDS + 1)
        assert _equal(simulation.evaluate(controllers, SEEDS), reference)


def test_results_are_plausible(reference: Episodes) -> None:
    assert np.all((reference.measures >= 0) & (reference.measures <= 1))
    assert np.all((reference.steps >= 1) & (reference.steps <= 1000))
    assert len(np.unique(reference.steps)) > 3, "all episodes alike: early endings went untested"
    assert np.all(reference.energies > 0)
    assert not reference.diverged.any()


def test_seeds_matter(ant, controllers, reference) -> None:
    other = _evaluate(ant, controllers, SEEDS + 1, threads=2)
    assert np.all(other.objectives != reference.objectives)


def test_progress_is_reported(ant, controllers) -> None:
    seen: list[int] = []
    with Simulation(ant, threads=2) as simulation:
        simulation.evaluate(controllers, SEEDS, on_finished=seen.append)
    assert sorted(seen) == list(range(1, 13))


def test_no_episodes_give_no_results(ant, controllers) -> None:
    assert len(_evaluate(ant, controllers[:0], SEEDS[:0])) == 0


def test_a_diverging_episode_is_marked_and_harms_no_other(ant, controllers, reference, monkeypatch) -> None:
    sabotage(monkeypatch, SEEDS[4])
    episodes = _evaluate(ant, controllers, threads=2)
    assert episodes.diverged.tolist() == [i == 4 for i in range(12)]
    assert np.isnan(episodes.objectives[4])
    assert np.isnan(episodes.measures[4]).all()
    others = np.arange(12) != 4
    assert np.array_equal(episodes.objectives[others], reference.objectives[others])


def test_an_error_in_a_callback_reaches_the_caller_and_leaves_the_simulation_usable(
    ant, controllers, reference
) -> None:
    def fail(_finished: int) -> None:
        raise RuntimeError("no")

    with Simulation(ant, threads=2) as simulation:
        with pytest.raises(RuntimeError, match="no"):
            simulation.evaluate(controllers, SEEDS, on_finished=fail)
        assert _equal(simulation.evaluate(controllers, SEEDS), reference)


def test_calls_from_several_threads_do_not_mix(ant, controllers, reference) -> None:
    with Simulation(ant, threads=2) as simulation, ThreadPoolExecutor(3) as callers:
        jobs = [callers.submit(simulation.evaluate, controllers, SEEDS + 50 * (i % 2)) for i in range(6)]
        results = [job.result() for job in jobs]
    assert all(_equal(result, reference) for result in results[::2])
    assert all(_equal(result, results[1]) for result in results[1::2])


def test_an_interrupt_leaves_the_simulation_usable(ant, controllers, reference, interruptible) -> None:
    """Interrupt the caller while its lanes are busy, as Ctrl-C does in a notebook."""
    with Simulation(ant, threads=2) as simulation:
        for delay in (0.0, 0.02, 0.05, 0.1):
            with pytest.raises(KeyboardInterrupt):
                _evaluate_until_interrupted(simulation, controllers[::-1], delay)
            assert _equal(simulation.evaluate(controllers, SEEDS), reference)


@pytest.mark.parametrize(
    ("parameters", "seeds", "message"),
    [
        (
            np.zeros((2, 5)),
            np.zeros(2, int),
            r"\(n, 21256\) for ant's mlp-28-128-128-8 controller, not \(2, 5\)",
        ),
        (np.zeros(21256), np.zeros(1, int), r"parameters must have shape"),
        (np.zeros((2, 21256)), np.zeros(3, int), r"seeds must be 2 integers"),
        (np.zeros((2, 21256)), np.zeros(2), r"seeds must be 2 integers, not float64"),
        (np.zeros((2, 21256)), np.array([1, -1]), r"seeds must not be negative"),
        (np.full((2, 21256), np.nan), np.zeros(2, int), r"finite, but are not at rows \[0, 1\]"),
    ],
)
def test_wrong_arguments_are_refused(ant, parameters, seeds, message: str) -> None:
    with Simulation(ant, threads=1) as simulation, pytest.raises(InvalidValueError, match=message):
        simulation.evaluate(parameters, seeds)


def test_no_threads_are_refused(ant) -> None:
    with pytest.raises(InvalidValueError, match="threads must be at least 1 and at most 1024, not 0"):
        Simulation(ant, threads=0)
