"""A trial: its result depends on nothing but what it is to do, and it goes on where it was stopped."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertoire.storage.repertoires import read_repertoire, read_search
from robots.errors import InvalidFileError
from suites.paper import trial as trial_module
from suites.paper.results import TrialResult
from suites.paper.trial import PaperTrial
from tests.suites.paper.made_studies import TIMES, assert_same, benchmark_settings, robot_settings, silent


class KilledError(BaseException):
    """Ends a trial like the end of its process: it is no ordinary exception."""


def robot_trial(**changes) -> PaperTrial:
    return replace(robot_settings(evaluations={"hopper": 1000}).plan()[0], **changes)


def killed_at(share: float) -> Callable[[float], None]:
    """End a trial that reports so much progress."""

    def kill(done: float) -> None:
        if done >= share:
            raise KilledError

    return kill


def test_the_history_ends_with_the_result():
    result = benchmark_settings().plan()[0].run(Path(), silent)
    assert (result.learning_rate, result.episodes, result.steps) == (0.001, 0, 0)
    assert list(result.history) == ["evaluations", "qd_score", "coverage", "best", "cpu_seconds"]
    assert result.history["evaluations"].tolist() == list(range(200, 2001, 200))
    assert result.evaluations == 2000
    for name in ("qd_score", "coverage", "best"):
        assert (np.diff(result.history[name]) >= 0).all()
        assert result.history[name][-1] == getattr(result, name)
    check_seconds(result)


def check_seconds(result: TrialResult) -> None:
    """Check that the processor time of each row grows up to the end of training."""
    seconds = result.history["cpu_seconds"]
    assert (np.diff(seconds) > 0).all()
    assert 0 < seconds[0] < seconds[-1] <= result.cpu_seconds


@pytest.fixture(autouse=True)
def _checkpoints_after_every_batch(monkeypatch):
    monkeypatch.setattr(trial_module, "_CHECKPOINT_SECONDS", 0.0)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """The folder of the uninterrupted trial."""
    return tmp_path_factory.mktemp("whole") / "trial"


@pytest.fixture(scope="module")
def uninterrupted(home) -> tuple[PaperTrial, TrialResult, list[float]]:
    reported: list[float] = []
    whole = robot_trial()
    return whole, whole.run(home, reported.append), reported


def test_a_result_says_what_it_is_of(uninterrupted):
    whole, result, reported = uninterrupted
    assert (*result.key, result.seed) == (*whole.key, whole.seed)
    assert (result.evaluations, result.episode_steps, result.episodes, result.threads) == (1000, 30, 2, 1)
    assert (result.learning_rate, result.restarts, result.left_out) == (0.001, 0, 0)
    assert result.history["evaluations"].tolist() == [200, 400, 600, 800, 1000]
    assert result.history["qd_score"][-1] == result.raw_qd_score
    assert 1000 <= result.steps <= 1000 * 30
    assert "mujoco" in result.versions
    assert reported == sorted(reported)
    assert (reported[0] < 0.1, reported[-1]) == (True, 1)


@pytest.mark.parametrize("share", [0.3, 0.96])
def test_a_trial_that_was_killed_goes_on_bit_for_bit(uninterrupted, tmp_path, share):
    _, expected, _ = uninterrupted
    stopped = robot_trial()
    with pytest.raises(KilledError):
        stopped.run(tmp_path, killed_at(share))
    done = read_repertoire(tmp_path / "repertoire.h5").evaluations
    assert done == {0.3: 200, 0.96: 1000}[share]
    assert (read_search(tmp_path / "repertoire.h5") is None) == (share == 0.96)
    before = json.loads((tmp_path / "costs.json").read_text())["times"][str(done)]
    reported: list[float] = []
    result = stopped.run(tmp_path, reported.append)
    assert_same(result, expected)
    check_seconds(result)
    assert reported[0] > share - 0.15
    for name, spent in zip(TIMES, before, strict=True):  # the times of all parts are added
        assert getattr(result, name) >= spent
    assert before[TIMES.index("seconds")] > before[TIMES.index("evaluation_seconds")] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluations": 600}, "evaluations 1000"),
        ({"seed": 2}, "seed "),
        ({"episode_steps": 20}, "episode_steps 30"),
        ({"settings": {"learning_rate": 0.1}}, "learning_rate 0.001"),
        ({"method": "map-elites"}, "algorithm sep-cma-mae"),
    ],
)
def test_the_folder_of_another_run_is_refused(uninterrupted, home, changes, words):
    message = rf"holds another run \({words}.*\): remove it to run the trial again"
    with pytest.raises(InvalidFileError, match=message):
        replace(uninterrupted[0], **changes).run(home, silent)
