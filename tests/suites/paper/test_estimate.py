"""How long a study will take."""

import pytest

from suites.paper import estimate as module
from suites.paper.estimate import estimate, measured_pace
from tests.suites.paper.made_results import make_results, make_robot_results
from tests.suites.paper.made_studies import benchmark_settings, robot_settings


@pytest.fixture
def _machine(monkeypatch):
    """A machine that needs 2 ms for an evaluation."""
    monkeypatch.setattr(module, "measured_pace", lambda _: 0.002)


@pytest.mark.usefixtures("_machine")
def test_without_finished_trials_half_of_the_archive_is_corrected():
    settings = robot_settings(evaluations={"hopper": 400, "walker": 1000}, trials=3)
    hopper, walker = estimate(settings.plan(), [], 2)
    assert hopper.seconds == pytest.approx(6 * (400 + 0.5 * 1024 * 2) * 0.002 / 2)
    assert str(hopper).startswith(
        "hopper: 6 trials of 400 evaluations, about 9 s (measured with sep-cma-mae, "
    )
    assert walker.seconds > hopper.seconds


@pytest.mark.usefixtures("_machine")
def test_finished_trials_say_how_it_goes():
    scores = {"sep-cma-mae": 0.5, "map-elites": 0.5}
    done = make_robot_results(["hopper"], scores, 2, evaluations=2000, threads=2, seconds=10.0)
    (one,) = estimate(robot_settings().plan(), done, 2)
    # 10 s of two threads for 2,000 evaluations; two trials on a core each, corrected where 60% are filled
    assert one.seconds == pytest.approx(2 * (400 + 0.6 * 1024 * 2) * 0.01 / 2)
    assert one.basis == "as in finished trials"


@pytest.mark.usefixtures("_machine")
def test_benchmarks_are_estimated_from_their_own_trials_or_a_measurement():
    plan = benchmark_settings().plan()
    done = make_results(["sphere-10"], ["sep-cma-mae"], 2, evaluations=1000, seconds=10.0)
    sphere, arm = estimate(plan, done, 2)
    assert sphere.seconds == pytest.approx((2 * 2000 * 0.01 + 2 * 2000 * 0.002) / 2)
    assert sphere.basis == "measured with map-elites-line"
    assert arm.seconds == pytest.approx(4 * 2000 * 0.002 / 2)
    (few,) = estimate(plan[:1], [], 8)  # no more than one core has work
    assert few.seconds == pytest.approx(2000 * 0.002)


def test_the_pace_is_measured(monkeypatch):
    monkeypatch.setattr(module, "_MEASURING_SECONDS", 0.05)
    assert 1e-7 < measured_pace(benchmark_settings().plan()[0]) < 0.1
    assert 0 < measured_pace(robot_settings().plan()[0]) < 1
