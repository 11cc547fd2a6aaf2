"""Studies: results depend on nothing but settings, and what is finished is never lost nor run again."""

import json
import math
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import make_result

from repertoire.suites import study as study_module
from repertoire.suites import workers as workers_module
from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.progress import StudyProgress
from repertoire.suites.results import TrialResult
from repertoire.suites.runner import TrialPlan, run_trial
from repertoire.suites.study import Study, StudySettings
from repertoire.suites.workers import Workers
from robots.errors import InvalidFileError, InvalidValueError, SurefootError

ALGORITHMS, DOMAINS = ("sep-cma-mae", "map-elites-line"), ("sphere-10", "arm-10")
TIMES = {"seconds", "cpu_seconds", "search_seconds", "evaluation_seconds"}


def settings(**changes: Any) -> StudySettings:
    defaults = {"name": "small", "algorithms": ALGORITHMS, "domains": DOMAINS, "trials": 2}
    return StudySettings(**{**defaults, "evaluations": 2000, "seed": 1, **changes})


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("[!.]*.h5")}


def assert_same(actual: Iterable[TrialResult], expected: Iterable[TrialResult]) -> None:
    """The same results but for times, in whatever order."""
    both = [
        sorted(results, key=lambda one: (one.domain, one.algorithm, one.trial))
        for results in (actual, expected)
    ]
    for found, wanted in zip(*both, strict=True):
        for name, value in vars(wanted).items():
            if name not in TIMES:
                np.testing.assert_equal(vars(found)[name], value, err_msg=name)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Study, list[StudyProgress]]:
    """A study of two processes, and what it told of its progress: trials, finished, done, seconds left."""
    study, told = Study(settings(), tmp_path_factory.mktemp("finished") / "new" / "study"), []
    study.run(
        processes=2,
        on_progress=lambda p: told.append((p.trials, p.finished, p.done, p.seconds_left(), p.last)),
    )
    return study, told


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    """The folder of a finished study, to do with as a test likes."""
    return shutil.copytree(finished[0].folder, tmp_path / "copy")


@pytest.fixture
def no_processes(monkeypatch) -> None:
    """Fails a test in which a trial is run."""
    monkeypatch.setattr(study_module, "Workers", None)


@pytest.fixture
def in_process(monkeypatch) -> list[TrialPlan]:
    """Runs trials one after the other in this process, which saves the start of others, and lists them."""
    ran: list[TrialPlan] = []

    class InProcess:
        def __init__(self, processes: int) -> None:
            pass

        def run(self, plans, save, progress, on_progress) -> None:
            for plan in plans:
                ran.append(plan)
                result = run_trial(plan)
                save(result)
                progress.finish(result)
                on_progress(progress)

    monkeypatch.setattr(study_module, "Workers", InProcess)
    return ran


def test_the_results_are_those_of_the_trials_run_alone(finished):
    study, _ = finished
    assert_same(study.results(), [run_trial(plan) for plan in settings().plans()])


def test_results_come_in_the_order_of_the_plans(finished):
    keys = [(one.domain, one.algorithm, one.trial) for one in finished[0].results()]
    assert keys == [plan.key for plan in settings().plans()]
    assert keys[:4] == [(domain, algorithm, 0) for domain in DOMAINS for algorithm in ALGORITHMS]


def test_order_and_company_of_trials_change_nothing(finished, tmp_path, in_process):
    reversed_ = settings(algorithms=ALGORITHMS[::-1], domains=DOMAINS[::-1], trials=1)
    other = Study(reversed_, tmp_path / "other")
    other.run(processes=1)
    assert_same(other.results(), [one for one in finished[0].results() if one.trial == 0])


def test_every_trial_has_a_seed_of_its_own(finished):
    results = finished[0].results()
    assert len({one.seed for one in results}) == len(results) == 8
    assert len({one.qd_score for one in results}) == 8


def test_the_folder_says_what_the_study_is(finished):
    study, _ = finished
    assert json.loads((study.folder / "study.json").read_text()) == {
        "study": "small",
        "evaluations": 2000,
        "seed": 1,
    }
    names = {f"trials/{d}/{a}-{t:02d}.h5" for d in DOMAINS for a in ALGORITHMS for t in range(2)}
    assert files(study.folder).keys() == names


def test_progress_is_told_of_every_trial(finished):
    _, told = finished
    trials, counts, done, left, last = zip(*told, strict=True)
    assert set(trials) == {8}
    assert sorted(set(counts) | {0}) == list(range(9))
    assert list(counts) == sorted(counts)
    assert all(count <= share <= 8 for count, share in zip(counts, done, strict=True))
    assert all(math.isnan(seconds) or 0 <= seconds < 600 for seconds in left)
    assert (done[-1], left[-1]) == (8, 0)
    assert len({(one.domain, one.algorithm, one.trial) for one in last if one}) == 8


