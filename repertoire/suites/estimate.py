"""How long a study that trains robots will take, before it starts."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

import numpy as np

from repertoire.suites.gait_trial import GaitPlan
from repertoire.suites.report import duration
from repertoire.suites.results import TrialResult
from robots.robot import load_robot
from robots.simulation.simulation import Simulation

_ASSUMED_LENGTH = 0.6  # of an episode that a fall can end, as a share of the longest
_ASSUMED_COVERAGE = 0.5
_MEASURING_SECONDS = 1.0
_CONTROLLERS = 128  # measured at a time
_SIGMA = np.float32(0.02)  # by which they differ


@dataclass(frozen=True)
class Estimate:
    """What the trials of a robot that are left will take.

    Attributes:
        robot: name.
        trials: that are left.
        evaluations: of each.
        rate: control steps a second that all cores simulate together.
        length: mean control steps of an episode.
        coverage: of the archives that are to be corrected.
        seconds: wall clock [s].
        known: whether length and coverage are those of finished trials, and not assumed.
    """

    robot: str
    trials: int
    evaluations: int
    rate: float
    length: float
    coverage: float
    seconds: float
    known: bool

    def __str__(self) -> str:
        origin = "as in finished trials" if self.known else "assumed"
        work = f"{self.trials} trials of {self.evaluations:,} evaluations"
        return (
            f"{self.robot}: {work}, {duration(self.seconds)} "
            f"({self.rate:,.0f} control steps a second, {self.length:.0f} an episode, {origin})"
        )


def estimate(
    waiting: Sequence[GaitPlan], results: Sequence[TrialResult], *, cores: int, processes: int
) -> list[Estimate]:
    """Estimate how long each robot's trials that are left take: their episodes, which are nearly all of it.

    Args:
        waiting: trials that are left.
        results: finished ones.
        cores: that work.
        processes: trials at a time; a core without a trial does nothing.
    """
    robots = dict.fromkeys(plan.domain for plan in waiting)
    return [
        _estimate(
            [plan for plan in waiting if plan.domain == robot],
            [result for result in results if result.domain == robot],
            cores,
            processes,
        )
        for robot in robots
    ]


def _estimate(plans: list[GaitPlan], results: list[TrialResult], cores: int, processes: int) -> Estimate:
    """The estimate for one robot."""
    plan, robot = plans[0], load_robot(plans[0].domain)
    limit, falls = plan.episode_steps, robot.description.alive.ends_episode
    length, coverage = limit * (_ASSUMED_LENGTH if falls else 1.0), _ASSUMED_COVERAGE
    if results:
        length = sum(result.steps for result in results) / sum(result.evaluations for result in results)
        coverage = fmean(result.raw_coverage for result in results)
        rate = cores * sum(one.steps for one in results) / sum(_core_seconds(one) for one in results)
    else:
        rate = measured_rate(plan, cores)
    episodes = plan.evaluations + coverage * prod(robot.description.archive) * plan.episodes
    # processes that would find no trial leave their cores idle
    busy = min(processes, len(plans)) / processes
    seconds = len(plans) * episodes * length / (rate * busy)
    return Estimate(
        robot.name, len(plans), plan.evaluations, rate, length, coverage, seconds, known=bool(results)
    )


def _core_seconds(result: TrialResult) -> float:
    """Time that a trial's threads took for its steps, with what the search took [s]."""
    return result.threads * result.seconds


def measured_rate(plan: GaitPlan, cores: int) -> float:
    """Control steps a second that all cores simulate together, with controllers that never learned.

    Args:
        plan: of a trial of the robot.
        cores: that work.
    """
    robot = load_robot(plan.domain).with_episode_steps(plan.episode_steps)
    with Simulation(robot, threads=cores) as simulation:
        rng, n = np.random.default_rng(plan.seed), simulation.controller.parameter_count
        first = simulation.controller.initial(rng)
        controllers = first + _SIGMA * rng.standard_normal((_CONTROLLERS, n), np.float32)
        simulation.evaluate(controllers[:1], np.zeros(1, np.int64))  # compiles
        steps, started = 0, time.perf_counter()
        while time.perf_counter() - started < _MEASURING_SECONDS:
            steps += int(simulation.evaluate(controllers, np.arange(_CONTROLLERS)).steps.sum())
        return steps / (time.perf_counter() - started)
