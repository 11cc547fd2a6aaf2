"""How long the remaining trials of a study will take."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from statistics import fmean

from repertoire.execution.resources import one_blas_thread
from robots.robot import load_robot
from robots.simulation.backend import Backend
from robots.simulation.threads import ONE_THREAD
from suites.paper.results import TrialResult
from suites.paper.trial import PaperTrial
from suites.suite import Estimate

_ASSUMED_LENGTH = 0.6  # of an episode that a fall can end, as a share of the limit
_ASSUMED_COVERAGE = 0.5
_MEASURING_SECONDS = 0.3


def estimate(
    remaining: Sequence[PaperTrial],
    results: Sequence[TrialResult],
    processes: int,
    backend: Backend = ONE_THREAD,
) -> Iterator[Estimate]:
    """Estimate how long the remaining trials of each domain take, see `Suite.estimate`.

    What an algorithm takes in a domain follows from its finished trials there, or from its first batches.
    """
    for domain in dict.fromkeys(trial.domain for trial in remaining):
        trials = [trial for trial in remaining if trial.domain == domain]
        seconds, measured = 0.0, []  # of one core
        for name in dict.fromkeys(trial.algorithm for trial in trials):
            own = [trial for trial in trials if trial.algorithm == name]
            same = [one for one in results if (one.domain, one.algorithm) == (domain, name)]
            if same:
                pace = sum(one.threads * one.seconds for one in same) / sum(one.evaluations for one in same)
            else:
                pace = measured_pace(own[0])
                measured.append(name)
            coverage = fmean(one.raw_coverage for one in same) if same else _ASSUMED_COVERAGE
            seconds += len(own) * pace * (own[0].evaluations + corrections(own[0], coverage))
        busy = min(processes, len(trials)) * backend.threads
        basis = f"measured with {', '.join(measured)}" if measured else "as in finished trials"
        work = f"{domain}: {len(trials)} trials of {trials[0].evaluations:,} evaluations"
        yield Estimate(work, seconds / busy, basis)


def corrections(trial: PaperTrial, coverage: float) -> float:
    """Number of episodes that the correction of an archive takes which is filled to a share."""
    if not trial.episodes:
        return 0.0
    return coverage * prod(load_robot(trial.domain).description.archive) * trial.episodes


def measured_pace(trial: PaperTrial) -> float:
    """How long an evaluation takes [s], by the beginning of a trial.

    Robots fall early there: the time of an episode is that of its assumed length in the end.
    """
    with trial.training() as training, one_blas_thread():
        training.warm_up()
        training.step()  # before which there may be nothing to learn from
        timing, done, steps = replace(training.timing), training.evaluations, training.progress().steps
        started = time.perf_counter()
        while time.perf_counter() - started < _MEASURING_SECONDS and not training.finished:
            training.step()
        seconds, count = time.perf_counter() - started, max(training.evaluations - done, 1)
        steps = max(training.progress().steps - steps, 1)
        if not trial.episodes:
            return seconds / count
        robot = load_robot(trial.domain).description
        limit = trial.episode_steps or robot.episode_steps
        length = limit * (_ASSUMED_LENGTH if robot.alive.ends_episode else 1.0)
        evaluation = (training.timing.evaluation - timing.evaluation) / steps
        return (training.timing.search - timing.search) / count + length * evaluation
