"""Running one trial of a study, with a clock on each of its parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from repertoire.algorithms import find_algorithm
from repertoire.machine import processor_name
from repertoire.memory import array_bytes
from repertoire.metrics import measure
from repertoire.parallel import one_blas_thread
from repertoire.problems import Problem, make_problem
from repertoire.search import Search
from repertoire.storage.versions import software_versions
from repertoire.suites.plan import Plan, Tell
from repertoire.suites.results import TrialResult
from repertoire.training.history import History
from repertoire.training.settings import Settings, validate
from robots.seeds import search_seed

_RECORDS = 100  # rows of a history
_WARM_UP = 3  # batches that compile everything before the clock starts


@final
@dataclass(frozen=True)
class TrialPlan(Plan):
    """A trial of a benchmark, see `run_trial`."""

    def run(self, tell: Tell) -> TrialResult:
        """See `Plan.run`."""
        # the last batch may exceed what is to be evaluated
        return run_trial(self, on_progress=lambda done: tell(min(done / self.evaluations, 1.0)))


@dataclass
class _Clock:
    """Where the processor time of a trial went [s], which is its wall clock on a core of its own."""

    search: float = 0.0
    evaluation: float = 0.0


def run_trial(plan: TrialPlan, *, on_progress: Callable[[int], None] | None = None) -> TrialResult:
    """Run a trial on one core, with the settings of Tjanaka et al. 2023, Section IV.

    Args:
        plan: what to do.
        on_progress: told the number of evaluations done, now and then.

    Raises:
        UnknownNameError: there is no such domain or algorithm.
        InvalidValueError: they do not suit each other.
    """
    problem = make_problem(plan.domain)
    with one_blas_thread():
        _warm_up(start_search(plan, problem), problem)
        search, history, clock = start_search(plan, problem), History(), _Clock()
        started, cpu_started = time.perf_counter(), time.process_time()
        for stop in _stops(plan.evaluations):
            done = history.last("evaluations")
            if done < stop:
                while done < stop:
                    done += _step(search, problem, clock)
                _record(history, search, problem, done)
                if on_progress:
                    on_progress(done)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    return _result(plan, search, problem, history, clock, seconds, cpu_seconds)


def trial_settings(plan: Plan, problem: Problem) -> Settings:
    """The settings of the paper's Section IV for an algorithm and a problem.

    Raises:
        UnknownNameError: there is no such algorithm.
    """
    algorithm = find_algorithm(plan.algorithm)
    settings = {
        "algorithm": plan.algorithm,
        "evaluations": plan.evaluations,
        "seed": plan.seed,
        "rule": "batch",  # as in pyribs, with which the paper ran these benchmarks
        "archive": problem.archive,
        "min_objective": problem.min_objective,
    }
    if "learning_rate" not in algorithm.fixed:
        settings["learning_rate"] = problem.learning_rate
    return validate(Settings, algorithm.complete(settings))


def start_search(plan: Plan, problem: Problem, *, threads: int = 1) -> Search:
    """Set the algorithm up for the problem; the result does not depend on the number of threads.

    Raises:
        UnknownNameError: there is no such algorithm.
        InvalidValueError: they do not suit each other.
    """
    seed = search_seed(plan.seed)
    algorithm = find_algorithm(plan.algorithm)
    return algorithm.start(trial_settings(plan, problem), problem, seed, threads=threads)


def _warm_up(search: Search, problem: Problem) -> None:
    """Have everything compiled that a trial needs."""
    for _ in range(_WARM_UP):
        _step(search, problem, _Clock())


def _step(search: Search, problem: Problem, clock: _Clock) -> int:
    """Run a batch of all emitters, and return the number of evaluations that it took."""
    started = time.thread_time()
    solutions = search.ask()
    request = search.request
    asked = time.thread_time()
    # the benchmarks know no chance
    evaluations = problem.evaluate(solutions, np.zeros(len(solutions), np.int64), request=request)
    evaluated = time.thread_time()
    search.tell(evaluations)
    clock.search += time.thread_time() - evaluated + asked - started
    clock.evaluation += evaluated - asked
    return len(solutions)


def _stops(evaluations: int) -> list[int]:
    """After how many evaluations to record: evenly spread, and at the end."""
    return sorted({-(-evaluations * (row + 1) // _RECORDS) for row in range(_RECORDS)})


def _record(history: History, search: Search, problem: Problem, evaluations: int) -> None:
    """Add a row to the history."""
    metrics = measure(search.result, min_objective=problem.min_objective)
    history.append(
        evaluations=evaluations, qd_score=metrics.qd_score, coverage=metrics.coverage, best=metrics.best
    )


def _result(
    plan: TrialPlan,
    search: Search,
    problem: Problem,
    history: History,
    clock: _Clock,
    seconds: float,
    cpu_seconds: float,
) -> TrialResult:
    metrics = measure(search.result, min_objective=problem.min_objective)
    elites = search.result.elites()
    objectives = np.full(problem.archive, np.nan, np.float32)
    objectives.flat[elites.cells] = elites.objectives
    return TrialResult(
        domain=plan.domain,
        algorithm=plan.algorithm,
        trial=plan.trial,
        seed=plan.seed,
        evaluations=history.last("evaluations"),
        qd_score=metrics.qd_score,
        coverage=metrics.coverage,
        best=metrics.best,
        seconds=seconds,
        search_seconds=clock.search,
        evaluation_seconds=clock.evaluation,
        cpu_seconds=cpu_seconds,
        saving_seconds=0.0,
        search_bytes=array_bytes(search.soft, search.result, *search.emitters),
        restarts=sum(emitter.telemetry.restarts for emitter in search.emitters),
        machine=processor_name(),
        versions=", ".join(f"{name} {version}" for name, version in software_versions().items()),
        threads=1,
        learning_rate=trial_settings(plan, problem).learning_rate,
        min_objective=problem.min_objective,
        steps=0,
        episode_steps=0,
        episodes=0,
        left_out=0,
        raw_qd_score=metrics.qd_score,
        raw_coverage=metrics.coverage,
        raw_best=metrics.best,
        history=history.columns(),
        objectives=objectives,
    )
