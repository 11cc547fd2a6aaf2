"""`Simulation`: evaluates controllers in closed loop, many at once, on all cores."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from robots.closed_loop import ClosedLoop
from robots.controllers import Controller, robot_controller
from robots.errors import InvalidValueError
from robots.moments import NOT_WATCHED, ObservationMoments, Watch
from robots.robot import Robot

_MOST = 1024  # threads; more than any machine can use


@dataclass(frozen=True)
class Episodes:
    """Results of n episodes, in the order they were asked for.

    Attributes:
        objectives: sum of rewards, (n,); NaN where the simulation diverged.
        measures: share of control steps in which each measured foot touched the floor, (n, m);
            NaN where the simulation diverged.
        steps: control steps survived, (n,).
        distances: progress towards the target [m], (n,).
        energies: mechanical work of the motors, both signs counted [J], (n,).
        diverged: whether the simulation blew up, (n,).
        fell: whether the episode ended before its time, (n,).
        midway: progress after two fifths of the longest episode, or at the end of a shorter one [m], (n,).
        lateral: displacement to the left of the start at the end [m], (n,).
        heading: yaw at the end [rad], (n,).
        moments: of what the controllers saw in the watched episodes that did not diverge; None if none were
            to be watched.
    """

    objectives: np.ndarray
    measures: np.ndarray
    steps: np.ndarray
    distances: np.ndarray
    energies: np.ndarray
    diverged: np.ndarray
    fell: np.ndarray
    midway: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray
    moments: ObservationMoments | None = None

    def __len__(self) -> int:
        return len(self.objectives)


class Simulation:
    """Evaluates (parameters, seed) pairs of one robot.

    The result of a pair depends on nothing else: not on the number of threads, nor on the other pairs or
    their order. Close it, or use it as a context, to end its threads.

    Args:
        robot: the robot, whole or damaged.
        threads: number of threads; all cores this process may use by default.
    """

    def __init__(self, robot: Robot, *, threads: int | None = None) -> None:
        if threads is not None and not 1 <= threads <= _MOST:
            raise InvalidValueError(f"threads must be at least 1 and at most {_MOST}, not {threads}")
        self.robot = robot
        self.controller = robot_controller(robot)
        self.threads = threads or available_cores()
        self._lanes = [_Lane(robot, self.controller) for _ in range(self.threads)]
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
        watched: np.ndarray | None = None,
        on_finished: Callable[[int], None] | None = None,
    ) -> Episodes:
        """Run one episode per pair.

        Args:
            parameters: (n, p) controllers, taken as float32.
            seeds: (n,) non-negative integers, one per controller.
            watched: (n,) bool, the episodes whose observations are to be summed; None for none.
            on_finished: called from the simulation's threads with the number of episodes finished so far.

        Raises:
            InvalidValueError: the shapes do not fit the robot's controller or each other, or a value is not
                finite.
        """
        parameters, seeds = self._checked(parameters, seeds)
        watch = None if watched is None else self._watch(watched, len(seeds))
        results = empty_episodes(len(seeds), self.robot.measure_dim)
        queue = _Queue(len(seeds), on_finished)
        order = _Order(parameters, seeds, queue, results, watch)
        try:
            jobs = [self._pool.submit(lane.run, order) for lane in self._lanes]
            for job in jobs:
                job.result()
        except BaseException:
            queue.abandon()  # the lanes soon let go of it, and wait for that before they take up another
            raise
        if watch is None:
            return results
        return replace(results, moments=watch.moments(results.steps, results.diverged))

    def _watch(self, watched: np.ndarray, n: int) -> Watch:
        """Watch some of n episodes."""
        watched = np.asarray(watched)
        if watched.shape != (n,) or watched.dtype != np.bool_:
            raise InvalidValueError(
                f"watched must be {n} booleans, not {watched.dtype} of shape {watched.shape}"
            )
        return Watch(watched, self.robot.observation_dim)

    def _checked(self, parameters: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bring the arguments into the form that the lanes use."""
        parameters = np.ascontiguousarray(parameters, np.float32)
        seeds = np.asarray(seeds)
        expected = self.controller.parameter_count
        if parameters.ndim != 2 or parameters.shape[1] != expected:
            raise InvalidValueError(
                f"parameters must have shape (n, {expected}) for {self.robot.name}'s {self.controller.shape} "
                f"controller, not {parameters.shape}"
            )
        if seeds.shape != (len(parameters),) or not np.issubdtype(seeds.dtype, np.integer):
            raise InvalidValueError(
                f"seeds must be {len(parameters)} integers, not {seeds.dtype} of shape {seeds.shape}"
            )
        if len(seeds) and seeds.min() < 0:
            raise InvalidValueError(f"seeds must not be negative, but one is {seeds.min()}")
        if not np.isfinite(parameters).all():
            bad = np.flatnonzero(~np.isfinite(parameters).all(axis=1))
            raise InvalidValueError(f"parameters must be finite, but are not at rows {bad[:10].tolist()}")
        return parameters, seeds


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where processes cannot be bound to cores


