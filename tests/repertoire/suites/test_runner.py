"""One trial: what it runs, with which settings, and what it leaves behind."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from repertoire.algorithms import ALGORITHMS
from repertoire.archives.grid import GridArchive
from repertoire.problems.catalogue import make_problem
from repertoire.suites.results import TrialResult
from repertoire.suites.runner import TrialPlan, make_training, run_trial
from robots.errors import InvalidValueError, UnknownNameError

TIMES = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds")
PLAN = TrialPlan("sphere-10", "sep-cma-mae", trial=0, evaluations=2000, study_seed=1)


def assert_same_but_for_times(actual: TrialResult, expected: TrialResult) -> None:
    for field in dataclasses.fields(TrialResult):
        if field.name not in TIMES:
            found, wanted = getattr(actual, field.name), getattr(expected, field.name)
            np.testing.assert_equal(found, wanted, err_msg=field.name)


@pytest.fixture(scope="module")
def result() -> TrialResult:
    return run_trial(PLAN)


def test_a_trial_is_a_function_of_its_plan(result):
    assert_same_but_for_times(run_trial(PLAN), result)


def test_warming_up_leaves_no_trace(result):
    problem = make_problem("sphere-10")
    search = make_training(PLAN).search
    for _ in range(10):
        search.tell(problem.evaluate(search.ask(), np.zeros(200, np.int64)))
    elites = search.result.elites()
    np.testing.assert_array_equal(result.objectives.ravel()[elites.cells], np.float32(elites.objectives))
    assert np.count_nonzero(~np.isnan(result.objectives)) == len(elites)


def test_a_result_says_what_it_is_of(result):
    assert (result.domain, result.algorithm, result.trial, result.seed) == (*PLAN.key, PLAN.seed)
    assert result.machine


def test_scores_are_those_of_the_final_archive(result):
    assert result.objectives.dtype == np.float32
    assert result.objectives.shape == (100, 100)
    elites = result.objectives[~np.isnan(result.objectives)]
    assert result.coverage == len(elites) / 10_000
    assert result.qd_score == pytest.approx(elites.sum(dtype=np.float64), rel=1e-6)
    assert result.best == pytest.approx(elites.max(), rel=1e-6)


def test_the_history_ends_with_the_result(result):
    history = result.history
    assert set(history) == {"evaluations", "qd_score", "coverage", "best"}
    assert history["evaluations"].tolist() == list(range(200, 2001, 200))
    assert result.evaluations == 2000
    for name in ("qd_score", "coverage", "best"):
        assert (np.diff(history[name]) >= 0).all()
        assert history[name][-1] == getattr(result, name)


def test_times_are_parts_of_each_other(result):
    assert result.search_seconds > 0
    assert result.evaluation_seconds > 0
    assert result.search_seconds + result.evaluation_seconds <= result.cpu_seconds * 1.05
    assert result.cpu_seconds <= result.seconds * 1.05


def test_memory_is_at_least_that_of_both_archives(result):
    assert result.search_bytes > 2 * 10_000 * 10 * 4


def test_progress_counts_up_to_the_end():
    seen = []
    run_trial(PLAN, on_progress=seen.append)
    assert sorted(set(seen)) == list(range(200, 2001, 200))


@pytest.mark.parametrize(("evaluations", "done"), [(1, 200), (200, 200), (201, 400)])
def test_evaluations_are_rounded_up_to_whole_batches(evaluations, done):
    result = run_trial(dataclasses.replace(PLAN, evaluations=evaluations))
    assert result.evaluations == result.history["evaluations"][-1] == done


@pytest.mark.parametrize("batches", [1, 2, 7, 99, 100, 101, 250])
def test_at_most_a_hundred_rows_are_recorded_evenly(batches):
    result = run_trial(dataclasses.replace(PLAN, evaluations=200 * batches))
    rows = result.history["evaluations"] // 200
    assert len(rows) == min(batches, 100)
    assert rows[-1] == batches
    gaps = np.diff([0, *rows])
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize(
    ("algorithm", "domain"), [*product(ALGORITHMS, ["sphere-10", "arm-10"]), ("sep-cma-mae", "maze")]
)
def test_every_algorithm_runs_in_every_domain(algorithm, domain):
    result = run_trial(TrialPlan(domain, algorithm, 0, 600, 1))
    batch = make_training(TrialPlan(domain, algorithm, 0, 600, 1)).search.batch_size
    assert 600 <= result.evaluations < 600 + max(batch, 15 * 35)
    assert result.history["evaluations"][-1] == result.evaluations
    assert 0 < result.coverage < (0.2 if "ega" in algorithm else 0.05)
    assert 50 < result.best <= 100


def test_batches_of_several_sizes_are_counted_as_they_are():
    result = run_trial(TrialPlan("sphere-10", "cma-mega", 0, 100, 1))
    assert result.history["evaluations"].tolist() == [1, 36, 37, 72, 73, 108]


def test_seeds_differ_among_trials_algorithms_domains_and_studies():
    plans = [
        TrialPlan(domain, algorithm, trial, 1000, seed)
        for domain in ("sphere-10", "sphere-100", "arm-10")
        for algorithm in ALGORITHMS
        for trial in range(20)
        for seed in (1, 2)
    ]
    assert len({plan.seed for plan in plans}) == len(plans)
    assert TrialPlan("sphere-10", "cma-mae", 0, 5, 1).seed == TrialPlan("sphere-10", "cma-mae", 0, 9, 1).seed


@pytest.mark.parametrize("algorithm", ["cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae"])
def test_settings_are_those_of_the_paper(algorithm):
    settings = make_training(TrialPlan("arm-10", algorithm, 0, 1000, 1)).settings
    assert (settings.emitters, settings.search["batch_size"], settings.search["sigma0"]) == (5, 40, 0.02)
    assert (str(settings.archive), settings.min_objective) == ("100,100", 0)
    assert (settings.learning_rate, settings.search["rule"]) == (0.001, "batch")


def test_the_problems_learning_rate_holds_unless_the_algorithm_has_its_own():
    rates = {
        name: make_training(TrialPlan("maze", name, 0, 9, 1)).settings
        for name in ALGORITHMS
        if "ega" not in name
    }
    for name, settings in rates.items():
        default = 0.01 if ALGORITHMS[name].annealed else 1.0
        assert settings.learning_rate == ALGORITHMS[name].fixed.get("learning_rate", default)
    assert rates["cma-mae"].learning_rate == 0.01


def test_the_search_is_over_the_problems_own_measures():
    search = make_training(PLAN).search
    assert isinstance(search.result, GridArchive)
    assert search.result.ranges == make_problem("sphere-10").measure_ranges
    assert search.batch_size == 200


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"domain": "cube-10"}, UnknownNameError, "unknown problem 'cube-10'"),
        ({"algorithm": "cma"}, UnknownNameError, "unknown algorithm 'cma'"),
        ({"domain": "sphere-1"}, InvalidValueError, "sphere must have 2 to 1,000,000 parameters, not 1"),
        ({"evaluations": 0}, InvalidValueError, "evaluations: .*greater than 0, not 0"),
        ({"domain": "arm-100000", "algorithm": "cma-es"}, InvalidValueError, "5 emitters of cma-es need"),
    ],
)
def test_impossible_plans_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        run_trial(dataclasses.replace(PLAN, **changes))
