"""`Simulation`: evaluates controllers in closed loop, many at once, on all cores."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Literal

import numpy as np

from robots.arrays import any_array, refuse_masked
from robots.errors import InvalidValueError, shown
from robots.evaluations import OBJECTIVES_AND_MEASURES, Request, TransitionColumns
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.state import TALLY
from robots.simulation.stepper import Stepper
from robots.simulation.trace import TraceColumns

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
        check_threads(threads)
        _check_variants(robots)
        self.robot = robots[0]
        self.controller = self.robot.controller
        self.threads = threads or available_cores()
        self._robots = robots
        self._local = threading.local()  # the steppers of each thread, by variant
        _ = self.controller.compiled_kernel  # compiled here, or each thread would compile it
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="simulation")
        self._closed = False

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self._closed = True
        self._pool.shutdown()

    def evaluate(
        self,
        parameters: np.ndarray,
        seeds: np.ndarray,
        *,
        variants: np.ndarray | None = None,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Episodes:
        """Run one episode per pair.

        Args:
            parameters: (n, p) controllers, taken as float32.
            seeds: (n,) non-negative integers, one per controller.
            variants: (n,) integers, which of the robots runs each pair; the first by default.
            request: what to find out in addition to objectives and measures; no gradients.
            on_finished: called from the simulation's threads with the number of episodes finished so far.

        Raises:
            InvalidValueError: the shapes do not fit the robot's controller or each other, a value is not
                finite, there is no such variant, or the simulation was closed.
        """
        if self._closed:
            raise InvalidValueError(
                "the simulation was closed, so it runs no more episodes: start another one"
            )
        parameters, seeds, variants, request = self.check(parameters, seeds, variants, request)
        n, robot = len(seeds), self.robot
        # each episode has sums of its own, so that neither threads nor their order change anything
        sums = np.zeros((n, 2, 0 if request.observed is None else robot.observation_dim))
        columns = TransitionColumns(robot.observation_dim, robot.action_dim).count
        steps = max(robot.description.episode_steps for robot in self._robots)
        transitions = np.empty((n, steps if request.transitions else 0, columns), np.float32)
        traces = np.empty((n, steps if request.traces else 0, TraceColumns.of(robot).end), np.float32)
        tallies, contacts = np.zeros(n, TALLY), np.zeros((n, len(robot.description.feet)), np.int64)
        evaluation = _Evaluation(
            parameters, seeds, variants, tallies, contacts, sums, transitions, traces, on_finished
        )
        try:
            for job in [self._pool.submit(evaluation.work, self._stepper) for _ in range(self.threads)]:
                job.result()
        except BaseException:
            evaluation.abandoned[0] = True
            raise
        return Episodes.from_tallies(
            robot,
            tallies,
            contacts,
            observed=request.observed,
            sums=None if request.observed is None else sums,
            transitions=_cut(transitions, tallies) if request.transitions else None,
            traces=_cut(traces, tallies) if request.traces else None,
        )

    def check(
        self,
        parameters: np.ndarray,
        seeds: np.ndarray,
        variants: np.ndarray | None = None,
        request: Request = OBJECTIVES_AND_MEASURES,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Request]:
        """Bring arguments of `evaluate` into the form that steppers use.

        Raises:
            InvalidValueError: see `evaluate`.
        """
        refuse_masked(parameters)
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
        n = len(seeds)
        variants = self._known(np.zeros(n, np.int64) if variants is None else variants, n)
        if request.observed is not None:
            request = replace(request, observed=_one_each("observed", request.observed, n, "booleans"))
        return parameters, seeds, variants, request

    def _known(self, variants: np.ndarray, n: int) -> np.ndarray:
        variants = _one_each("variants", variants, n, "integers")
        least, most = (variants.min(), variants.max()) if n else (0, 0)
        if not 0 <= least <= most < len(self._robots):
            limit = len(self._robots) - 1
            raise InvalidValueError(f"variants must be from 0 to {limit}, not {least} to {most}")
        return variants

    def _stepper(self, variant: int) -> Stepper:
        """The calling thread's stepper of a variant, made when it is needed first."""
        if not hasattr(self._local, "steppers"):
            self._local.steppers = {}
        steppers: dict[int, Stepper] = self._local.steppers
        if variant not in steppers:
            steppers[variant] = Stepper(self._robots[variant])
        return steppers[variant]