class _Queue:
    """Hands the indices 0 to n-1 to lanes.

    Attributes:
        abandoned: (1,) bool, set when nobody wants the results any more.
    """

    def __init__(self, n: int, on_finished: Callable[[int], None] | None) -> None:
        self._waiting = iter(range(n))
        self._finished = 0
        self._lock = threading.Lock()
        self._on_finished = on_finished
        self.abandoned = np.zeros(1, np.bool_)

    def take(self) -> int | None:
        """The next index, or None if there is none left."""
        with self._lock:
            return None if self.abandoned[0] else next(self._waiting, None)

    def finish(self) -> None:
        """Count an episode as finished."""
        with self._lock:
            self._finished += 1
            if self._on_finished:
                self._on_finished(self._finished)  # in the lock, so that the numbers come in order

    def abandon(self) -> None:
        """Hand out nothing more, and let the lanes drop what they have in flight."""
        self.abandoned[0] = True


@dataclass(frozen=True)
class _Order:
    """What an evaluation's lanes share.

    Attributes:
        parameters: (n, p) float32.
        seeds: (n,).
        queue: hands out which of them to run.
        results: to be filled in.
        watch: sums the observations of some of them.
    """

    parameters: np.ndarray
    seeds: np.ndarray
    queue: _Queue
    results: Episodes
    watch: Watch | None


class _Lane:
    """What one thread works with."""

    def __init__(self, robot: Robot, controller: Controller) -> None:
        self._loop = ClosedLoop(robot, controller)
        self._busy = threading.Lock()

    def run(self, order: _Order) -> None:
        """Run episodes until none is left in the queue, or it is abandoned; one call at a time."""
        queue = order.queue
        with self._busy:
            while (index := queue.take()) is not None:
                sums = order.watch.sums(index) if order.watch else NOT_WATCHED
                seed = int(order.seeds[index])
                self._loop.run(order.parameters[index], seed, abandoned=queue.abandoned, sums=sums)
                if queue.abandoned[0]:
                    return
                self._harvest(index, order.results)
                queue.finish()

    def _harvest(self, index: int, results: Episodes) -> None:
        """Write down the result of the episode that ended last."""
        tally = self._loop.tally
        results.steps[index] = tally.steps[0]
        results.diverged[index] = tally.diverged[0]
        results.energies[index] = tally.energy[0]
        results.distances[index] = tally.progress(0)
        results.fell[index] = tally.terminated[0]
        results.midway[index] = tally.midway[0]
        results.lateral[index] = tally.lateral[0]
        results.heading[index] = tally.heading[0]
        good = not tally.diverged[0]
        results.objectives[index] = tally.objective[0] if good else np.nan
        results.measures[index] = self._loop.measures if good else np.nan


def empty_episodes(n: int, measure_dim: int) -> Episodes:
    """Results to be filled in, of n episodes."""
    return Episodes(
        objectives=np.zeros(n),
        measures=np.zeros((n, measure_dim)),
        steps=np.zeros(n, np.int64),
        distances=np.zeros(n),
        energies=np.zeros(n),
        diverged=np.zeros(n, np.bool_),
        fell=np.zeros(n, np.bool_),
        midway=np.zeros(n),
        lateral=np.zeros(n),
        heading=np.zeros(n),
    )
