"""Studies: results depend on nothing but the settings, and finished trials are neither lost nor run again."""

import json
import multiprocessing
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from robots.errors import InUseError, InvalidFileError, InvalidValueError, SurefootError, UnknownNameError
from robots.files.locks import locked
from suites.paper.published import published_study
from suites.paper.results import read_trial, write_trial
from suites.paper.suite import paper_suite
from suites.study import Study, StudyProgress, keep_identity, run_trial
from tests.suites.paper.made_studies import assert_same, benchmark_settings, robot_settings, silent

OPTIMIZATION, LOCOMOTION, ABLATION = map(published_study, ("optimization", "locomotion", "ablation"))
ALGORITHMS, DOMAINS = ("sep-cma-mae", "map-elites-line"), ("sphere-10", "arm-10")
IDENTITY = {"study": "small", "seed": 1, "evaluations": {"hopper": 400}}


def files(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("[!.]*.h5")}


def assert_all_same(actual, expected) -> None:
    """The same results except for times, in whatever order."""
    both = [sorted(results, key=lambda one: one.key) for results in (actual, expected)]
    for found, wanted in zip(*both, strict=True):
        assert_same(found, wanted)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Study:
    """A study of two processes."""
    study = Study(benchmark_settings(), tmp_path_factory.mktemp("finished") / "new" / "study")
    study.run(processes=2)
    return study


@pytest.fixture
def copy(finished, tmp_path):
    """The folder of a finished study, to change as a test likes."""
    return shutil.copytree(finished.folder, tmp_path / "copy")


@pytest.fixture
def in_process(monkeypatch):
    """Runs trials one after the other in this process, which saves the start of others, and lists them."""
    ran = []

    def run(study: Study, trials, _processes, progress, on_progress) -> None:
        for trial in trials:
            ran.append(trial)
            progress.finish(trial.key, run_trial(study.suite, study.folder, trial, silent))
            on_progress(progress)

    monkeypatch.setattr(Study, "_run", run)
    return ran


def test_results_are_those_of_the_trials_run_alone_in_their_order(finished):
    assert_all_same(finished.results(), [trial.run(finished.folder, silent) for trial in finished.trials])
    keys = [one.key for one in finished.results()]
    assert keys == [trial.key for trial in finished.trials]
    assert keys[:4] == [(domain, algorithm, 0) for domain in DOMAINS for algorithm in ALGORITHMS]
    assert len({one.seed for one in finished.results()}) == 8


def test_the_folder_says_what_the_study_is(finished):
    found = written(finished.folder)
    assert found == {"study": "small", "seed": 1, "evaluations": dict.fromkeys(DOMAINS, 2000)}
    names = {f"trials/{d}/{a}-{t:02d}.h5" for d in DOMAINS for a in ALGORITHMS for t in range(2)}
    assert files(finished.folder).keys() == names


def test_only_what_is_missing_is_run(finished, copy, in_process):
    before = files(copy)
    study = Study(benchmark_settings(), copy)
    study.run(processes=2)
    assert (files(copy), in_process) == (before, [])
    (copy / "trials" / "arm-10" / "map-elites-line-01.h5").unlink()
    assert len(study.results()) == 7
    study.run(processes=1)
    assert [trial.key for trial in in_process] == [("arm-10", "map-elites-line", 1)]
    assert_all_same(study.results(), finished.results())


def test_one_process_at_a_time_runs_a_study(copy, in_process):
    study = Study(benchmark_settings(), copy)
    study.path_of(study.trials[2]).unlink()
    with locked(copy / "study.json"), pytest.raises(InUseError):
        study.run(processes=1)
    assert not in_process
    assert len(study.all_results()) == 7, "what is finished can be read meanwhile"


def test_a_trial_whose_result_another_one_needs_is_run_once(copy):
    study = Study(benchmark_settings(), copy)
    trial, ran = study.trials[2], []
    study.path_of(trial).unlink()
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(run_trial, study.suite, copy, trial, ran.append) for _ in range(2)]
    assert len({one.result().seed for one in both}) == 1
    assert ran.count(0.0) == 1


@pytest.mark.parametrize("other", ["sphere-10/sep-cma-mae-01.h5", "arm-10/sep-cma-mae-00.h5", "seed"])
def test_the_file_of_another_trial_is_not_taken_for_this_one(copy, other):
    path = copy / "trials" / "sphere-10" / "sep-cma-mae-00.h5"
    if other == "seed":
        write_trial(path, read_trial(path).model_copy(update={"seed": 5}))
    else:
        shutil.copy(copy / "trials" / other, path)
    with pytest.raises(InvalidFileError, match=rf"^{re.escape(str(path))} holds another trial: remove it"):
        Study(benchmark_settings(), copy).all_results()


def test_a_process_that_dies_ends_in_one_sentence_and_finished_trials_are_kept(tmp_path):
    study = Study(benchmark_settings(evaluations={"sphere-10": 40_000}, trials=8), tmp_path)

    def kill(progress: StudyProgress) -> None:
        if progress.ended:
            for process in multiprocessing.active_children():
                process.kill()  # unlike `os.kill` it minds that the process may have ended

    with pytest.raises(SurefootError, match=r"^a worker process died.*: finished trials are saved"):
        study.run(processes=1, on_progress=kill)
    assert 1 <= len(study.results()) < 16
    # Until the thread of the pool, which waits for it too, has the interpreter again, the process is listed.
    deadline = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not multiprocessing.active_children()