@dataclass
class _Evaluation:
    """The n episodes of one call of `evaluate`, which threads take one by one and fill in."""

    parameters: np.ndarray  # (n, p) float32
    seeds: np.ndarray  # (n,)
    variants: np.ndarray  # which robot runs each, (n,)
    tallies: np.ndarray  # (n,)
    contacts: np.ndarray  # control steps in which each foot was in contact, (n, f)
    sums: np.ndarray  # of observations and of their squares, (n, 2, o), or (n, 2, 0)
    transitions: np.ndarray  # (n, steps, columns) float32, or (n, 0, columns)
    traces: np.ndarray  # likewise
    on_finished: Callable[[int], None] | None

    def __post_init__(self) -> None:
        self._waiting = iter(range(len(self.seeds)))
        self._finished = 0
        self._lock = threading.Lock()
        self.abandoned = np.zeros(1, np.bool_)  # set when nobody wants the results any more

    def work(self, stepper_of: Callable[[int], Stepper]) -> None:
        """Run episodes until none is left, or they are abandoned."""
        while (index := self._take()) is not None:
            stepper = stepper_of(int(self.variants[index]))
            parameters, seed = self.parameters[index], int(self.seeds[index])
            sums, rows, trace = self.sums[index], self.transitions[index], self.traces[index]
            stepper.run(parameters, seed, abandoned=self.abandoned, sums=sums, transitions=rows, trace=trace)
            if self.abandoned[0]:
                return
            self._finish(index, stepper)

    def _take(self) -> int | None:
        """The next index, or None if there is none left."""
        with self._lock:
            return None if self.abandoned[0] else next(self._waiting, None)

    def _finish(self, index: int, stepper: Stepper) -> None:
        self.tallies[index] = stepper.state.tally[0]
        self.contacts[index] = stepper.state.contacts
        with self._lock:
            self._finished += 1
            if self.on_finished:
                self.on_finished(self._finished)  # in the lock, so that the numbers come in order


def _cut(rows: np.ndarray, tallies: np.ndarray) -> np.ndarray:
    """Of rows for every control step, (n, steps, columns), those of each episode, (n,) of objects."""
    cut = np.empty(len(rows), object)
    for index, length in enumerate(np.where(tallies["diverged"], 0, tallies["steps"])):
        cut[index] = rows[index, :length]
    return cut


def check_threads(threads: int | None) -> None:
    """Refuse a number of threads that there cannot be; None is any.

    Raises:
        InvalidValueError: it is refused.
    """
    if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= _MOST):
        raise InvalidValueError(f"threads must be at least 1 and at most {_MOST}, not {shown(threads)}")


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where processes cannot be bound to cores


def _one_each(name: str, values: np.ndarray, n: int, kind: Literal["integers", "booleans"]) -> np.ndarray:
    values = any_array(values)
    if values.shape != (n,) or values.dtype.kind not in {"integers": "iu", "booleans": "b"}[kind]:
        raise InvalidValueError(f"{name} must be {n} {kind}, not {values.dtype} of shape {values.shape}")
    return values


def _check_variants(robots: Sequence[Robot]) -> None:
    if not robots:
        raise InvalidValueError("a simulation needs a robot")
    first, *others = ((robot.controller, robot.description.measures) for robot in robots)
    if any(other != first for other in others):
        found = ", ".join(f"{robot.name} with {robot.controller.shape}" for robot in robots)
        raise InvalidValueError(
            f"variants of a robot must share their controllers and measures, not: {found}"
        )
