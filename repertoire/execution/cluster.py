"""`cluster`: the episodes of this process run on the workers of a Dask cluster, on any number of machines.

An episode's result depends on its robot, parameters and seed alone. Workers may therefore join, leave or be
killed at any moment: Dask gives their work to others, and the results are those of a single machine.
"""

import asyncio
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory

import numpy as np

from repertoire.execution.executor import Executor, set_executor_source
from repertoire.execution.workers import interrupts_blocked, interrupts_deferred
from robots.errors import InvalidFileError, InvalidValueError, SurefootError, one_line, shown
from robots.evaluations import OBJECTIVES_AND_MEASURES, Request
from robots.files.texts import read_json
from robots.plugins import VARIABLE
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation

try:
    import cryptography  # noqa: F401, with which Dask makes keys
    import dask
    import distributed
    from distributed import Client, Future, KilledWorker, LocalCluster, Scheduler, Security

    from repertoire.execution.chunks import (
        PACKAGES,
        Admission,
        Chunk,
        RefusedError,
        canary,
        difference,
        pack,
        run_chunk,
    )
    from repertoire.execution.chunks import versions as our_versions
except ImportError as error:
    raise SurefootError(
        "a cluster needs Dask and cryptography, which are not installed: pip install 'surefoot[cluster]'"
    ) from error

_LOCAL = "local:"
_MOST_LOCAL = 1024
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 1.0  # between two looks at the workers while no result comes
_CHUNK_SECONDS = 0.1  # of work of a whole worker, next to which the few milliseconds of a task are little
_CHUNKS = 8  # for every thread at most, so that none waits long for the last ones of a batch
_ASSUMED_SECONDS = 0.02  # of an episode, until some have been timed
_SMOOTHING = 0.2
_SILENT_SECONDS = 60  # without a word, after which a worker is restarted and others do its work
_DEATHS = 30  # of workers with the same chunk, after which the chunk is held to be what kills them
_CONFIGURATION = {
    "distributed.admin.large-graph-warning-threshold": "1GiB",  # solutions are large
    "distributed.worker.profile.enabled": False,  # it would look at the threads every 10 ms
    "distributed.scheduler.http.routes": [],  # pages about a run, for whoever can reach their port
    "distributed.worker.http.routes": [],
}


@dataclass(frozen=True)
class ClusterSettings:
    """Which cluster runs the episodes, and on what terms.

    Attributes:
        address: of the Dask scheduler, such as `tcp://10.0.0.1:8786` or, encrypted, `tls://...`; or `local:N`
            for N worker processes on this machine, which end with this process.
        mixed: whether to accept workers whose processors round differently.
        patience: how long to wait for a worker while there is none [s].
        security: certificate and key with which to connect; without any, those of Dask's configuration.
    """

    address: str
    mixed: bool = False
    patience: float = 120.0
    security: "Security | None" = field(default=None, repr=False)


def scheduler_address(path: Path) -> str:
    """The address in a scheduler file, which `dask scheduler --scheduler-file` writes.

    Raises:
        InvalidFileError: the file cannot be read, or is not of this kind.
    """
    found = read_json(path)
    if isinstance(found, dict) and isinstance(found.get("address"), str):
        return str(found["address"])
    raise InvalidFileError(
        f"{path} is not a scheduler file, which is JSON with an address: dask scheduler --scheduler-file "
        "writes one"
    )


@contextmanager
def cluster(settings: ClusterSettings, *, say: Callable[[str], None] = print) -> Iterator["Cluster"]:
    """Have a cluster run all episodes of this process meanwhile.

    Args:
        settings: of the cluster.
        say: called with a sentence whenever a worker is refused.

    Raises:
        SurefootError: there is no such cluster or no worker, or a worker has other versions of the software.
        InvalidValueError: the address cannot be one.
    """
    with ExitStack() as stack:
        local = None
        if settings.address.startswith(_LOCAL):
            folder = stack.enter_context(TemporaryDirectory(prefix="surefoot-", ignore_cleanup_errors=True))
            local = stack.enter_context(_local_cluster(settings.address.removeprefix(_LOCAL), folder))
            settings = replace(settings, address=local.scheduler_address, security=local.security)
        found = stack.enter_context(closing(connect(settings, say, local)))
        set_executor_source(found)
        stack.callback(set_executor_source, None)
        yield found


