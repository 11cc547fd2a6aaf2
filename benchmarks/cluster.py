"""What a cluster costs: next to threads of this machine, and with many workers that only sleep."""

import asyncio
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.simulation import quiet_controllers, without_end
from repertoire.algorithms.catalogue import configure
from repertoire.execution.cluster import Cluster, ClusterSettings, cluster
from repertoire.execution.resources import one_blas_thread
from repertoire.execution.workers import end_with_parent
from repertoire.training.training import Training
from robots.backend import ModelBatch
from robots.robot import Robot, load_robot
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads

_BATCH = 200  # episodes of a generation
_HOSTS = 4  # processes that hold sleeping workers
_GENERATIONS = 12
_EMITTERS = 5


def measure_overhead(repeats: int, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Time generations on two worker processes and on two threads by turns: wall clock and processor [s]."""
    robot = without_end(load_robot("ant"))
    parameters, seeds = quiet_controllers(robot, _BATCH), np.arange(_BATCH)
    found: dict[str, list[tuple[float, float]]] = {"threads": [], "cluster": []}
    with cluster(ClusterSettings("local:2")) as there:
        batch, backends = ModelBatch(robot), {"threads": Threads(2), "cluster": there}
        for repeat in range(-1, repeats):  # the first compiles
            for name, backend in backends.items():
                started = time.perf_counter(), _processor_seconds(there)
                backend.run(batch, parameters, seeds)
                spent = time.perf_counter() - started[0], _processor_seconds(there) - started[1]
                if repeat >= 0:
                    found[name].append(spent)
                    say(f"{name}: {spent[0]:.2f} s, {spent[1]:.2f} s of processors")
    ratios = np.array(found["cluster"]) / np.array(found["threads"])
    return {
        "episodes": _BATCH,
        "load": os.getloadavg()[0],
        **{
            name: {"wall": [a for a, _ in pairs], "processor": [b for _, b in pairs]}
            for name, pairs in found.items()
        },
        "overhead": {"wall": median(ratios[:, 0]) - 1, "processor": median(ratios[:, 1]) - 1},
    }


def _processor_seconds(there: Cluster) -> float:
    """Processor time of this process and of all workers [s]."""
    return time.process_time() + sum(there._client.run(time.process_time).values())


def measure_scaling(counts: Sequence[int], threads: int, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Time generations with many workers, which sleep for as long as an episode takes a processor.

    Args:
        counts: threads of all workers together, one measurement for each.
        threads: of a worker.
        say: told each result.
    """
    robot = without_end(load_robot("ant"))
    seconds = _episode_seconds(robot)
    rows: dict[str, Any] = {}
    for count in counts:
        with _scheduler() as (address, scheduler):
            workers = max(1, count // threads)
            hosts = _start_hosts(address, workers, count // workers, seconds)
            try:
                with cluster(ClusterSettings(address)) as there:
                    while there.count_workers() < workers:
                        time.sleep(0.1)
                    row = _generations(robot, there, seconds, count, scheduler)
                    row["apart_efficiency"] = _efficiency_apart(robot, there, seconds, count)
                    rows[str(count)] = row
                    say(f"{workers} workers of {count // workers} threads: {row}")
            finally:
                for host in hosts:
                    host.kill()
    return {"episode_seconds": seconds, "episodes": _BATCH, "load": os.getloadavg()[0], "threads": rows}


@contextmanager
def _scheduler() -> Iterator[tuple[str, Any]]:
    """Run a scheduler in a process of its own; yield its address and the process."""
    import psutil

    context = multiprocessing.get_context("spawn")
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=_schedule, args=(tell,))
    process.start()
    try:
        yield told.recv(), psutil.Process(process.pid)
    finally:
        process.kill()


def _schedule(tell: Connection) -> None:
    """Run a scheduler, and tell its address."""
    import distributed

    end_with_parent()

    async def work() -> None:
        async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            tell.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(work())


def _episode_seconds(robot: Robot) -> float:
    """Processor time of an episode of full length [s]."""
    parameters = quiet_controllers(robot, 20)
    backend, batch = Threads(1), ModelBatch(robot)
    backend.run(batch, parameters[:2], np.arange(2))
    started = time.process_time()
    backend.run(batch, parameters, np.arange(20))
    return (time.process_time() - started) / 20


def _generations(
    robot: Robot, there: Cluster, seconds: float, count: int, scheduler: Any
) -> dict[str, float]:
    """Time generations of a training on sleeping workers, and what it takes of processors [s]."""
    walls, processors, searches, schedulers = [], [], [], []
    with _training(robot, there, emitters=_EMITTERS) as training, one_blas_thread():
        for number in range(_GENERATIONS):
            before = time.perf_counter(), time.process_time(), training.timing.search
            scheduled = sum(scheduler.cpu_times()[:2])
            training.step()
            if number >= 2:  # the first ones time episodes, and compile
                walls.append(time.perf_counter() - before[0])
                processors.append(time.process_time() - before[1])
                searches.append(training.timing.search - before[2])
                schedulers.append(sum(scheduler.cpu_times()[:2]) - scheduled)
    return {
        "ideal": _BATCH * seconds / count,
        "wall": median(walls),
        "search": median(searches),
        "driver_processor": median(processors),
        "scheduler_processor": fmean(schedulers),
        "efficiency": _BATCH * seconds / count / median(walls),
    }


def _efficiency_apart(robot: Robot, there: Cluster, seconds: float, count: int) -> float:
    """Efficiency of as many trainings side by side as one has emitters, each of one emitter.

    They share the workers and this process, and none waits for another: at most this could be had from
    emitters of one training that do not wait for each other.
    """

    def generations(training: Training, number: int) -> None:
        for _ in range(number):
            training.step()

    with ExitStack() as stack:
        trainings = [stack.enter_context(_training(robot, there, emitters=1)) for _ in range(_EMITTERS)]
        stack.enter_context(one_blas_thread())
        threads = stack.enter_context(ThreadPoolExecutor(_EMITTERS))
        list(threads.map(generations, trainings, [2] * _EMITTERS))  # they time episodes, and compile
        started = time.perf_counter()
        list(threads.map(generations, trainings, [_GENERATIONS - 2] * _EMITTERS))
        wall = (time.perf_counter() - started) / (_GENERATIONS - 2)
    return _BATCH * seconds / count / wall


def _training(robot: Robot, there: Cluster, *, emitters: int) -> Training:
    """A training that shares the episodes of a generation among five emitters, with so many of them."""
    from repertoire.problems.locomotion import Locomotion

    problem = Locomotion(robot, backend=there)
    given = {
        "evaluations": 10**6,
        "seed": 1,
        "emitters": emitters,
        "batch_size": _BATCH // _EMITTERS,
    }
    return Training(problem, configure(problem, "sep-cma-mae", given))


def _start_hosts(address: str, count: int, threads: int, seconds: float) -> list[Any]:
    """Start processes with so many sleeping workers in all, each of so many threads."""
    shares = [len(part) for part in np.array_split(np.arange(count), _HOSTS)]
    context = multiprocessing.get_context("spawn")
    hosts = [
        context.Process(target=_host, args=(address, share, threads, seconds)) for share in shares if share
    ]
    for host in hosts:
        host.start()
    return hosts


def _host(address: str, count: int, threads: int, seconds: float) -> None:
    """Hold workers that sleep."""
    import dask
    import distributed

    import repertoire.execution.cluster

    end_with_parent()

    class Sleeping:
        def __init__(self) -> None:
            self.pool = ThreadPoolExecutor(threads)

        def run(self, _batch: None, solutions: np.ndarray, seeds: np.ndarray, **_: object) -> Episodes:
            list(self.pool.map(time.sleep, [seconds] * len(seeds)))
            found = Episodes.unknown(len(seeds), load_robot("ant"))
            found.objectives[:] = solutions[:, 0]
            return found

    sleeping: dict[str, Any] = defaultdict(Sleeping)
    vars(repertoire.execution.cluster)["_prepared"] = lambda *_: (
        None,
        sleeping[distributed.get_worker().address],
    )

    async def work() -> None:
        workers = [
            distributed.Worker(address, nthreads=threads, memory_limit=0, dashboard=False)
            for _ in range(count)
        ]
        await asyncio.gather(*workers)
        await asyncio.gather(*(worker.finished() for worker in workers))

    with dask.config.set({"distributed.worker.profile.enabled": False}):
        asyncio.run(work())
