"""`Threads`: the backend that runs episodes on the cores of this machine."""

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import NamedTuple

import numpy as np

from robots.errors import InvalidValueError, shown
from robots.evaluations import Request, TransitionColumns
from robots.robot import Robot
from robots.simulation.backend import Backend, ModelBatch, Work
from robots.simulation.episodes import Episodes
from robots.simulation.state import TALLY
from robots.simulation.stepper import Stepper
from robots.simulation.trace import TraceColumns

_MOST = 1024  # threads; more than any machine can use


class Threads(Backend):
    """Runs episodes on threads of this process.

    Args:
        threads: how many; all cores that this process may use by default.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= _MOST):
            raise InvalidValueError(f"threads must be at least 1 and at most {_MOST}, not {shown(threads)}")
        self._given = threads

    @property
    def threads(self) -> int:  # type: ignore[override]
        """How many."""
        return self._given or available_cores()

    def _run(self, work: Work) -> Episodes:
        batch, solutions, seeds, models, request, on_finished = work
        n, robot = len(seeds), batch.robots[0]
        found = _Found.of(batch, n, request)
        waiting = iter(np.argsort(models, kind="stable").tolist())  # one robot after the other
        abandoned, lock, count = np.zeros(1, np.bool_), threading.Lock(), itertools.count(1)
        _ = robot.controller.compiled_kernel  # compiled here, or each thread would compile it

        def run_some() -> None:
            stepper = None
            for index in waiting:  # the threads take them one by one
                if abandoned[0]:
                    return
                model = batch.robots[models[index]]
                if stepper is None or stepper.robot is not model:
                    stepper = Stepper(model)
                found.run(index, stepper, solutions[index], int(seeds[index]), abandoned)
                with lock:  # so that the numbers come in order
                    if on_finished and not abandoned[0]:
                        on_finished(next(count))

        threads = max(1, min(self.threads, n))
        with ThreadPoolExecutor(threads, thread_name_prefix="episodes") as pool:
            try:
                for job in [pool.submit(run_some) for _ in range(threads)]:
                    job.result()
            except BaseException:
                abandoned[0] = True
                raise
        return found.episodes(robot, request)


ALL_CORES, ONE_THREAD = Threads(), Threads(1)


def backend_of(threads: int | Backend | None) -> Backend:
    """A backend itself, or that with so many threads of this machine, by default one for each core."""
    return threads if isinstance(threads, Backend) else Threads(threads)


class _Found(NamedTuple):
    """What n episodes fill in; each has sums of its own, so that no order of threads changes anything."""

    tallies: np.ndarray  # (n,)
    contacts: np.ndarray  # control steps in which each foot was in contact, (n, f)
    sums: np.ndarray  # of observations and of their squares, (n, 2, o), or (n, 2, 0)
    transitions: np.ndarray  # (n, steps, columns) float32, or (n, 0, columns)
    traces: np.ndarray  # the same

    @classmethod
    def of(cls, batch: ModelBatch, n: int, request: Request) -> "_Found":
        robot = batch.robots[0]
        columns = TransitionColumns(robot.observation_dim, robot.action_dim).count
        steps = max(robot.description.episode_steps for robot in batch.robots)
        return cls(
            np.zeros(n, TALLY),
            np.zeros((n, len(robot.description.feet)), np.int64),
            np.zeros((n, 2, 0 if request.observed is None else robot.observation_dim)),
            np.empty((n, steps if request.transitions else 0, columns), np.float32),
            np.empty((n, steps if request.traces else 0, TraceColumns.of(robot).end), np.float32),
        )

    def run(
        self, index: int, stepper: Stepper, solution: np.ndarray, seed: int, abandoned: np.ndarray
    ) -> None:
        sums, transitions, trace = self.sums[index], self.transitions[index], self.traces[index]
        stepper.run(solution, seed, abandoned=abandoned, sums=sums, transitions=transitions, trace=trace)
        self.tallies[index], self.contacts[index] = stepper.state.tally[0], stepper.state.contacts

    def episodes(self, robot: Robot, request: Request) -> Episodes:
        return Episodes.from_tallies(
            robot,
            self.tallies,
            self.contacts,
            observed=request.observed,
            sums=None if request.observed is None else self.sums,
            transitions=_cut(self.transitions, self.tallies) if request.transitions else None,
            traces=_cut(self.traces, self.tallies) if request.traces else None,
        )


def _cut(rows: np.ndarray, tallies: np.ndarray) -> np.ndarray:
    """Of rows for every control step, (n, steps, columns), those of each episode, (n,) of objects."""
    cut = np.empty(len(rows), object)
    for index, length in enumerate(np.where(tallies["diverged"], 0, tallies["steps"])):
        cut[index] = rows[index, :length]
    return cut


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where processes cannot be bound to cores
