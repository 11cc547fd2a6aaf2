"""`Lane`: what one thread of a simulation works with, and how lanes share the episodes."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robots.controllers import Controller
from robots.robot import Robot
from robots.simulation.closed_loop import ClosedLoop
from robots.simulation.episodes import Episodes
from robots.simulation.moments import NOT_WATCHED, Watch


class Queue:
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
class Order:
    """What an evaluation's lanes share.

    Attributes:
        parameters: (n, p) float32.
        seeds: (n,).
        variants: (n,) which robot runs each.
        queue: hands out which of them to run.
        results: to be filled in.
        watch: sums the observations of some of them.
    """

    parameters: np.ndarray
    seeds: np.ndarray
    variants: np.ndarray
    queue: Queue
    results: Episodes
    watch: Watch | None


class Lane:
    """What one thread works with."""

    def __init__(self, robots: Sequence[Robot], controller: Controller) -> None:
        self._robots = robots
        self._controller = controller
        self._loops = {0: ClosedLoop(robots[0], controller)}  # by variant, made when it is needed first
        self._busy = threading.Lock()

    def run(self, order: Order) -> None:
        """Run episodes until none is left in the queue, or it is abandoned; one call at a time."""
        queue = order.queue
        with self._busy:
            while (index := queue.take()) is not None:
                sums = order.watch.sums(index) if order.watch else NOT_WATCHED
                seed = int(order.seeds[index])
                loop = self._loop(int(order.variants[index]))
                loop.run(order.parameters[index], seed, abandoned=queue.abandoned, sums=sums)
                if queue.abandoned[0]:
                    return
                _harvest(loop, index, order.results)
                queue.finish()

    def _loop(self, variant: int) -> ClosedLoop:
        """What runs a variant."""
        if variant not in self._loops:
            self._loops[variant] = ClosedLoop(self._robots[variant], self._controller)
        return self._loops[variant]


def _harvest(loop: ClosedLoop, index: int, results: Episodes) -> None:
    """Write down the result of a loop's last episode."""
    tally = loop.tally
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
    results.measures[index] = loop.measures if good else np.nan
