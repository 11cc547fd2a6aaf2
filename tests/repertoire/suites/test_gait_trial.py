"""A trial that trains a robot: its result depends on the plan alone, and it goes on where it was stopped."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gaits import TIMES, small_settings

from repertoire.evaluation import Evaluation
from repertoire.metrics import measure_objectives
from repertoire.storage.repertoires import read_repertoire, read_search
from repertoire.suites import gait_trial
from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.gait_trial import GaitPlan
from repertoire.suites.results import TrialResult
from robots.errors import InvalidFileError


class KilledError(BaseException):
    """What ends a process is no ordinary exception."""


def plan(folder: Path, **changes) -> GaitPlan:
    return replace(small_settings(folder, evaluations={"hopper": 1000}).plans()[0], **changes)


def silence(_: float) -> None:
    """Listens to no progress."""


def killed_at(share: float) -> Callable[[float], None]:
    """Ends a trial that tells of so much progress."""

    def kill(done: float) -> None:
        if done >= share:
            raise KilledError

    return kill


def assert_same(actual: TrialResult, expected: TrialResult, *but_for: str) -> None:
    for name, value in vars(expected).items():
        if name not in TIMES.union(but_for):
            np.testing.assert_equal(vars(actual)[name], value, err_msg=name)


@pytest.fixture(autouse=True)
def _checkpoints_after_every_batch(monkeypatch):
    monkeypatch.setattr(gait_trial, "_CHECKPOINT_SECONDS", 0.0)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> tuple[GaitPlan, TrialResult, list[float]]:
    told: list[float] = []
    whole = plan(tmp_path_factory.mktemp("whole"))
    return whole, whole.run(told.append), told


def test_a_result_says_what_it_is_of(uninterrupted):
    whole, result, _ = uninterrupted
    assert (result.domain, result.algorithm, result.trial, result.seed) == (*whole.key, whole.seed)
    assert (result.evaluations, result.episode_steps, result.episodes, result.threads) == (1000, 30, 2, 1)
    assert (result.learning_rate, result.restarts, result.left_out) == (0.001, 0, 0)
    assert "mujoco" in result.versions


def test_metrics_are_those_of_the_repertoires_beside_it(uninterrupted):
    whole, result, _ = uninterrupted
    trained, corrected = (read_repertoire(whole.folder / name) for name in ("repertoire.h5", "corrected.h5"))
    raw = trained.metrics
    assert (result.raw_qd_score, result.raw_coverage, result.raw_best) == (
        raw.qd_score,
        raw.coverage,
        raw.best,
    )
    assert corrected.spread is not None
    assert corrected.spread.episodes == 2
    objectives = result.objectives[np.isfinite(result.objectives)]
    again = measure_objectives(objectives, cells=1024, min_objective=result.min_objective)
    assert result.qd_score == pytest.approx(again.qd_score, rel=1e-6)
    assert (result.coverage, result.best) == (again.coverage, pytest.approx(again.best))
    assert 0 < result.coverage <= result.raw_coverage


def test_the_history_is_that_of_training(uninterrupted):
    _, result, _ = uninterrupted
    assert result.history["evaluations"].tolist() == [200, 400, 600, 800, 1000]
    assert result.history["qd_score"][-1] == result.raw_qd_score
    assert 1000 <= result.steps <= 1000 * 30


def test_progress_grows_to_the_end(uninterrupted):
    _, _, told = uninterrupted
    assert told == sorted(told)
    assert 0 < told[0] < 0.1
    assert told[-1] == 1


def test_times_are_parts_of_each_other(uninterrupted):
    _, result, _ = uninterrupted
    parts = result.search_seconds + result.evaluation_seconds + result.saving_seconds
    assert 0 < parts <= result.seconds * 1.01
    assert result.cpu_seconds > 0
    assert result.search_bytes > 2 * 1024 * 18_947 * 4


@pytest.mark.parametrize("share", [0.3, 0.7, 0.96])
def test_a_trial_that_was_killed_goes_on_bit_for_bit(uninterrupted, tmp_path, share):
    _, expected, _ = uninterrupted
    stopped = plan(tmp_path / "trial")
    with pytest.raises(KilledError):
        stopped.run(killed_at(share))
    done = read_repertoire(stopped.folder / "repertoire.h5").history["evaluations"][-1]
    assert done == {0.3: 200, 0.7: 600, 0.96: 1000}[share]
    assert (read_search(stopped.folder / "repertoire.h5") is None) == (share == 0.96)
    told: list[float] = []
    assert_same(stopped.run(told.append), expected)
    assert told[0] > share - 0.15


def test_the_time_of_all_parts_counts(tmp_path, monkeypatch):
    stopped = plan(tmp_path / "trial")
    with pytest.raises(KilledError):
        stopped.run(killed_at(0.7))
    costs = gait_trial.read_costs(stopped.folder / "costs.json", 600)
    result = stopped.run(silence)
    for name in TIMES:
        assert getattr(result, name) > getattr(costs, name) > 0


def test_a_trial_that_is_done_is_not_done_again(uninterrupted, monkeypatch):
    whole, expected, _ = uninterrupted
    monkeypatch.setattr(GaitPlan, "_train", None)
    monkeypatch.setattr(Evaluation, "step", None)
    again = whole.run(silence)
    assert_same(again, expected)
    assert all(getattr(again, name) == getattr(expected, name) for name in TIMES)


def test_threads_change_nothing(uninterrupted, tmp_path):
    _, expected, _ = uninterrupted
    assert_same(plan(tmp_path / "trial", threads=2).run(silence), expected, "threads")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluations": 600}, "evaluations 1000"),
        ({"study_seed": 2}, "seed "),
        ({"episode_steps": 20}, "episode_steps 30"),
        ({"learning_rate": 0.1}, "learning_rate 0.001"),
        ({"method": "map-elites"}, "algorithm sep-cma-mae"),
        ({"domain": "walker"}, "problem hopper, seed "),
    ],
)
def test_the_folder_of_another_run_is_refused(uninterrupted, changes, words):
    whole, _, _ = uninterrupted
    with pytest.raises(
        InvalidFileError, match=rf"holds another run \({words}.*\): remove it to run the trial"
    ):
        replace(whole, **changes).run(silence)


def test_a_learning_rate_of_its_own_is_used(tmp_path):
    changed = plan(tmp_path, algorithm="alpha-1", learning_rate=1.0)
    result = changed.run(silence)
    assert (result.algorithm, result.learning_rate) == ("alpha-1", 1.0)
    assert read_repertoire(changed.folder / "repertoire.h5").settings.algorithm == "sep-cma-mae"


def test_a_result_comes_back_from_its_file_exactly(uninterrupted, tmp_path):
    _, result, _ = uninterrupted
    write_trial(tmp_path / "trial.h5", result)
    found = read_trial(tmp_path / "trial.h5")
    for name, value in vars(result).items():
        np.testing.assert_equal(vars(found)[name], value, err_msg=name)