def test_by_default_they_are_the_papers():
    for paper, count in ((OPTIMIZATION, 5 * 4), (LOCOMOTION, 4 * 8), (ABLATION, 4 * 5)):
        plan = paper_suite(paper).plan()
        assert len(plan) == 10 * count
        assert tuple(dict.fromkeys(trial.domain for trial in plan)) == paper.domains
        assert {trial.algorithm for trial in plan} <= set(paper.algorithms)
        assert {trial.evaluations for trial in plan} == {paper.evaluations}
        episodes = (0, None) if paper is OPTIMIZATION else (10, 1000)
        assert {(trial.episodes, trial.episode_steps) for trial in plan} == {episodes}
    assert {trial.method for trial in paper_suite(ABLATION).plan()} == {"sep-cma-mae"}
    names = [one.name for one in paper_suite(LOCOMOTION).variants]
    deep = ["pga-me", "cma-mega-es", "cma-mega-td3-es"]
    assert names == ["lm-ma-mae", "sep-cma-mae", "openai-mae", *deep, "me-es", "map-elites"]


def test_options_reach_the_algorithms_that_have_them():
    settings = paper_suite(OPTIMIZATION, options={"rank_one": "published"})
    found = {trial.algorithm: trial.settings for trial in settings.plan()}
    published = {"rule": "batch", "rank_one": "published"}
    assert found["cma-mae"] == found["sep-cma-mae"] == published
    assert found["lm-ma-mae"] == found["openai-mae"] == {"rule": "batch"}
    assert settings.identity()["rank_one"] == "published"
    assert "rank_one" not in paper_suite(OPTIMIZATION).identity()


def test_evaluations_are_those_of_the_domain_or_of_all():
    settings = paper_suite(LOCOMOTION, domains=["hopper", "walker"], evaluations={"": 5, "walker": 7})
    assert settings.evaluations == {"hopper": 5, "walker": 7}
    with pytest.raises(InvalidValueError, match="given for ant, which is not among hopper"):
        paper_suite(LOCOMOTION, domains=["hopper"], evaluations={"ant": 7})


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (robot_settings(evaluations={"hoper": 400}), UnknownNameError, "unknown robot 'hoper'"),
        (robot_settings(episodes=10_001), InvalidValueError, "episodes must be a whole number"),
        (benchmark_settings(evaluations={"leg-12": 9}), UnknownNameError, "unknown problem 'leg-12'"),
    ],
)
def test_what_cannot_be_run_is_found_before_anything_is(settings, error, message):
    with pytest.raises(error, match=message):
        settings.check()


@pytest.mark.parametrize(("trials", "cores", "expected"), [(1, 2, (1, 2)), (1, 4, (4, 1)), (2, 4, (1, 4))])
def test_trials_share_the_cores(trials, cores, expected):
    settings, processes = robot_settings(trials=trials).share_cores(cores)
    assert (settings.backend.threads, processes) == expected


def test_a_study_with_robots_keeps_results_for_committing(tmp_path, in_process):
    study = Study(robot_settings(), tmp_path)
    study.run(processes=1)
    trials = tmp_path / "trials"
    assert (trials / ".gitignore").read_text().splitlines()[1:] == ["*/*/", ".*.lock"]
    names = {f"hopper/{name}-00{suffix}" for name in ("map-elites", "sep-cma-mae") for suffix in ("", ".h5")}
    assert {str(path.relative_to(trials)) for path in trials.glob("*/*")} == names
    assert all(path.stat().st_size < 20_000 for path in trials.glob("*/*.h5"))
    other = Study(robot_settings(evaluations={"walker": 200}), tmp_path)
    assert (len(other.results()), len(other.all_results()), len(other.remaining())) == (0, 2, 2)
    keep_identity(tmp_path, other.suite.identity())
    found = written(tmp_path)
    assert found["evaluations"] == {"hopper": 400, "walker": 200}
    assert (found["episodes"], found["episode_steps"]) == (2, {"hopper": 30, "walker": 30})
    assert found["min_objective"].keys() == {"hopper", "walker"}


def written(folder) -> dict:
    return json.loads((folder / "study.json").read_text())


def test_a_folder_may_gain_entries(tmp_path):
    keep_identity(tmp_path, IDENTITY)
    assert written(tmp_path) == IDENTITY
    keep_identity(tmp_path, {**IDENTITY, "evaluations": {"ant": 200}})
    keep_identity(tmp_path, {**IDENTITY, "evaluations": {"hopper": 400, "walker": 100}})
    assert written(tmp_path)["evaluations"] == {"hopper": 400, "ant": 200, "walker": 100}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluations": {"ant": 200, "hopper": 600}}, "evaluations (ant 200, hopper 600)"),
        ({"episodes": 5}, "evaluations (hopper 400), episodes 5"),
    ],
)
def test_another_study_is_refused(tmp_path, changes, words):
    keep_identity(tmp_path, IDENTITY)
    message = f"(hopper 400)), not this one (study small, seed 1, {words}): choose another folder"
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        keep_identity(tmp_path, {**IDENTITY, **changes})
    assert written(tmp_path) == IDENTITY