def _local_cluster(count: str, folder: str) -> LocalCluster:
    """Start so many workers on this machine, with a key that only these processes have, and a folder."""
    if not (count.isascii() and count.isdecimal() and len(count) < 10 and 1 <= int(count) <= _MOST_LOCAL):
        raise InvalidValueError(
            f"local:N takes a number of workers from 1 to {_MOST_LOCAL}, not {shown(count)}"
        )
    resource_tracker.ensure_running()  # or it would start with the first worker, and unblock interrupts
    dask.config.set(_CONFIGURATION | {"temporary-directory": folder})
    # Ctrl-C is for this process alone, which cannot close what has only half started
    with interrupts_deferred(), interrupts_blocked():
        # other users of the machine can reach the port: without the key nobody can connect
        return LocalCluster(
            protocol="tls://",
            security=Security.temporary(),
            n_workers=int(count),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )


async def _knock(address: str, security: Security) -> None:
    """Raise an error of any kind unless a Dask scheduler answers."""
    arguments = security.get_connection_args("client")
    connecting = distributed.comm.connect(address, timeout=_CONNECT_SECONDS, **arguments)
    (await asyncio.wait_for(connecting, _CONNECT_SECONDS + 1)).abort()


def connect(
    settings: ClusterSettings, say: Callable[[str], None] = print, local: LocalCluster | None = None
) -> "Cluster":
    """Connect to a scheduler, which may be that of a local cluster, and wait for a worker; see `cluster`."""
    for name in ("", ".client", ".core", ".nanny", ".scheduler"):
        logging.getLogger(f"distributed{name}").setLevel(logging.CRITICAL)  # what matters is raised here
    dask.config.set(_CONFIGURATION)
    security = settings.security or Security()
    try:
        with ThreadPoolExecutor(1) as pool:  # a client that fails leaves half of itself behind
            pool.submit(asyncio.run, _knock(settings.address, security)).result()
        client = Client(settings.address, timeout=_CONNECT_SECONDS, set_as_default=False, security=security)
    except Exception as error:  # whatever another kind of server answers
        raise SurefootError(
            f"there is no Dask scheduler at {settings.address} ({one_line(error) or 'no answer'}): start one "
            "with dask scheduler, or name local:4 for four workers on this machine"
        ) from error
    found = Cluster(client, settings, say, local)
    try:
        found.prepare()
    except BaseException:
        found.close()
        raise
    return found


