"""`start_executor`: where episodes run, which is on the cores of this machine unless a cluster takes over."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robots.evaluations import OBJECTIVES_AND_MEASURES, Request
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation


class Executor(Protocol):
    """What runs episodes on some robots: the cores of this machine, or a cluster.

    `Simulation` is one. Another one must give the same results, which depend on nothing but the robot, the
    parameters and the seed of an episode.

    Attributes:
        threads: how many episodes it runs at a time.
    """

    threads: int

    def evaluate(
        self,
        parameters: np.ndarray,
        seeds: np.ndarray,
        *,
        variants: np.ndarray | None = None,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Episodes:
        """Run one episode for each row of parameters, see `Simulation.evaluate`."""

    def close(self) -> None:
        """Let the workers go."""


class ExecutorSource(Protocol):
    """What starts executors in place of this machine; a pickled one does so in another process.

    Attributes:
        differences: what its workers had instead of what this machine has, in words; "" if nothing.
        threads: how many episodes it runs at a time, as far as it is known.
    """

    differences: str
    threads: int

    def executor(self, *robots: Robot) -> Executor:
        """Start what runs episodes of these robots."""


_source: ExecutorSource | None = None


def executor_source() -> ExecutorSource | None:
    """What starts executors in place of this machine, if anything does."""
    return _source


def set_executor_source(source: ExecutorSource | None) -> None:
    """Have a source start the executors of this process from now on; None for this machine."""
    global _source
    _source = source


def start_executor(*robots: Robot, threads: int | None = None) -> Executor:
    """Start what runs episodes of some robots.

    Args:
        robots: see `Simulation`.
        threads: on this machine; all its cores by default. No result depends on it.

    Raises:
        InvalidValueError: see `Simulation`.
    """
    return _source.executor(*robots) if _source else Simulation(*robots, threads=threads)