@pytest.mark.usefixtures("no_processes")
def test_a_finished_trial_is_never_run_again(finished, copy):
    before, told = files(copy), []
    study = Study(settings(), copy)
    study.run(processes=2, on_progress=told.append)
    assert files(copy) == before
    assert told == []
    assert_same(study.results(), finished[0].results())


def test_only_what_is_missing_is_run(finished, copy, in_process):
    missing = copy / "trials" / "arm-10" / "map-elites-line-01.h5"
    missing.unlink()
    before, told = files(copy), []
    study = Study(settings(), copy)
    assert len(study.results()) == 7
    study.run(processes=1, on_progress=lambda progress: told.append((progress.finished, progress.trials)))
    assert [plan.key for plan in in_process] == [("arm-10", "map-elites-line", 1)]
    assert told == [(8, 8)]
    assert files(copy).items() > before.items()
    assert_same(study.results(), finished[0].results())


def test_a_study_can_be_extended(finished, copy, in_process):
    before = files(copy)
    study = Study(settings(algorithms=(*ALGORITHMS, "cma-me"), domains=DOMAINS[:1], trials=3), copy)
    assert len(study.results()) == 4
    study.run(processes=1)
    ran = {plan.key for plan in in_process}
    new = {("sphere-10", algorithm, 2) for algorithm in ALGORITHMS}
    assert ran == new | {("sphere-10", "cma-me", trial) for trial in range(3)}
    assert files(copy).items() >= before.items()
    assert_same(Study(settings(), copy).results(), finished[0].results())


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"evaluations": 4000}, "study small, evaluations 4000, seed 1"),
        ({"seed": 2}, "study small, evaluations 2000, seed 2"),
        ({"name": "large"}, "study large, evaluations 2000, seed 1"),
    ],
)
def test_a_folder_of_another_study_is_refused(copy, changes, what):
    before = files(copy)
    message = (
        rf"^{re.escape(str(copy))} holds another study \(study small, evaluations 2000, seed 1\), "
        rf"not this one \({what}\): choose another folder with --out$"
    )
    with pytest.raises(InvalidValueError, match=message):
        Study(settings(**changes), copy)
    assert files(copy) == before


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 10**5])
def test_a_damaged_study_file_is_named(copy, text):
    (copy / "study.json").write_bytes(text)
    with pytest.raises(InvalidFileError, match=r"study\.json does not describe a study \("):
        Study(settings(), copy)


def test_what_cannot_be_read_is_named(copy):
    (copy / "study.json").unlink()
    (copy / "study.json").mkdir()
    with pytest.raises(InvalidFileError, match=r"study\.json cannot be read: Is a directory$"):
        Study(settings(), copy)


@pytest.mark.parametrize("text", ["3", "null", "[]", "{}", '{"study": "small"}'])
def test_a_study_file_of_something_else_is_refused(copy, text):
    (copy / "study.json").write_text(text)
    with pytest.raises(InvalidValueError, match="holds another study"):
        Study(settings(), copy)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFileError, match="cannot make the folder"):
        Study(settings(), tmp_path / "file" / "study")


@pytest.mark.usefixtures("no_processes")
def test_a_damaged_trial_is_named_before_anything_is_run(copy):
    damaged = copy / "trials" / "sphere-10" / "sep-cma-mae-01.h5"
    damaged.write_bytes(damaged.read_bytes()[:-10])
    (copy / "trials" / "arm-10" / "sep-cma-mae-00.h5").unlink()
    study = Study(settings(), copy)
    for read in (study.results, lambda: study.run(processes=1)):
        with pytest.raises(InvalidFileError, match=rf"^{re.escape(str(damaged))} is damaged or incomplete"):
            read()


@pytest.mark.parametrize("other", ["sphere-10/sep-cma-mae-01.h5", "arm-10/sep-cma-mae-00.h5"])
def test_the_file_of_another_trial_is_not_taken_for_this_one(copy, other):
    path = copy / "trials" / "sphere-10" / "sep-cma-mae-00.h5"
    shutil.copy(copy / "trials" / other, path)
    with pytest.raises(InvalidFileError, match=rf"^{re.escape(str(path))} holds another trial: remove it"):
        Study(settings(), copy).results()


def test_a_process_that_dies_ends_in_one_sentence_and_finished_trials_are_kept(tmp_path):
    study = Study(settings(domains=("sphere-10",), evaluations=40_000, trials=8), tmp_path)
    finished_before = []

    def kill(progress: StudyProgress) -> None:
        if progress.finished:
            finished_before.append(progress.finished)
            for process in multiprocessing.active_children():
                os.kill(process.pid, signal.SIGKILL)

    with pytest.raises(SurefootError, match=r"^a trial's process died, perhaps for want of memory; finished"):
        study.run(processes=1, on_progress=kill)
    assert 1 <= len(study.results()) < 16
    for process in multiprocessing.active_children():
        process.join(10)
    assert not multiprocessing.active_children()


