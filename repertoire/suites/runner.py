"""Running one trial of a study, with a clock on each of its parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from repertoire.algorithms import find_algorithm
from repertoire.configuration import Settings, validate
from repertoire.history import History
from repertoire.machine import processor_name
from repertoire.memory import array_bytes
from repertoire.metrics import measure
from repertoire.parallel import one_blas_thread
from repertoire.problems import Problem, make_problem
from repertoire.search import Search
from repertoire.suites.result import TrialResult

Key = tuple[str, str, int]
_SEARCH = 0
_RECORDS = 100  # rows of a history
_WARM_UP = 3  # batches that compile everything before the clock starts


@dataclass(frozen=True)
class TrialPlan:
    """What a trial is to do; it and the software's versions decide its result, but for the times.

    Attributes:
        domain: name of the problem.
        algorithm: name of the algorithm.
        trial: number of the trial, from 0.
        evaluations: solutions to evaluate, rounded up to whole batches.
        study_seed: from which the trial's seed derives.
    """

    domain: str
    algorithm: str
    trial: int
    evaluations: int
    study_seed: int

    @property
    def key(self) -> Key:
        """Domain, algorithm and number of the trial, by which a study knows it."""
        return self.domain, self.algorithm, self.trial

    @property
    def seed(self) -> int:
        """Seed of the run: another one for every trial of every algorithm in every domain."""
        group = crc32(f"{self.domain}/{self.algorithm}".encode())
        sequence = np.random.SeedSequence(self.study_seed, spawn_key=(group, self.trial))
        return int(sequence.generate_state(1, np.uint32)[0])


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
        _advance(start_search(plan, problem), problem, _Clock(), range(_WARM_UP))
        search, history, clock = start_search(plan, problem), History(), _Clock()
        started, cpu_started = time.perf_counter(), time.process_time()
        batches = -(-plan.evaluations // search.batch_size)
        for stop in _stops(batches):
            done = history.last("evaluations") // search.batch_size
            _advance(search, problem, clock, range(done, stop))
            _record(history, search, problem, stop * search.batch_size)
            if on_progress:
                on_progress(stop * search.batch_size)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    return _result(plan, search, problem, history, clock, seconds, cpu_seconds)


def trial_settings(plan: TrialPlan, problem: Problem) -> Settings:
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


def start_search(plan: TrialPlan, problem: Problem, *, threads: int = 1) -> Search:
    """Set the algorithm up for the problem; the result does not depend on the number of threads.

    Raises:
        UnknownNameError: there is no such algorithm.
        InvalidValueError: they do not suit each other.
    """
    seed = np.random.SeedSequence(plan.seed, spawn_key=(_SEARCH,))
    algorithm = find_algorithm(plan.algorithm)
    return algorithm.start(trial_settings(plan, problem), problem, seed, threads=threads)


def _advance(search: Search, problem: Problem, clock: _Clock, batches: range) -> None:
    """Run batches of all emitters."""
    seeds = np.zeros(search.batch_size, np.int64)  # the benchmarks know no chance
    for _ in batches:
        started = time.thread_time()
        solutions = search.ask()
        asked = time.thread_time()
        evaluations = problem.evaluate(solutions, seeds)
        evaluated = time.thread_time()
        search.tell(evaluations)
        clock.search += time.thread_time() - evaluated + asked - started
        clock.evaluation += evaluated - asked


def _stops(batches: int) -> list[int]:
    """After how many batches to record: evenly spread, and at the end."""
    return sorted({-(-batches * (row + 1) // _RECORDS) for row in range(_RECORDS)})


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
        search_bytes=array_bytes(search.soft, search.result, *search.emitters),
        restarts=sum(emitter.telemetry.restarts for emitter in search.emitters),
        machine=processor_name(),
        history=history.columns(),
        objectives=objectives,
    )
