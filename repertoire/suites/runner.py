"""Running one trial of a study, with a clock on each of its parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from repertoire.algorithms import find_algorithm
from repertoire.problems.catalogue import make_problem
from repertoire.provenance import processor_name, software_versions
from repertoire.resources import array_bytes
from repertoire.suites.plan import Plan, Tell
from repertoire.suites.results import TrialResult
from repertoire.training.runs import configure
from repertoire.training.training import Training

_RECORDS = 100  # rows of a history


@final
@dataclass(frozen=True)
class TrialPlan(Plan):
    """A trial of a benchmark, see `run_trial`."""

    def run(self, tell: Tell) -> TrialResult:
        """See `Plan.run`."""
        # the last batch may exceed what is to be evaluated
        return run_trial(self, on_progress=lambda done: tell(min(done / self.evaluations, 1.0)))


def run_trial(plan: TrialPlan, *, on_progress: Callable[[int], None] | None = None) -> TrialResult:
    """Run a trial on one core, with the settings of Tjanaka et al. 2023, Section IV.

    Args:
        plan: what to do.
        on_progress: told the number of evaluations done, now and then.

    Raises:
        UnknownNameError: there is no such domain or algorithm.
        InvalidValueError: they do not suit each other.
    """
    training = make_training(plan)
    training.warm_up()
    started, cpu_started = time.perf_counter(), time.process_time()
    training.run(on_progress=on_progress and (lambda now: on_progress(now.evaluations)))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    return _result(plan, training, seconds, cpu_seconds)


def make_training(plan: Plan) -> Training:
    """Set a trial up, with the settings of the paper's Section IV.

    Raises:
        UnknownNameError: there is no such domain or algorithm.
        InvalidValueError: they do not suit each other.
    """
    problem = make_problem(plan.domain)
    chosen: dict[str, object] = {"evaluations": plan.evaluations, "seed": plan.seed}
    if find_algorithm(plan.algorithm).annealed:
        chosen["rule"] = "batch"  # that of pyribs, with which the paper ran these benchmarks
    settings = configure(problem, plan.algorithm, chosen)
    return Training(problem, settings, history_rows=_RECORDS, clock=time.thread_time)


def _result(plan: TrialPlan, training: Training, seconds: float, cpu_seconds: float) -> TrialResult:
    search, metrics, history = training.search, training.progress().metrics, training.history.columns()
    elites = search.result.elites()
    objectives = np.full(training.settings.archive.shape, np.nan, np.float32)
    objectives.flat[elites.cells] = elites.objectives
    return TrialResult(
        domain=plan.domain,
        algorithm=plan.algorithm,
        trial=plan.trial,
        seed=plan.seed,
        evaluations=training.evaluations,
        qd_score=metrics.qd_score,
        coverage=metrics.coverage,
        best=metrics.best,
        seconds=seconds,
        search_seconds=training.timing.search,
        evaluation_seconds=training.timing.evaluation,
        cpu_seconds=cpu_seconds,
        saving_seconds=0.0,
        search_bytes=array_bytes(search.soft, search.result, *search.emitters),
        restarts=sum(emitter.telemetry.restarts for emitter in search.emitters),
        machine=processor_name(),
        versions=", ".join(f"{name} {version}" for name, version in software_versions().items()),
        threads=1,
        learning_rate=training.settings.learning_rate,
        min_objective=training.settings.min_objective,
        steps=0,
        episode_steps=0,
        episodes=0,
        left_out=0,
        raw_qd_score=metrics.qd_score,
        raw_coverage=metrics.coverage,
        raw_best=metrics.best,
        history={name: history[name] for name in ("evaluations", "qd_score", "coverage", "best")},
        objectives=objectives,
    )