def test_a_trial_of_another_seed_is_not_taken_for_this_one(copy):
    path = copy / "trials" / "sphere-10" / "sep-cma-mae-00.h5"
    write_trial(path, replace(read_trial(path), seed=5))
    with pytest.raises(InvalidFileError, match="holds another trial: remove it, and it is run again"):
        Study(settings(), copy).results()


class Ready:
    """A future that is done."""

    def __init__(self, outcome: TrialResult | Exception) -> None:
        self.outcome = outcome

    def exception(self) -> Exception | None:
        return self.outcome if isinstance(self.outcome, Exception) else None

    def result(self) -> TrialResult:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def test_what_finishes_beside_a_failure_is_kept(tmp_path, monkeypatch):
    plans = settings(trials=4).plans()
    outcomes = [make_result(*plan.key) if i % 2 else InvalidValueError("no") for i, plan in enumerate(plans)]
    workers = Workers(1)
    ready = {plan: Ready(outcome) for plan, outcome in zip(plans, outcomes, strict=True)}
    monkeypatch.setattr(workers._pool, "submit", lambda _, plan: ready[plan])
    monkeypatch.setattr(workers_module, "wait", lambda pending, **_: (pending, set()))
    saved: list[TrialResult] = []
    with pytest.raises(InvalidValueError, match=r"^no$"):
        workers.run(plans, saved.append, StudyProgress(plans, 1), lambda _: None)
    assert len(saved) == 8


COMMAND = ["suite", "optimization", "--algorithms", "openai-mae,sep-cma-mae", "--domains", "sphere-10"]
COMMAND += ["--trials", "2", "--evaluations", "60000", "--processes", "1"]


def test_ctrl_c_keeps_finished_trials_and_the_same_command_goes_on(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "surefoot", *COMMAND, "--out", str(tmp_path / "study")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not files(tmp_path):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to its processes too
    output, complaints = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Finished trials are kept: go on with the same command." in output
    assert complaints.strip().startswith("surefoot: interrupted")
    assert len(complaints.strip().splitlines()) == 1
    kept = files(tmp_path)
    assert 1 <= len(kept) < 4
    assert not list(tmp_path.rglob("*.partial*"))
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    assert len(files(tmp_path)) == 4
    assert files(tmp_path).items() > kept.items()
    assert again.stdout.count(" trial ") == 4 - len(kept)
    assert (tmp_path / "study" / "report.md").exists()


# Progress


def progress(*, trials: int, processes: int, finished: int = 0, seconds: float = 10.0) -> StudyProgress:
    """Of a study of one algorithm in one domain."""
    plans = [TrialPlan("sphere-10", "cma-mae", trial, 1000, 1) for trial in range(trials)]
    progress = StudyProgress(plans, processes)
    for trial in range(finished):
        progress.finish(make_result("sphere-10", "cma-mae", trial, seconds=seconds))
    return progress


def test_time_left_is_not_known_before_anything_is():
    assert math.isnan(progress(trials=4, processes=2).seconds_left())


@pytest.mark.parametrize(
    ("trials", "finished", "processes", "expected"),
    [(4, 1, 1, 30), (4, 2, 1, 20), (5, 1, 2, 20), (5, 4, 8, 10), (4, 4, 2, 0), (1, 1, 1, 0)],
)
def test_time_left_follows_from_finished_trials(trials, finished, processes, expected):
    assert progress(trials=trials, processes=processes, finished=finished).seconds_left() == expected


def test_time_left_counts_what_is_done_of_trials_under_way():
    p = progress(trials=5, processes=2, finished=1)
    p.hear(("sphere-10", "cma-mae", 1), 0.5)
    p.hear(("sphere-10", "cma-mae", 2), 0.9)
    assert p.seconds_left() == pytest.approx((5 + 1 + 20) / 2)
    assert p.done == pytest.approx(2.4)


def test_time_left_is_estimated_from_a_trial_under_way():
    p = progress(trials=2, processes=1)
    p.hear(("sphere-10", "cma-mae", 0), 0.0)
    assert math.isnan(p.seconds_left())
    p.began["sphere-10", "cma-mae", 0] -= 30
    p.hear(("sphere-10", "cma-mae", 0), 0.25)
    assert p.seconds_left() == pytest.approx((0.75 + 1) * 120, rel=0.01)


def test_time_left_is_known_only_when_it_is_for_all():
    p = progress(trials=2, processes=1, finished=1)
    p.plans = [*p.plans, TrialPlan("arm-10", "cma-mae", 0, 1000, 1)]
    assert math.isnan(p.seconds_left())
    p.finish(make_result("arm-10", "cma-mae", 0, seconds=7.0))
    assert p.seconds_left() == 10


def test_what_a_trial_said_before_it_finished_may_come_after():
    p = progress(trials=2, processes=1, finished=1)
    p.hear(("sphere-10", "cma-mae", 0), 0.8)
    assert (p.done, p.finished) == (1, 1)


def test_what_is_read_is_what_was_written(finished, tmp_path):
    for result in finished[0].results():
        write_trial(tmp_path / "a.h5", result)
        assert_same([read_trial(tmp_path / "a.h5")], [result])
