"""`cluster`: episodes run on the workers of a Dask cluster, on any number of machines.

An episode's result depends on its robot, parameters and seed alone. Workers may therefore join, leave or be
killed at any moment: Dask gives their work to others, and the results are those of a single machine with the
same software and processor. Where a worker has other software, a warning says so.
"""

import logging
import math
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakKeyDictionary

import cloudpickle
import numpy as np
from threadpoolctl import threadpool_limits

from repertoire.execution.running import software_versions
from robots.compilation import sources_hash
from robots.errors import InvalidFileError, InvalidValueError, SurefootError, installed, one_line, shown
from robots.evaluations import Request
from robots.files.texts import read_json
from robots.plugins import VARIABLE, load_plugins
from robots.simulation.backend import Backend, ModelBatch, Work
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ONE_THREAD, Threads
from robots.workers import interrupts_deferred, starting_processes

with installed("a cluster needs Dask and cryptography, which are", "'surefoot[cluster]'"):
    import cryptography  # noqa: F401, with which Dask makes keys
    import dask
    from distributed import Client, Future, KilledWorker, LocalCluster, Security, as_completed, get_worker

_LOCAL = "local:"
_CONNECT_SECONDS = 10.0
_PATIENCE_SECONDS = 120.0  # for which to wait for a worker while there is none
_LOOK_SECONDS = 1.0  # between two looks at the workers while no result comes
_POLL_SECONDS = 0.002
_CHUNKS = 8  # for every worker at most, so that none waits long for the last ones of a batch
_LEAST = 2  # episodes of a chunk for every thread, next to which the few milliseconds of a task are little
_CONFIGURATION = {
    "distributed.admin.large-graph-warning-threshold": "1GiB",  # solutions are large
    "distributed.scheduler.allowed-failures": 30,  # deaths of workers with the same chunk
    "distributed.worker.profile.enabled": False,  # it would look at the threads every 10 ms
    "distributed.scheduler.http.routes": [],  # pages about a run, for whoever can reach their port
    "distributed.worker.http.routes": [],
}


