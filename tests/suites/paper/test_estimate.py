"""How long a study will take."""

from pathlib import Path

import pytest

from suites.paper import estimate as module
from suites.paper.estimate import estimate, learning_pace, measured_pace
from tests.suites.paper.made_results import make_results, make_robot_results
from tests.suites.paper.made_studies import benchmark_settings, robot_settings, variants


@pytest.fixture(autouse=True)
def _machine(monkeypatch):
    """A machine that simulates 1,000 control steps per second, and needs 2 ms for an evaluation."""
    monkeypatch.setattr(module, "measured_pace", lambda _: (500.0, 1000.0))
    monkeypatch.setattr(module, "_MEASURING_SECONDS", 0.05)


def test_without_finished_trials_lengths_are_assumed():
    settings = robot_settings(evaluations={"hopper": 400, "half_cheetah": 1000}, trials=3)
    hopper, cheetah = estimate(settings.plan(Path()), [], cores=2, processes=2)
    # 6 trials, with 2 episodes for half of the 1024 cells, of 60% of 30 steps
    assert hopper.seconds == pytest.approx(6 * (400 + 1024) * 18 / 1000)
    # episodes that no fall ends have their full length
    assert cheetah.seconds == pytest.approx(6 * (1000 + 1024) * 30 / 1000)
    how = "1,000 control steps per second, 18 control steps per episode, assumed"
    assert str(hopper) == f"hopper: 6 trials of 400 evaluations, about 3 min ({how})"


def test_finished_trials_say_how_it_goes():
    done = make_robot_results(
        ["hopper"],
        {"sep-cma-mae": 0.5},
        2,
        steps=40_000,
        evaluations=2000,
        threads=2,
        evaluation_seconds=2.4,
        search_seconds=4.8,
    )
    (one,) = estimate(robot_settings().plan(Path()), done, cores=4, processes=2)
    # 4 * 40,000 / (2 * 2.4) steps per second, 20 steps per episode; 4.8 s of search for 2,000 evaluations
    simulation, search = 2 * (400 + 0.6 * 1024 * 2) * 20 * 4.8 / 160_000, 400 * 4.8 / 2000 / 2
    assert one.seconds == pytest.approx(simulation + search)
    assert "33,333 control steps per second, 20 control steps per episode, as in finished" in str(one)


def test_benchmarks_are_estimated_from_their_own_trials_or_a_measurement():
    plan = benchmark_settings().plan(Path())
    done = make_results(["sphere-10"], ["sep-cma-mae"], 2, evaluations=1000, seconds=10.0)
    sphere, arm = estimate(plan, done, cores=4, processes=2)
    assert sphere.seconds == pytest.approx((2 * 2000 * 0.01 + 2 * 2000 * 0.002) / 2)
    assert sphere.basis == "measured with map-elites-line"
    assert arm.seconds == pytest.approx(4 * 2000 * 0.002 / 2)


def test_the_pace_is_measured():
    evaluations, steps = measured_pace(robot_settings().plan(Path())[0])
    assert 10 < steps / evaluations <= 30
    assert 100 < steps < 1e7
    assert 10 < measured_pace(benchmark_settings().plan(Path())[0])[0] < 1e7


def test_algorithms_that_learn_from_transitions_take_longer() -> None:
    small = {"critic_updates": 10, "gradient_steps": 1, "batch_size": 8}
    plain, learning = robot_settings(variants=variants("map-elites", "pga-me"), common=small).plan(Path())
    pace = learning_pace(learning)
    assert (plain.algorithm, learning.algorithm) == ("map-elites", "pga-me")
    assert learning_pace(plain) == 0
    assert pace > 1e-4
    both = [estimate([trial], [], cores=2, processes=1)[0].seconds for trial in (plain, learning)]
    assert both[1] - both[0] > 0.2 * 400 * pace, "two measurements on a busy machine"


def test_an_algorithm_that_observes_states_but_learns_nothing_needs_no_more_time() -> None:
    (trial,) = robot_settings(variants=variants("me-es"), common={"batch_size": 8}).plan(Path())
    assert learning_pace(trial) == 0
