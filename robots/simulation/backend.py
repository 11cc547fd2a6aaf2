"""`Backend`: what runs episodes, such as threads or a cluster; `ModelBatch`: the robots of these episodes."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robots.arrays import any_array, refuse_masked
from robots.errors import InvalidValueError
from robots.evaluations import OBJECTIVES_AND_MEASURES, Request
from robots.robot import Robot
from robots.simulation.episodes import Episodes

OnFinished = Callable[[int], None]


class ModelBatch:
    """Robots that share their controllers and measures, such as models of one robot.

    Backends may prepare a batch once and keep that as long as the batch exists: reuse the same object.
    """

    def __init__(self, *robots: Robot) -> None:
        if not robots:
            raise InvalidValueError("there is no robot that could run episodes")
        first, *others = ((robot.controller, robot.description.measures) for robot in robots)
        if any(other != first for other in others):
            found = ", ".join(f"{robot.name} with {robot.controller.shape}" for robot in robots)
            raise InvalidValueError(
                f"models of a robot must share their controllers and measures, not: {found}"
            )
        self.robots = robots


class Work(NamedTuple):
    """The arguments of `Backend.run`, checked and converted."""

    batch: ModelBatch
    solutions: np.ndarray  # (n, p) float32
    seeds: np.ndarray  # (n,)
    models: np.ndarray  # (n,)
    request: Request
    on_finished: OnFinished | None


def _one_each(name: str, values: np.ndarray, n: int, kind: str = "integers") -> np.ndarray:
    values = any_array(values)
    if values.shape != (n,) or values.dtype.kind not in {"integers": "iu", "booleans": "b"}[kind]:
        raise InvalidValueError(f"{name} must be {n} {kind}, not {values.dtype} of shape {values.shape}")
    return values


class Backend(ABC):
    """Runs episodes.

    The result of an episode depends on its robot, solution and seed alone, never on the other episodes, their
    order or the number of threads. On processors it is the same to the last bit for every backend, as long as
    software and processor are the same; a backend on other hardware may round differently.

    Attributes:
        threads: how many episodes it runs at a time.
        elsewhere: whether it runs them on other computers or processes than this one.
    """

    threads: int
    elsewhere: bool = False

    @property
    def differences(self) -> dict[str, str]:
        """What to note about results: under `workers`, what these had instead of what this machine has."""
        return {}

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
        """Run an episode for each of n solutions.

        Args:
            batch: the robots.
            solutions: parameters of controllers, (n, p), taken as float32.
            seeds: of the episodes, (n,) non-negative integers.
            models: which robot of the batch runs each, (n,) integers; the first by default.
            request: what to find out in addition to objectives and measures.
            on_finished: called, perhaps from other threads, with the number of episodes finished so far.

        Raises:
            InvalidValueError: the shapes do not fit the robots' controller or each other, a value is not
                finite, or there is no such model.
            SurefootError: the episodes cannot be run.
        """
        refuse_masked(solutions)
        solutions = np.ascontiguousarray(solutions, np.float32)
        robot, n = batch.robots[0], len(solutions)
        expected = robot.controller.parameter_count
        if solutions.ndim != 2 or solutions.shape[1] != expected:
            raise InvalidValueError(
                f"parameters must have shape (n, {expected}) for {robot.name}'s {robot.controller.shape} "
                f"controller, not {solutions.shape}"
            )
        if not np.isfinite(solutions).all():
            bad = np.flatnonzero(~np.isfinite(solutions).all(axis=1))
            raise InvalidValueError(f"parameters must be finite, but are not at rows {bad[:10].tolist()}")
        seeds = _one_each("seeds", seeds, n)
        if n and seeds.min() < 0:
            raise InvalidValueError(f"seeds must not be negative, but one is {seeds.min()}")
        models = _one_each("models", np.zeros(n, np.int64) if models is None else models, n)
        least, most = (models.min(), models.max()) if n else (0, 0)
        if not 0 <= least <= most < len(batch.robots):
            limit = len(batch.robots) - 1
            raise InvalidValueError(f"models must be from 0 to {limit}, not {least} to {most}")
        if request.observed is not None:
            request = replace(request, observed=_one_each("observed", request.observed, n, "booleans"))
        return self._run(Work(batch, solutions, seeds, models, request, on_finished))

    @abstractmethod
    def _run(self, work: Work) -> Episodes:
        """Run the episodes."""
