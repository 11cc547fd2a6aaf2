"""`Simulation`: evaluates controllers in closed loop, many at once, on all cores."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.episodes import Episodes, ObservationMoments, empty_episodes
from robots.simulation.stepper import NOT_WATCHED, Stepper

_MOST = 1024  # threads; more than any machine can use


class Simulation:
    """Evaluates (parameters, seed) pairs of one robot, or of variants of it, such as damaged ones.

    The result of a pair depends on its robot alone: neither on the number of threads nor on the other pairs
    or their order. Close it, or use it as a context, to end its threads.

    Args:
        robots: the robot, whole or damaged, or several that share their controllers and measures.
        threads: number of threads; all cores this process may use by default.

    Attributes:
        robot: the first.

    Raises:
        InvalidValueError: there is no robot, they differ in more than they may, or `threads` is out of range.
    """

    def __init__(self, *robots: Robot, threads: int | None = None) -> None:
        if threads is not None and not 1 <= threads <= _MOST:
            raise InvalidValueError(f"threads must be at least 1 and at most {_MOST}, not {threads}")
        _check_variants(robots)
        self.robot = robots[0]
        self.controller = self.robot.controller
        self.threads = threads or available_cores()
        self._variants = len(robots)
        _ = self.controller.compiled_kernel  # compiled here, or each thread would compile it
        self._workers = [_Worker(robots) for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="simulation")

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def evaluate(
        self,
        parameters: np.ndarray,
        seeds: np.ndarray,
        *,
        variants: np.ndarray | None = None,
        watched: np.ndarray | None = None,
        on_finished: Callable[[int], None] | None = None,
    ) -> Episodes:
        """Run one episode per pair.

        Args:
            parameters: (n, p) controllers, taken as float32.
            seeds: (n,) non-negative integers, one per controller.
            variants: (n,) integers, which of the robots runs each pair; the first by default.
            watched: (n,) bool, the episodes whose observations are to be summed; None for none.
            on_finished: called from the simulation's threads with the number of episodes finished so far.

        Raises:
            InvalidValueError: the shapes do not fit the robot's controller or each other, a value is not
                finite, or there is no such variant.
        """
        parameters, seeds = self._checked(parameters, seeds)
        which, watch = self._known(variants, len(seeds)), None
        if watched is not None:
            watch = _Watch(_one_each("watched", watched, len(seeds), "booleans"), self.robot.observation_dim)
        results = empty_episodes(len(seeds), self.robot.measure_dim)
        evaluation = _Evaluation(parameters, seeds, which, results, watch, on_finished)
        try:
            jobs = [self._pool.submit(worker.run, evaluation) for worker in self._workers]
            for job in jobs:
                job.result()
        except BaseException:
            evaluation.abandon()  # the workers soon drop it, and take up another one only then
            raise
        if watch is None:
            return results
        return replace(results, moments=watch.moments(results.steps, results.diverged))

    def _checked(self, parameters: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bring the arguments into the form that the workers use."""
        parameters = np.ascontiguousarray(parameters, np.float32)
        expected = self.controller.parameter_count
        if parameters.ndim != 2 or parameters.shape[1] != expected:
            raise InvalidValueError(
                f"parameters must have shape (n, {expected}) for {self.robot.name}'s {self.controller.shape} "
                f"controller, not {parameters.shape}"
            )
        seeds = _one_each("seeds", seeds, len(parameters), "integers")
        if len(seeds) and seeds.min() < 0:
            raise InvalidValueError(f"seeds must not be negative, but one is {seeds.min()}")
        if not np.isfinite(parameters).all():
            bad = np.flatnonzero(~np.isfinite(parameters).all(axis=1))
            raise InvalidValueError(f"parameters must be finite, but are not at rows {bad[:10].tolist()}")
        return parameters, seeds

    def _known(self, variants: np.ndarray | None, n: int) -> np.ndarray:
        """Check which robots are to run n pairs."""
        if variants is None:
            return np.zeros(n, np.int64)
        variants = _one_each("variants", variants, n, "integers")
        least, most = (variants.min(), variants.max()) if n else (0, 0)
        if not 0 <= least <= most < self._variants:
            raise InvalidValueError(f"variants must be from 0 to {self._variants - 1}, not {least} to {most}")
        return variants


