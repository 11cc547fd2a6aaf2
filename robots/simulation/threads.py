"""`Threads`: the backend that runs episodes on the cores of this machine."""

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from weakref import WeakKeyDictionary

import numpy as np

from robots.errors import InvalidValueError, shown
from robots.evaluations import OBJECTIVES_AND_MEASURES, Request, TransitionColumns
from robots.simulation.backend import Backend, ModelBatch, OnFinished
from robots.simulation.episodes import Episodes
from robots.simulation.state import TALLY
from robots.simulation.stepper import Stepper
from robots.simulation.trace import TraceColumns

_MOST = 1024  # threads; more than any machine can use


class Threads(Backend):
    """Runs episodes on threads of this process.

    Args:
        threads: how many; all cores that this process may use by default.

    Raises:
        InvalidValueError: there cannot be so many.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= _MOST):
            raise InvalidValueError(f"threads must be at least 1 and at most {_MOST}, not {shown(threads)}")
        self._given = threads
        self._steppers: WeakKeyDictionary[ModelBatch, _Steppers] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["Threads"], tuple[int | None]]:
        return Threads, (self._given,)

    @property
    def threads(self) -> int:  # type: ignore[override]
        """How many."""
        return self._given or available_cores()

    def run(
        self,
        batch: ModelBatch,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        models: np.ndarray | None = None,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: OnFinished | None = None,
    ) -> Episodes:
        """See `Backend.run`."""
        solutions, seeds, models, request = batch.checked(solutions, seeds, models, request)
        with self._lock:
            steppers = self._steppers.setdefault(batch, _Steppers(batch))
        n, robot = len(seeds), batch.robots[0]
        # each episode has sums of its own, so that neither threads nor their order change anything
        sums = np.zeros((n, 2, 0 if request.observed is None else robot.observation_dim))
        columns = TransitionColumns(robot.observation_dim, robot.action_dim).count
        steps = max(robot.description.episode_steps for robot in batch.robots)
        transitions = np.empty((n, steps if request.transitions else 0, columns), np.float32)
        traces = np.empty((n, steps if request.traces else 0, TraceColumns.of(robot).end), np.float32)
        tallies, contacts = np.zeros(n, TALLY), np.zeros((n, len(robot.description.feet)), np.int64)
        work = _Work(solutions, seeds, models, tallies, contacts, sums, transitions, traces, on_finished)
        _ = robot.controller.compiled_kernel  # compiled here, or each thread would compile it
        count = max(1, min(self.threads, n))
        with ThreadPoolExecutor(count, thread_name_prefix="episodes") as pool:
            try:
                for job in [pool.submit(work.go, steppers) for _ in range(count)]:
                    job.result()
            except BaseException:
                work.abandoned[0] = True
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


ALL_CORES, ONE_THREAD = Threads(), Threads(1)


def backend_of(threads: int | Backend | None) -> Backend:
    """What runs episodes: so many threads of this machine, by default one for each core, or a backend itself.

    Raises:
        InvalidValueError: there cannot be so many threads.
    """
    return threads if isinstance(threads, Backend) else Threads(threads)


class _Steppers:
    """Steppers of a batch's robots that no thread uses now."""

    def __init__(self, batch: ModelBatch) -> None:
        self._robots, self._idle = batch.robots, defaultdict[int, list[Stepper]](list)

    @contextmanager
    def one(self, model: int) -> Iterator[Stepper]:
        """A stepper of a robot for the calling thread, made if all are in use."""
        try:
            stepper = self._idle[model].pop()  # one operation, so that threads need no lock
        except IndexError:
            stepper = Stepper(self._robots[model])
        yield stepper
        self._idle[model].append(stepper)


@dataclass
class _Work:
    """The n episodes of one call of `run`, which threads take one by one and fill in."""

    solutions: np.ndarray  # (n, p) float32
    seeds: np.ndarray  # (n,)
    models: np.ndarray  # which robot runs each, (n,)
    tallies: np.ndarray  # (n,)
    contacts: np.ndarray  # control steps in which each foot was in contact, (n, f)
    sums: np.ndarray  # of observations and of their squares, (n, 2, o), or (n, 2, 0)
    transitions: np.ndarray  # (n, steps, columns) float32, or (n, 0, columns)
    traces: np.ndarray  # likewise
    on_finished: OnFinished | None
    # set when nobody wants the results any more
    abandoned: np.ndarray = field(default_factory=lambda: np.zeros(1, np.bool_))

    def __post_init__(self) -> None:
        self._waiting = iter(range(len(self.seeds)))
        self._finished = 0
        self._lock = threading.Lock()

    def go(self, steppers: _Steppers) -> None:
        """Run episodes until none is left, or they are abandoned."""
        while (index := self._take()) is not None:
            with steppers.one(int(self.models[index])) as stepper:
                stepper.run(
                    self.solutions[index],
                    int(self.seeds[index]),
                    abandoned=self.abandoned,
                    sums=self.sums[index],
                    transitions=self.transitions[index],
                    trace=self.traces[index],
                )
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


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where processes cannot be bound to cores
