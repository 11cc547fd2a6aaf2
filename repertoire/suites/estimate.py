"""How long the remaining trials of a study will take."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

import numpy as np

from repertoire.resources import one_blas_thread
from repertoire.suites.report import duration
from repertoire.suites.results import TrialResult
from repertoire.suites.trial import Trial
from robots.robot import load_robot
from robots.simulation.simulation import Simulation

_ASSUMED_LENGTH = 0.6  # of an episode that a fall can end, as a share of the limit
_ASSUMED_COVERAGE = 0.5
_MEASURING_SECONDS = 1.0
_CONTROLLERS = 128  # measured at a time
_SIGMA = np.float32(0.02)  # by which they differ


@dataclass(frozen=True)
class Estimate:
    """What the remaining trials of a domain will take.

    Attributes:
        domain: name.
        trials: that remain.
        evaluations: of each.
        seconds: wall clock [s].
        basis: in words, on what the estimate is based.
    """

    domain: str
    trials: int
    evaluations: int
    seconds: float
    basis: str

    def __str__(self) -> str:
        work = f"{self.trials} trials of {self.evaluations:,} evaluations"
        return f"{self.domain}: {work}, {duration(self.seconds)} ({self.basis})"


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
        busy = min(processes, len(trials))
        if trials[0].episodes:
            seconds, basis = _robot_seconds(trials, finished, cores * busy / processes, cores)
        else:
            seconds, basis = _benchmark_seconds(trials, finished, busy)
        estimates.append(Estimate(domain, len(trials), trials[0].evaluations, seconds, basis))
    return estimates


def _robot_seconds(
    trials: Sequence[Trial], results: Sequence[TrialResult], busy_cores: float, cores: int
) -> tuple[float, str]:
    """Estimate the episodes of training and correction, which take nearly all of the time."""
    trial, robot = trials[0], load_robot(trials[0].domain)
    limit = trial.episode_steps or robot.description.episode_steps
    if results:
        length = sum(one.steps for one in results) / sum(one.evaluations for one in results)
        coverage = fmean(one.raw_coverage for one in results)
        rate = sum(one.steps for one in results) / sum(one.threads * one.seconds for one in results)
        origin = "as in finished trials"
    else:
        length = limit * (_ASSUMED_LENGTH if robot.description.alive.ends_episode else 1.0)
        coverage, rate, origin = _ASSUMED_COVERAGE, measured_rate(trial, cores) / cores, "assumed"
    episodes = trial.evaluations + coverage * prod(robot.description.archive) * trial.episodes
    seconds = len(trials) * episodes * length / (rate * busy_cores)
    return seconds, (
        f"{cores * rate:,.0f} control steps per second, {length:.0f} control steps per episode, {origin}"
    )


def _benchmark_seconds(
    trials: Sequence[Trial], results: Sequence[TrialResult], busy_cores: int
) -> tuple[float, str]:
    """Estimate from finished trials of the same algorithm, or from its first batches."""
    paces = {}
    for trial in trials:
        if trial.algorithm not in paces:
            same = [one for one in results if one.algorithm == trial.algorithm]
            paces[trial.algorithm] = (
                sum(one.seconds for one in same) / sum(one.evaluations for one in same)
                if same
                else measured_pace(trial)
            )
    seconds = sum(trial.evaluations * paces[trial.algorithm] for trial in trials) / busy_cores
    finished = {one.algorithm for one in results}
    measured = [name for name in paces if name not in finished]
    basis = f"measured with {', '.join(measured)}" if measured else "as in finished trials"
    return seconds, basis


def measured_rate(trial: Trial, cores: int) -> float:
    """Measure how many control steps per second all cores simulate together, with untrained controllers.

    Args:
        trial: of the robot.
        cores: that work.
    """
    robot = load_robot(trial.domain)
    robot = robot.with_episode_steps(trial.episode_steps or robot.description.episode_steps)
    with Simulation(robot, threads=cores) as simulation:
        rng, n = np.random.default_rng(trial.seed), simulation.controller.parameter_count
        first = simulation.controller.initial(rng)
        controllers = first + _SIGMA * rng.standard_normal((_CONTROLLERS, n), np.float32)
        simulation.evaluate(controllers[:1], np.zeros(1, np.int64))  # compiles
        steps, started = 0, time.perf_counter()
        while time.perf_counter() - started < _MEASURING_SECONDS:
            steps += int(simulation.evaluate(controllers, np.arange(_CONTROLLERS)).steps.sum())
        return steps / (time.perf_counter() - started)


def measured_pace(trial: Trial) -> float:
    """Measure how long an evaluation of a benchmark takes, with its share of the search [s]."""
    with trial.training() as training, one_blas_thread():
        training.warm_up()
        started = time.perf_counter()
        while time.perf_counter() - started < _MEASURING_SECONDS and not training.finished:
            training.step()
        return (time.perf_counter() - started) / training.evaluations