class _Watch:
    """Sums the observations of some of n episodes.

    Each episode has sums of its own, so that neither the threads that run them nor their order change
    anything.

    Args:
        watched: which episodes, (n,) bool.
        observation_dim: length of an observation.
    """

    def __init__(self, watched: np.ndarray, observation_dim: int) -> None:
        self._episodes = np.flatnonzero(watched)
        self._row = np.full(len(watched), -1)  # of each episode in the sums, or -1
        self._row[self._episodes] = np.arange(len(self._episodes))
        self._sums = np.zeros((len(self._episodes), 2, observation_dim))  # of the values and of their squares

    def sums(self, episode: int) -> np.ndarray:
        """Where to add the observations of an episode and their squares, (2, o); (2, 0) if not watched."""
        row = self._row[episode]
        return self._sums[row] if row >= 0 else NOT_WATCHED

    def moments(self, steps: np.ndarray, failed: np.ndarray) -> ObservationMoments:
        """What was seen in the watched episodes that did not fail.

        Args:
            steps: control steps of each episode, (n,).
            failed: (n,) bool.
        """
        good = ~failed[self._episodes]
        sums, squares = self._sums[good].sum(axis=0)
        return ObservationMoments(int(steps[self._episodes[good]].sum()), sums, squares)


@dataclass
class _Evaluation:
    """The episodes of one call of `evaluate`, which workers take one by one.

    Attributes:
        parameters: (n, p) float32.
        seeds: (n,).
        variants: which robot runs each, (n,).
        results: to be filled in.
        watch: sums the observations of some of them, or None.
        on_finished: see `Simulation.evaluate`.
    """

    parameters: np.ndarray
    seeds: np.ndarray
    variants: np.ndarray
    results: Episodes
    watch: _Watch | None
    on_finished: Callable[[int], None] | None

    def __post_init__(self) -> None:
        self._waiting = iter(range(len(self.seeds)))
        self._finished = 0
        self._lock = threading.Lock()
        self.abandoned = np.zeros(1, np.bool_)  # set when nobody wants the results any more

    def take(self) -> int | None:
        """The next index, or None if there is none left."""
        with self._lock:
            return None if self.abandoned[0] else next(self._waiting, None)

    def finish(self, index: int, stepper: Stepper) -> None:
        """Write down the result of an episode that has ended."""
        tally, results = stepper.tally, self.results
        results.steps[index] = tally.steps
        results.diverged[index] = tally.diverged
        results.energies[index] = tally.energy
        results.distances[index] = stepper.progress
        results.fell[index] = tally.terminated
        results.midway[index] = tally.midway
        results.lateral[index] = tally.lateral
        results.heading[index] = tally.heading
        results.objectives[index] = np.nan if tally.diverged else tally.objective
        results.measures[index] = np.nan if tally.diverged else stepper.measures
        with self._lock:
            self._finished += 1
            if self.on_finished:
                self.on_finished(self._finished)  # in the lock, so that the numbers come in order

    def abandon(self) -> None:
        """Hand out nothing more, and let the workers drop the episodes that they run."""
        self.abandoned[0] = True


class _Worker:
    """What one thread works with: a stepper of each variant, made when it is needed first."""

    def __init__(self, robots: Sequence[Robot]) -> None:
        self._robots = robots
        self._steppers = {0: Stepper(robots[0])}
        self._busy = threading.Lock()

    def run(self, evaluation: _Evaluation) -> None:
        """Run episodes until none is left, or they are abandoned; one evaluation at a time."""
        with self._busy:
            while (index := evaluation.take()) is not None:
                stepper = self._stepper(int(evaluation.variants[index]))
                sums = evaluation.watch.sums(index) if evaluation.watch else NOT_WATCHED
                parameters, seed = evaluation.parameters[index], int(evaluation.seeds[index])
                stepper.run(parameters, seed, abandoned=evaluation.abandoned, sums=sums)
                if evaluation.abandoned[0]:
                    return
                evaluation.finish(index, stepper)

    def _stepper(self, variant: int) -> Stepper:
        """The stepper of a variant."""
        if variant not in self._steppers:
            self._steppers[variant] = Stepper(self._robots[variant])
        return self._steppers[variant]


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where processes cannot be bound to cores


def _one_each(name: str, values: np.ndarray, n: int, kind: Literal["integers", "booleans"]) -> np.ndarray:
    """Check that there is one value of a kind for each of n pairs."""
    values = np.asarray(values)
    letters = {"integers": "iu", "booleans": "b"}[kind]
    if values.shape != (n,) or values.dtype.kind not in letters:
        raise InvalidValueError(f"{name} must be {n} {kind}, not {values.dtype} of shape {values.shape}")
    return values


def _check_variants(robots: Sequence[Robot]) -> None:
    """Refuse robots that cannot share an evaluation."""
    if not robots:
        raise InvalidValueError("a simulation needs a robot")
    first, *others = ((robot.controller, robot.measure_dim) for robot in robots)
    if any(other != first for other in others):
        found = ", ".join(f"{robot.name} with {robot.controller.shape}" for robot in robots)
        raise InvalidValueError(
            f"variants of a robot must share their controllers and measures, not: {found}"
        )
