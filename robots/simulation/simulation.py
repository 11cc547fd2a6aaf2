"""`Simulation`: evaluates controllers in closed loop, many at once, on all cores."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from robots.controllers import robot_controller
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.episodes import Episodes, empty_episodes
from robots.simulation.lanes import Lane, Order, Queue
from robots.simulation.moments import Watch

_MOST = 1024  # threads; more than any machine can use


class Simulation:
    """Evaluates (parameters, seed) pairs of one robot, or of variants of it, such as damaged ones.

    The result of a pair depends on nothing else than its robot: not on the number of threads, nor on the
    other pairs or their order. Close it, or use it as a context, to end its threads.

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
        self.controller = robot_controller(self.robot)
        self.threads = threads or available_cores()
        self._variants = len(robots)
        self._lanes = [Lane(robots, self.controller) for _ in range(self.threads)]
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
        which = np.zeros(len(seeds), np.int64) if variants is None else self._known(variants, len(seeds))
        watch = None if watched is None else self._watch(watched, len(seeds))
        results = empty_episodes(len(seeds), self.robot.measure_dim)
        queue = Queue(len(seeds), on_finished)
        order = Order(parameters, seeds, which, queue, results, watch)
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

    def _known(self, variants: np.ndarray, n: int) -> np.ndarray:
        """Check which robots are to run n pairs."""
        variants = np.asarray(variants)
        if variants.shape != (n,) or not np.issubdtype(variants.dtype, np.integer):
            raise InvalidValueError(
                f"variants must be {n} integers, not {variants.dtype} of shape {variants.shape}"
            )
        least, most = (variants.min(), variants.max()) if n else (0, 0)
        if not 0 <= least <= most < self._variants:
            raise InvalidValueError(f"variants must be from 0 to {self._variants - 1}, not {least} to {most}")
        return variants

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


def _check_variants(robots: Sequence[Robot]) -> None:
    """Refuse robots that cannot share an evaluation."""
    if not robots:
        raise InvalidValueError("a simulation needs a robot")
    first, *others = ((robot_controller(robot), robot.measure_dim) for robot in robots)
    if any(other != first for other in others):
        found = ", ".join(f"{robot.name} with {robot_controller(robot).shape}" for robot in robots)
        raise InvalidValueError(
            f"variants of a robot must share their controllers and measures, not: {found}"
        )
