"""How long a study will take."""

import pytest
from gaits import small_settings
from made_results import make_robot_results

from repertoire.suites import estimate as module
from repertoire.suites.estimate import estimate, measured_rate


@pytest.fixture
def rate(monkeypatch):
    """A machine that simulates 1,000 control steps a second."""
    monkeypatch.setattr(module, "measured_rate", lambda *_: 1000.0)


@pytest.mark.usefixtures("rate")
def test_without_finished_trials_lengths_are_assumed(tmp_path):
    settings = small_settings(tmp_path, evaluations={"hopper": 400, "half_cheetah": 1000}, trials=3)
    hopper, cheetah = estimate(settings.plans(), [], cores=2, processes=2)
    # 6 trials, with 2 episodes for half of the 1024 cells, of 60% of 30 steps
    assert hopper.seconds == pytest.approx(6 * (400 + 1024) * 18 / 1000)
    # what no fall ends has its full length
    assert cheetah.seconds == pytest.approx(6 * (1000 + 1024) * 30 / 1000)
    how = "1,000 control steps a second, 18 an episode, assumed"
    assert str(hopper) == f"hopper: 6 trials of 400 evaluations, about 3 min ({how})"


@pytest.mark.usefixtures("rate")
def test_cores_without_a_trial_do_not_count(tmp_path):
    plans = small_settings(tmp_path).plans()
    (few,) = estimate(plans[:1], [], cores=4, processes=4)
    assert few.seconds == pytest.approx((400 + 1024) * 18 / 250)
    (episodes,) = estimate(plans[:1], [], cores=4, processes=1)
    assert episodes.seconds == pytest.approx((400 + 1024) * 18 / 1000)


def test_finished_trials_say_how_it_goes(tmp_path):
    plans = small_settings(tmp_path).plans()
    done = [
        *make_robot_results(
            ["hopper"], {"me-es": 0.5}, 2, steps=40_000, evaluations=2000, seconds=8.0, threads=2
        )
    ]
    (one,) = estimate(plans, done, cores=4, processes=2)
    assert (one.length, one.coverage, one.known) == (20, pytest.approx(0.6), True)
    assert one.rate == 4 * 40_000 / 16
    assert one.seconds == pytest.approx(2 * (400 + 0.6 * 1024 * 2) * 20 / 10_000)
    assert "as in finished trials" in str(one)


def test_nothing_left_takes_no_time():
    assert estimate([], make_robot_results(["hopper"], {"me-es": 0.5}), cores=2, processes=2) == []


def test_the_rate_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MEASURING_SECONDS", 0.05)
    assert 100 < measured_rate(small_settings(tmp_path).plans()[0], 1) < 1e7