@contextmanager
def cluster(address: str, *, say: Callable[[str], None] = print) -> Iterator["Cluster"]:
    """Connect to a cluster for the duration of the context.

    Args:
        address: of the Dask scheduler, such as `tls://10.0.0.1:8786`; a file of JSON that tells it, as
            `dask scheduler --scheduler-file` writes; or `local:N` for N processes of this machine.
        say: warns of other software of a worker.
    """
    dask.config.set(_CONFIGURATION)
    security = None
    with ExitStack() as stack:
        if address.endswith(".json"):
            found = read_json(Path(address))
            if not (isinstance(found, dict) and isinstance(found.get("address"), str)):
                raise InvalidFileError(f"{address} does not tell the address of a scheduler")
            address = found["address"]
        elif address.startswith(_LOCAL):
            count = address.removeprefix(_LOCAL)
            if not re.fullmatch("[1-9][0-9]{0,2}", count):
                raise InvalidValueError(
                    f"local:N takes a number of workers from 1 to 999, not {shown(count)}"
                )
            folder = stack.enter_context(TemporaryDirectory(prefix="surefoot-", ignore_cleanup_errors=True))
            dask.config.set({"temporary-directory": folder})
            # Ctrl-C is for this process alone, which cannot close what has only half started
            with interrupts_deferred(), starting_processes():
                local = LocalCluster(
                    n_workers=int(count),
                    threads_per_worker=1,
                    protocol="tls://",
                    security=Security.temporary(),  # without this key, other users cannot connect
                    host="127.0.0.1",
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            stack.enter_context(local)
            address, security = local.scheduler_address, local.security
        yield stack.enter_context(closing(Cluster(address, security, say)))


class Cluster(Backend):
    """Runs episodes on the workers of a Dask scheduler, see `cluster`; a copy by pickle connects anew.

    Args:
        address: of the scheduler.
        security: certificate and key with which to connect; None for those of Dask's configuration.
        say: warns of other software of a worker.

    Attributes:
        threads: of all workers together, when they were last looked at.
        processes: number of workers then.
    """

    elsewhere = True

    def __init__(
        self, address: str, security: "Security | None" = None, say: Callable[[str], None] = print
    ) -> None:
        self.threads = self.processes = 1
        self._address, self._security, self._say = address, security, say
        self._differences: list[str] = []
        self._alone_since = math.inf
        self._robots: WeakKeyDictionary[ModelBatch, dict[int, Future]] = WeakKeyDictionary()
        self._client = _connected(address, security)
        try:
            while not self.count_workers():
                time.sleep(_LOOK_SECONDS / 10)
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[type["Cluster"], tuple[str, "Security | None"]]:
        return Cluster, (self._address, self._security)

    @property
    def differences(self) -> dict[str, str]:
        return {"workers": "; ".join(self._differences)} if self._differences else {}

    def close(self) -> None:
        """Disconnect."""
        self._client.close(timeout=_CONNECT_SECONDS)

    def _run(self, work: Work) -> Episodes:
        batch, solutions, seeds, models, request, on_finished = work
        if not len(seeds):
            return ONE_THREAD.run(batch, solutions, seeds, request=request)
        self.count_workers()
        size, plugins = chunk_size(len(seeds), self.processes, self.threads), os.environ.get(VARIABLE, "")
        chunks = {}
        for model in np.unique(models):
            every, robot = np.flatnonzero(models == model), self._robot(batch, int(model))
            for rows in np.split(every, range(size, len(every), size)):
                observed = None if request.observed is None else request.observed[rows]
                part = solutions[rows], seeds[rows], replace(request, observed=observed)
                chunks[self._client.submit(_run_chunk, robot, plugins, *part, pure=False)] = rows
        order, parts = [], []
        for rows, episodes in self._results(chunks):
            order += rows.tolist()
            parts.append(episodes.columns)
            if on_finished:
                on_finished(len(order))
        return Episodes.joined(parts, np.argsort(order))

    def _robot(self, batch: ModelBatch, model: int) -> Future:
        """A robot as a task of the cluster, which is done again if the workers that have it are gone."""
        kept = self._robots.setdefault(batch, {})
        if model not in kept:
            kept[model] = self._client.submit(bytes, zlib.compress(cloudpickle.dumps(batch.robots[model]), 1))
        return kept[model]

    def _results(self, chunks: dict[Future, np.ndarray]) -> Iterator[tuple[np.ndarray, Episodes]]:
        """The rows and episodes of each chunk as soon as they are there."""
        ended = as_completed(chunks, loop=self._client.loop, with_results=True, raise_errors=False)
        look = time.monotonic() + _LOOK_SECONDS
        try:
            while ended.count():
                for task, result in ended.next_batch(block=False):
                    if task.status != "finished" or isinstance(result, BaseException):
                        raise self._error(task.exception() if task.status == "error" else None)
                    episodes, software = result
                    self._compare(software)
                    yield chunks.pop(task), episodes  # workers need not keep it any more
                if time.monotonic() > look:
                    self.count_workers()
                    look = time.monotonic() + _LOOK_SECONDS
                time.sleep(_POLL_SECONDS)
        finally:
            self._client.cancel([*chunks], force=True)

    def count_workers(self) -> int:
        """Number of workers."""
        try:
            threads = self._client.nthreads().values()
        except (OSError, RuntimeError, ValueError) as error:
            raise self._error(None) from error
        if threads:
            self.threads, self.processes, self._alone_since = sum(threads), len(threads), math.inf
        else:
            self._alone_since = min(self._alone_since, time.monotonic())
        if time.monotonic() - self._alone_since > _PATIENCE_SECONDS:
            raise SurefootError(
                f"the cluster at {self._address} had no worker for {_PATIENCE_SECONDS:.0f} s: what was saved "
                "can be resumed once there is one"
            )
        return len(threads)

    def _error(self, error: BaseException | None) -> SurefootError:
        """Why a task failed; None where the scheduler is gone."""
        if isinstance(error, SurefootError):
            return error
        if error is None:
            reason = f"the connection to the Dask scheduler at {self._address} is lost"
        elif isinstance(error, MemoryError | KilledWorker):
            reason = "workers died of the same episodes, most probably because they ran out of memory"
        else:
            reason = f"a worker failed ({type(error).__name__}: {one_line(error)})"
        return SurefootError(f"{reason}: what was saved can be resumed")

    def _compare(self, theirs: dict[str, str]) -> None:
        """Warn of software of a worker that this machine does not have."""
        for name, ours in _software().items():
            text = f"{name} {theirs.get(name, 'missing')} instead of {ours}"
            if theirs.get(name) != ours and text not in self._differences:
                self._differences.append(text)
                self._say(f"a worker has {text}: results may differ from those of this machine")


def _connected(address: str, security: "Security | None") -> Client:
    for name in ("", ".client", ".core", ".nanny", ".scheduler"):
        logging.getLogger(f"distributed{name}").setLevel(logging.CRITICAL)  # what matters is raised here
    options = {"timeout": _CONNECT_SECONDS, "set_as_default": False, "security": security or Security()}
    try:
        return Client(address, **options)
    except Exception as error:  # whatever another kind of server answers
        raise SurefootError(
            f"there is no Dask scheduler at {address} ({one_line(error) or 'no answer'}): start one "
            "with dask scheduler, or name local:4 for four workers on this machine"
        ) from error


def chunk_size(episodes: int, processes: int, threads: int) -> int:
    """How many episodes to send to a worker at a time: enough work, and work for everyone."""
    return math.ceil(episodes / processes / max(1, min(_CHUNKS, episodes // (_LEAST * threads))))


def _run_chunk(
    robot: bytes, plugins: str, solutions: np.ndarray, seeds: np.ndarray, request: Request
) -> tuple[Episodes, dict[str, str]]:
    """Run episodes of a packed robot in a worker; returns what they found, and its software."""
    batch, threads = _prepared(robot, plugins)
    return threads.run(batch, solutions, seeds, request=request), _software()


@lru_cache(maxsize=32)
def _prepared(robot: bytes, plugins: str) -> tuple[ModelBatch, Threads]:
    """A robot in a worker, with the user's plugins, and as many threads as Dask gives the worker."""
    load_plugins([path for path in plugins.split(os.pathsep) if path])
    threadpool_limits(1, user_api="blas")
    return ModelBatch(cloudpickle.loads(zlib.decompress(robot))), Threads(get_worker().state.nthreads)


@cache
def _software() -> dict[str, str]:
    """Versions of the software, and a checksum of our sources."""
    return software_versions() | {"sources": sources_hash(Path(__file__).resolve().parents[2])}