class Cluster:
    """A connection to a Dask scheduler, which starts executors that run episodes on its workers.

    A pickled one connects anew, in the process that unpickles it.

    Args:
        client: connected to the scheduler.
        settings: with the scheduler's address.
        say: called with a sentence whenever a worker is refused.
        local: the cluster, if it is this process's own: then workers that died are replaced.

    Attributes:
        mixed: whether processors may round differently.
        home: under which the scheduler keeps the robots of this process.
        threads: of all workers together, when they were last looked at.
        processes: number of workers then.
    """

    def __init__(
        self,
        client: Client,
        settings: ClusterSettings,
        say: Callable[[str], None],
        local: LocalCluster | None,
    ) -> None:
        self.mixed = settings.mixed
        self.home = f"surefoot-{client.id}"
        self.threads = self.processes = 1
        self._client, self._settings, self._say, self._local = client, settings, say, local
        self._episode_seconds = _ASSUMED_SECONDS
        self._refusal = ""  # of the last worker that was refused
        self._proven = False  # whether any worker has run episodes
        self._failures = 0  # of connections, since a worker has run episodes
        self._alone_since: float | None = None

    def __reduce__(self) -> tuple[Callable[..., "Cluster"], tuple[ClusterSettings]]:
        return connect, (self._settings,)

    def close(self) -> None:
        """Take away what the scheduler keeps, and disconnect."""
        if self._client.status == "running":
            self._client.set_metadata([self.home], None)
        self._client.close(timeout=_CONNECT_SECONDS)

    def prepare(self) -> None:
        """Wait for a worker, and make sure that those that are there have the same software.

        Raises:
            SurefootError: there is no worker in time, or one has other versions.
        """
        self._client.run_on_scheduler(_set_terms, silent_seconds=_SILENT_SECONDS)
        while not self.count_workers():
            time.sleep(0.1)
        for worker, reason in self._strangers().items():
            raise SurefootError(f"the worker {worker} {reason}: all machines need the same software")

    def executor(self, *robots: Robot) -> Executor:
        """Start what runs episodes of these robots, see `Simulation`."""
        return ClusterSimulation(self, robots)

    def keep(self, robot: Robot) -> str:
        """Have the scheduler keep a robot for workers to fetch; returns its checksum."""
        checksum, packed = pack(robot)
        self._client.set_metadata([self.home, checksum], packed)
        return checksum

    def chunk_size(self, episodes: int) -> int:
        """How many episodes to send to a worker at a time: enough work, and work for everyone."""
        each, threads = episodes / self.processes, self.threads / self.processes  # for and of a worker
        rounds = min(_CHUNKS * threads, each * self._episode_seconds / (threads * _CHUNK_SECONDS))
        return math.ceil(each / max(1, int(rounds)))

    def run(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Episodes]]:
        """Run chunks, and yield each with its results as soon as they are there.

        Raises:
            SurefootError: there is no worker for too long, workers die of a chunk, or an episode fails.
        """
        ended: SimpleQueue[Future] = SimpleQueue()
        waiting: dict[str, tuple[Future, Chunk]] = {}

        def submit(some: Sequence[Chunk]) -> None:
            for future, chunk in zip(self._client.map(run_chunk, some, pure=False), some, strict=True):
                waiting[future.key] = future, chunk
                future.add_done_callback(ended.put)

        try:
            submit(chunks)
            while waiting:
                batch = self._next(ended)
                for key, found in self._gather(batch).items():
                    if found is not None:
                        _, chunk = waiting.pop(key)
                        self._time(found[1] / len(chunk.seeds))
                        yield chunk, found[0]
                failed = [future for future in batch if future.key in waiting and self._excuse(future)]
                submit([waiting.pop(future.key)[1] for future in failed])
        finally:
            self._client.cancel([future for future, _ in waiting.values()], force=True)

    def count_workers(self) -> int:
        """Number of workers that can work.

        Raises:
            SurefootError: there has been none for too long, or the scheduler is gone.
        """
        if self._client.status != "running":
            raise self._lost()
        try:
            workers = self._client.scheduler_info()["workers"].values()
        except (OSError, TimeoutError, KeyError) as error:  # a lost scheduler tells nothing
            raise self._lost() from error
        if self._local:
            self._local.scale(len(self._local.worker_spec))
        threads = [worker["nthreads"] for worker in workers if worker["status"] == "running"]
        if threads:
            self.threads, self.processes, self._alone_since = sum(threads), len(threads), None
            return len(threads)
        self._wait(bool(workers))
        return 0

    def _wait(self, workers: bool) -> None:
        """Have patience until some worker works; raise once there is none left."""
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        hopeless = self._refusal and not self._proven
        if hopeless or now - self._alone_since > self._settings.patience:
            state = "all of its workers are out of memory" if workers else "it has no worker"
            why = self._refusal if hopeless else f"for {self._settings.patience:.0f} s {state}"
            raise SurefootError(
                f"the cluster at {self._settings.address} cannot run episodes: {why}; what was saved can be "
                "resumed once there are workers"
            )

    def _time(self, seconds: float) -> None:
        """Take in how long a worker took for an episode, with all of its threads [s]."""
        taken = seconds * self.threads / self.processes
        self._episode_seconds += _SMOOTHING * (taken - self._episode_seconds)
        self._proven, self._failures = True, 0

    def _next(self, ended: "SimpleQueue[Future]") -> list[Future]:
        """Wait for futures that finished or failed, and return all there are."""
        while True:
            with suppress(Empty):
                first = ended.get(timeout=_LOOK_SECONDS)
                return [first, *(ended.get() for _ in range(ended.qsize()))]
            self.count_workers()

    def _gather(self, futures: Sequence[Future]) -> dict[str, tuple[Episodes, float] | None]:
        """Fetch the results of futures that finished; None for one that failed after all."""
        done = {future.key: future for future in futures if future.status == "finished"}
        fetching = self._client.gather(done, errors="skip", asynchronous=True)
        job = asyncio.run_coroutine_threadsafe(fetching, self._client.loop.asyncio_loop)
        while True:
            try:
                return job.result(_LOOK_SECONDS)
            except (OSError, CancelledError):  # a timeout is an OSError too
                if job.done():
                    return {}  # they are run again, unless the scheduler is gone
                self.count_workers()  # Dask computes anew what was lost with a worker, if there is another

    def _excuse(self, future: Future) -> bool:
        """Whether a chunk that failed is to be run again; raises an error if that would be in vain."""
        error = future.exception() if future.status == "error" else None
        if error is None and self._client.status != "running":
            raise self._lost()
        if error is None:
            return True  # its result was lost on the way
        if isinstance(error, OSError) and self._failures < _DEATHS:
            self._failures += 1  # most probably the worker lost its connection because it is ending
            return True
        if isinstance(error, RefusedError):
            self._refuse({error.worker: error.reason})
            return True
        if isinstance(error, SurefootError):
            raise error
        if isinstance(error, MemoryError | KilledWorker):
            raise SurefootError(
                "workers died of the same episodes, most probably because they ran out of memory: give them "
                "more, for example with fewer threads in each; what was saved can be resumed"
            ) from error
        strangers = self._strangers()
        if not strangers:
            raise SurefootError(f"a worker failed: {type(error).__name__}: {one_line(error)}") from error
        self._refuse(strangers)
        return True

    def _strangers(self) -> dict[str, str]:
        """Which workers have other versions of the software, and which."""
        found = self._client.get_versions(packages=[*PACKAGES])
        ours = found["client"]["packages"]
        reasons = {worker: difference(ours, its["packages"]) for worker, its in found["workers"].items()}
        return {worker: reason for worker, reason in reasons.items() if reason}

    def _refuse(self, workers: Mapping[str, str]) -> None:
        """Send workers away, so that they get no further work."""
        for worker, reason in workers.items():
            self._refusal = f"the worker {worker} was refused, because it {reason}"
            self._say(self._refusal)
        with suppress(OSError, TimeoutError):  # a worker may have gone by itself
            self._client.retire_workers([*workers], close_workers=True)

    def _lost(self) -> SurefootError:
        """The error that the scheduler is gone."""
        return SurefootError(
            f"the connection to the Dask scheduler at {self._settings.address} is lost: what was saved can "
            "be resumed once it is back"
        )


