"""How long the remaining trials of a study will take."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from statistics import fmean

from repertoire.execution.resources import one_blas_thread
from robots.robot import load_robot
from robots.words import duration
from suites.paper.results import TrialResult
from suites.paper.trial import Trial

_ASSUMED_LENGTH = 0.6  # of an episode that a fall can end, as a share of the limit
_ASSUMED_COVERAGE = 0.5
_MEASURING_SECONDS = 1.0


@dataclass(frozen=True)
class Estimate:
    """What the remaining trials of a domain will take: wall clock [s], and on what that is based."""

    domain: str
    trials: int
    evaluations: int
    seconds: float
    basis: str

    def __str__(self) -> str:
        work = f"{self.trials} trials of {self.evaluations:,} evaluations"
        return f"{self.domain}: {work}, about {duration(self.seconds)} ({self.basis})"


def estimate(
    remaining: Sequence[Trial], results: Sequence[TrialResult], *, cores: int, processes: int
) -> list[Estimate]:
    """Estimate how long the remaining trials of each domain take.

    Args:
        remaining: trials that are not finished.
        results: of finished ones.
        cores: that work.
        processes: trials at a time; a core without a trial does nothing.
    """
    estimates = []
    for domain in dict.fromkeys(trial.domain for trial in remaining):
        trials = [trial for trial in remaining if trial.domain == domain]
        finished = [result for result in results if result.domain == domain]
        if trials[0].episodes:
            seconds, basis = _robot_seconds(trials, finished, cores, processes)
        else:
            seconds, basis = _benchmark_seconds(trials, finished, processes)
        seconds *= processes / min(processes, len(trials))
        estimates.append(Estimate(domain, len(trials), trials[0].evaluations, seconds, basis))
    return estimates


def _robot_seconds(
    trials: Sequence[Trial], results: Sequence[TrialResult], cores: int, processes: int
) -> tuple[float, str]:
    """Estimate the episodes of training and correction on all cores, and the search on one a trial."""
    trial, robot = trials[0], load_robot(trials[0].domain)
    if results:
        steps = sum(one.steps for one in results)
        length = steps / sum(one.evaluations for one in results)
        coverage = fmean(one.raw_coverage for one in results)
        rate = cores * steps / sum(one.threads * one.evaluation_seconds for one in results)
        origin = "as in finished trials"
    else:
        limit = trial.episode_steps or robot.description.episode_steps
        length = limit * (_ASSUMED_LENGTH if robot.description.alive.ends_episode else 1.0)
        coverage, rate, origin = _ASSUMED_COVERAGE, measured_pace(replace(trial, threads=cores))[1], "assumed"
    episodes = trial.evaluations + coverage * prod(robot.description.archive) * trial.episodes
    basis = f"{rate:,.0f} control steps per second, {length:.0f} control steps per episode, {origin}"
    search = 0.0
    for name in dict.fromkeys(one.algorithm for one in trials):
        own = [one for one in trials if one.algorithm == name]
        same = [one for one in results if one.algorithm == name]
        spent, done = sum(one.search_seconds for one in same), sum(one.evaluations for one in same)
        search += len(own) * trial.evaluations * (spent / done if same else learning_pace(own[0]))
    return len(trials) * episodes * length / rate + search / processes, basis


def _benchmark_seconds(
    trials: Sequence[Trial], results: Sequence[TrialResult], processes: int
) -> tuple[float, str]:
    """Estimate from finished trials of the same algorithm, or from its first batches."""
    seconds, measured = 0.0, []
    for name in dict.fromkeys(trial.algorithm for trial in trials):
        own, same = (
            [one for one in trials if one.algorithm == name],
            [one for one in results if one.algorithm == name],
        )
        measured += [name] if not same else []
        spent, done = sum(one.seconds for one in same), sum(one.evaluations for one in same)
        pace = done / spent if same else measured_pace(own[0])[0]
        seconds += sum(trial.evaluations for trial in own) / pace
    return (
        seconds / processes,
        f"measured with {', '.join(measured)}" if measured else "as in finished trials",
    )


def learning_pace(trial: Trial) -> float:
    """How long the search of a trial takes for an evaluation [s], if it learns from transitions; otherwise 0.

    Next to the episodes, all other searches take next to no time.
    """
    with trial.training() as training, one_blas_thread():
        if not any(emitter.request.transitions for emitter in training.search.emitters):
            return 0.0
        training.step()  # before which there is nothing to learn from
        spent, done = training.timing.search, training.evaluations
        training.step()
        return (training.timing.search - spent) / (training.evaluations - done)


def measured_pace(trial: Trial) -> tuple[float, float]:
    """Measure how many evaluations and how many control steps per second the beginning of a trial takes."""
    with trial.training() as training, one_blas_thread():
        training.warm_up()
        started = time.perf_counter()
        while time.perf_counter() - started < _MEASURING_SECONDS and not training.finished:
            training.step()
        seconds = time.perf_counter() - started
        return training.evaluations / seconds, training.progress().steps / seconds
