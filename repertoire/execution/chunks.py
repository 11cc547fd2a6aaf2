"""`run_chunk`: what a worker of a cluster does with a chunk of episodes, and how it proves itself before.

Its results are those of the run's own process because it has the same software, and because its processor
rounds alike. The latter is tried: before its first chunk it runs two episodes that the run's own process has
run too, the canary, and must find the same to the last bit.
"""

import hashlib
import os
import time
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import cloudpickle
import numpy as np
from distributed import get_worker
from distributed.utils import sync
from distributed.versions import get_package_info
from threadpoolctl import threadpool_limits

from repertoire.execution.provenance import processor_name
from robots.compilation import sources_hash
from robots.errors import SurefootError
from robots.evaluations import Request
from robots.plugins import load_plugins
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation

PACKAGES = ("surefoot", "mujoco", "numpy", "numba")  # of which all machines need the same version
_CANARY_STEPS = 1000
_KEPT = 32  # robots whose simulation a worker keeps


class RefusedError(SurefootError):
    """A worker that must not run episodes of a run.

    Args:
        worker: its address.
        reason: what it has or does.
    """

    def __init__(self, worker: str, reason: str) -> None:
        self.worker, self.reason = worker, reason
        super().__init__(f"the worker {worker} {reason}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.worker, self.reason)


@dataclass(frozen=True)
class Admission:
    """What a worker must have and find before it may run episodes of a run.

    Attributes:
        versions: of the software, by package.
        plugins: files of the user, as `SUREFOOT_PLUGINS` names them.
        home: under which the scheduler keeps the robots of the run.
        robot: checksum of the robot of the canary.
        canary: checksum of what it must find; "" if processors may round differently.
    """

    versions: tuple[tuple[str, str | None], ...]
    plugins: str
    home: str
    robot: str
    canary: str


@dataclass(frozen=True)
class Chunk:
    """Some of the episodes of an evaluation, all on one robot.

    Attributes:
        rows: which of the evaluation's episodes, (n,).
        solutions: (u, p) float32; one that several episodes in a row run is there once.
        uses: which of these solutions each episode runs, (n,).
        seeds: (n,).
        request: see `Simulation.evaluate`.
        robot: checksum of the robot.
        admission: of the run.
    """

    rows: np.ndarray
    solutions: np.ndarray
    uses: np.ndarray
    seeds: np.ndarray
    request: Request
    robot: str
    admission: Admission


def versions() -> dict[str, str | None]:
    """Versions of Python and of the packages that all machines must share, and a checksum of our sources."""
    return {**get_package_info(PACKAGES), "sources": sources_hash(Path(__file__).resolve().parents[2])}


def difference(ours: Mapping[str, str | None], theirs: Mapping[str, str | None]) -> str:
    """How the software of a worker differs from that of the run's own process; "" if it does not."""
    different = [
        f"{name} {theirs[name] or 'missing'} instead of {ours[name]}"
        for name in ("python", *PACKAGES, "sources")
        if name in ours and ours[name] != theirs[name]
    ]
    return f"has {', '.join(different)}" if different else ""


def canary(robot: Robot) -> str:
    """Checksum of all that two episodes of random controllers find."""
    short = robot.with_episode_steps(min(robot.description.episode_steps, _CANARY_STEPS))
    parameters = np.random.default_rng(0).normal(0, 0.1, (2, robot.controller.parameter_count))
    with Simulation(short, threads=1) as simulation:
        found = simulation.evaluate(parameters, np.arange(2), request=Request(observed=np.ones(2, np.bool_)))
    return hashlib.blake2b(b"".join(column.tobytes() for column in found.columns.values())).hexdigest()


def pack(robot: Robot) -> tuple[str, bytes]:
    """A robot's checksum, and the robot as the scheduler keeps it."""
    packed = zlib.compress(cloudpickle.dumps(robot), 1)
    return hashlib.blake2b(packed).hexdigest(), packed


_lock = Lock()
_entered: set[Admission] = set()
_simulations: OrderedDict[str, Simulation] = OrderedDict()  # by the checksum of their robot, the latest last


def run_chunk(chunk: Chunk) -> tuple[Episodes, float]:
    """Run the episodes of a chunk in a worker; returns what they found, and how long it took [s].

    Raises:
        RefusedError: this worker must not run them.
        InvalidFileError: a plugin of the user cannot be loaded here.
    """
    with _lock:  # one thread prepares the worker, the others wait
        if chunk.admission not in _entered:
            _enter(chunk.admission)
            _entered.add(chunk.admission)
        simulation = _simulation(chunk)
    started = time.perf_counter()
    solutions = chunk.solutions[chunk.uses]
    found = simulation.evaluate(solutions, chunk.seeds, request=chunk.request)
    return found, time.perf_counter() - started


def _enter(admission: Admission) -> None:
    """Make sure that this worker finds what the run's own process would find."""
    worker = get_worker()
    if reason := difference(dict(admission.versions), versions()):
        raise RefusedError(worker.address, reason)
    load_plugins([path for path in admission.plugins.split(os.pathsep) if path])
    threadpool_limits(1, user_api="blas")
    if admission.canary and canary(_fetch(admission.home, admission.robot)) != admission.canary:
        reason = f"rounds differently on its processor ({processor_name()}), which mixed=True accepts"
        raise RefusedError(worker.address, reason)


def _simulation(chunk: Chunk) -> Simulation:
    """This worker's simulation of a robot, with as many threads as Dask gives the worker."""
    if chunk.robot not in _simulations:
        robot = _fetch(chunk.admission.home, chunk.robot)
        _simulations[chunk.robot] = Simulation(robot, threads=get_worker().state.nthreads)
        while len(_simulations) > _KEPT:
            _simulations.popitem(last=False)  # whose threads end once nobody uses it
    _simulations.move_to_end(chunk.robot)
    return _simulations[chunk.robot]


def _fetch(home: str, checksum: str) -> Robot:
    """Fetch a robot from the scheduler."""
    worker = get_worker()
    packed = sync(worker.loop, worker.scheduler.get_metadata, keys=[home, checksum])
    robot: Robot = cloudpickle.loads(zlib.decompress(packed))
    return robot