def _set_terms(dask_scheduler: Scheduler, silent_seconds: float) -> None:
    """On the scheduler: how often a chunk may fail, and how long a worker may hang, which makes it silent."""
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, _DEATHS)
    looking = dask_scheduler.periodic_callbacks.get("worker-ttl")  # not where its owner wants none
    if looking is not None:
        dask_scheduler.worker_ttl = silent_seconds
        looking.stop()
        looking.callback_time = 1000 * silent_seconds / 4  # [ms]
        looking.start()


class ClusterSimulation:
    """Runs episodes of some robots on a cluster, and gives the results of their `Simulation`.

    Args:
        cluster: where.
        robots: see `Simulation`.

    Raises:
        InvalidValueError: see `Simulation`.
    """

    def __init__(self, cluster: Cluster, robots: tuple[Robot, ...]) -> None:
        self.threads = cluster.threads
        self._cluster, self._robots = cluster, robots
        self._here = Simulation(*robots, threads=1)  # which checks arguments
        self._kept: dict[int, str] = {}  # checksums of the robots that the scheduler keeps

    def close(self) -> None:
        """See `Executor`; the workers are the cluster's."""
        self._here.close()

    def evaluate(
        self,
        parameters: np.ndarray,
        seeds: np.ndarray,
        *,
        variants: np.ndarray | None = None,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Episodes:
        """See `Simulation.evaluate`; `on_finished` is called in this thread.

        Raises:
            InvalidValueError: see `Simulation.evaluate`.
            SurefootError: see `Cluster.run`.
        """
        parameters, seeds, variants, request = self._here.check(parameters, seeds, variants, request)
        if not len(seeds):
            return self._here.evaluate(parameters, seeds, request=request)
        self._cluster.count_workers()
        size = self._cluster.chunk_size(len(seeds))
        chunks = [
            self._chunk(rows, int(variant), parameters, seeds, request)
            for variant in np.unique(variants)
            for every in [np.flatnonzero(variants == variant)]
            for rows in np.split(every, range(size, len(every), size))
        ]
        rows, parts, finished = [], [], 0
        for chunk, episodes in self._cluster.run(chunks):
            rows.append(chunk.rows)
            parts.append(episodes.columns)
            finished += len(episodes)
            if on_finished:
                on_finished(finished)
        return Episodes.joined(parts, np.argsort(np.concatenate(rows)))

    def _chunk(
        self,
        rows: np.ndarray,
        variant: int,
        parameters: np.ndarray,
        seeds: np.ndarray,
        request: Request,
    ) -> Chunk:
        """The chunk of some rows of an evaluation, which are of one variant."""
        new = [not np.array_equal(parameters[row], parameters[before]) for before, row in pairwise(rows)]
        first, observed = np.array([True, *new]), request.observed
        return Chunk(
            rows=rows,
            solutions=parameters[rows[first]],
            uses=np.cumsum(first) - 1,
            seeds=seeds[rows],
            request=replace(request, observed=None if observed is None else observed[rows]),
            robot=self._keep(variant),
            admission=self._admission,
        )

    def _keep(self, variant: int) -> str:
        """Checksum of a robot, which the scheduler keeps from now on."""
        if variant not in self._kept:
            self._kept[variant] = self._cluster.keep(self._robots[variant])
        return self._kept[variant]

    @cached_property
    def _admission(self) -> Admission:
        """What workers must have and find."""
        return Admission(
            versions=tuple(our_versions().items()),
            plugins=os.environ.get(VARIABLE, ""),
            home=self._cluster.home,
            robot=self._keep(0),
            canary="" if self._cluster.mixed else canary(self._robots[0]),
        )
