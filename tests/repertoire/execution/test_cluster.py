"""Episodes on a cluster find what they find here, whatever happens to workers."""

import http.client
import os
import signal
import socket
import ssl
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from repertoire.execution.executor import start_executor
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import resume_training, start_training
from robots.errors import SurefootError
from robots.evaluations import Request
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation
from tests.adapt.rehearsal.small import small_repertoire
from tests.repertoire.evaluation.test_evaluator import on_the_moon, same

distributed = pytest.importorskip("distributed")
from repertoire.execution.cluster import Cluster, ClusterSettings, cluster, connect  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Dask and its threads
    pytest.mark.xdist_group("cluster"),  # one cluster is enough
]
N = 24
SMALL = {"seed": 1, "emitters": 1, "batch_size": 20, "sigma0": 0.1, "episode_steps": 5, "hidden": (2,)}
ROBOTS = (small_repertoire().robot, on_the_moon(small_repertoire().robot))


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def workers(said):
    with cluster(ClusterSettings("local:3", patience=60), say=said.append) as found:
        yield found


@pytest.fixture(scope="module")
def work() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    parameters = rng.normal(0, 0.1, (N // 2, ROBOTS[0].controller.parameter_count))
    return {
        "parameters": np.repeat(parameters, 2, axis=0).astype(np.float32),
        "seeds": np.arange(N) % 5,
        "variants": rng.integers(0, 2, N),
        "request": Request(observed=rng.random(N) < 0.5),
    }


@pytest.fixture(scope="module")
def expected(work) -> Episodes:
    with Simulation(*ROBOTS, threads=2) as simulation:
        return simulation.evaluate(**work)


def test_a_cluster_finds_what_a_simulation_finds(workers, work, expected) -> None:
    counts: list[int] = []
    executor = start_executor(*ROBOTS)
    found = executor.evaluate(**work, on_finished=counts.append)
    assert same(found, expected)
    assert np.array_equal(found.moments.sums, expected.moments.sums)
    assert np.array_equal(found.moments.squares, expected.moments.squares)
    assert counts == sorted(counts)
    assert counts[-1] == N
    assert executor.threads == 3
    none = executor.evaluate(work["parameters"][:0], work["seeds"][:0])
    assert len(none) == 0
    executor.close()


def test_transitions_are_those_of_a_simulation(workers, work) -> None:
    executor, work = start_executor(*ROBOTS), {**work, "request": Request(transitions=True)}
    found = executor.evaluate(**work).transitions
    with Simulation(*ROBOTS, threads=2) as simulation:
        expected = simulation.evaluate(**work).transitions
    assert [len(rows) for rows in found] == [len(rows) for rows in expected]
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    executor.close()


@pytest.mark.parametrize(
    ("episodes", "processes", "threads", "seconds", "size"),
    [
        (200, 2, 1, 0.05, 13),  # eight chunks for each thread
        (200, 100, 1, 0.05, 2),  # one for each worker
        (200, 4, 25, 0.05, 50),  # the threads of a worker share a chunk
        (6400, 100, 1, 0.001, 64),  # short episodes: no chunk takes less than about 0.1 s
        (1, 400, 1, 0.05, 1),
    ],
)
def test_chunks_are_enough_work_and_leave_work_for_everyone(
    episodes: int, processes: int, threads: int, seconds: float, size: int
) -> None:
    there = SimpleNamespace(processes=processes, threads=processes * threads, _episode_seconds=seconds)
    assert Cluster.chunk_size(there, episodes) == size


def test_a_solution_with_several_episodes_travels_once(workers, work) -> None:
    executor = start_executor(ROBOTS[0])
    chunk = executor._chunk(np.arange(6), 0, work["parameters"], work["seeds"], Request())
    assert chunk.solutions.shape == (3, work["parameters"].shape[1])
    assert chunk.solutions.dtype == np.float32
    assert chunk.uses.tolist() == [0, 0, 1, 1, 2, 2]
    executor.close()


def test_an_interrupt_of_the_terminal_does_not_end_workers(workers, work, expected) -> None:
    pids = workers._client.run(os.getpid)
    for pid in pids.values():
        os.kill(pid, signal.SIGINT)
    executor = start_executor(*ROBOTS)
    assert same(executor.evaluate(**work), expected)
    executor.close()
    assert workers._client.run(os.getpid) == pids


def test_a_killed_worker_changes_nothing(workers, work, expected) -> None:
    executor = start_executor(*ROBOTS)
    pids = set(workers._client.run(os.getpid).values())

    def kill(_done: int) -> None:
        if pids:
            os.kill(pids.pop(), signal.SIGKILL)

    assert same(executor.evaluate(**work, on_finished=kill), expected)
    assert same(executor.evaluate(**work, on_finished=kill), expected)
    assert not pids
    executor.close()


def test_a_worker_that_hangs_gives_its_work_to_others(workers, work, expected, monkeypatch) -> None:
    """Dask by itself waits for five minutes."""
    monkeypatch.setattr("repertoire.execution.cluster._SILENT_SECONDS", 2)
    workers.prepare()
    executor = start_executor(*ROBOTS)
    pids = workers._client.run(os.getpid)
    stopped: list[int] = []

    def stop(_done: int) -> None:
        if not stopped:
            stopped.append(next(iter(pids.values())))
            os.kill(stopped[0], signal.SIGSTOP)

    started = time.monotonic()
    for _ in range(2):
        assert same(executor.evaluate(**work, on_finished=stop), expected)
    executor.close()
    deadline = time.monotonic() + 60
    while not dead(stopped[0]) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert dead(stopped[0]), "it is restarted"
    assert time.monotonic() - started < 120
    monkeypatch.undo()
    workers.prepare()


def dead(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def ends_without_certificate(address: str) -> bool:
    """Whether a server ends an encrypted connection that shows no certificate, before it says anything."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = address.removeprefix("tls://").split(":")
    try:
        with (
            socket.create_connection((host, int(port)), timeout=20) as plain,
            context.wrap_socket(plain) as encrypted,
        ):
            return encrypted.recv(1) == b""
    except (ssl.SSLError, ConnectionError):
        return True


def http_status(port: int, page: str) -> int | None:
    """The status of a page; None where no HTTP is spoken."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", f"/{page}")
        return connection.getresponse().status
    except (http.client.HTTPException, OSError):
        return None
    finally:
        connection.close()


def test_a_local_cluster_answers_nobody_without_its_key(workers, monkeypatch) -> None:
    """Not without encryption, not encrypted without a certificate, and not with another one."""
    address = workers._settings.address
    assert address.startswith("tls://127.0.0.1:")
    assert "BEGIN" not in repr(workers._settings), "the key is not printed"
    monkeypatch.setattr("repertoire.execution.cluster._CONNECT_SECONDS", 1.0)
    strangers = [
        ClusterSettings(address.replace("tls:", "tcp:")),
        ClusterSettings(address),
        ClusterSettings(address, security=distributed.Security.temporary()),
    ]
    for settings in strangers:
        with pytest.raises(SurefootError, match="there is no Dask scheduler at"):
            connect(settings)
    assert ends_without_certificate(address)
    listening = [
        found.laddr
        for process in [*psutil.Process().children(recursive=True), psutil.Process()]
        for found in process.net_connections()
        if found.status == psutil.CONN_LISTEN
    ]
    assert {place.ip for place in listening} == {"127.0.0.1"}
    for place in listening:  # where HTTP is spoken, there is nothing to read
        for page in ("json/identity.json", "info/main/workers.html", "status", "metrics"):
            assert http_status(place.port, page) in (None, 404)


def sabotage(name: str) -> None:
    """Have this process find something else: another canary, or other versions."""
    import repertoire.execution.chunks

    repertoire.execution.chunks._entered.clear()
    value = {"canary": "another", "versions": repertoire.execution.chunks.versions() | {"numpy": "0.1"}}[name]
    setattr(repertoire.execution.chunks, name, lambda *_: value)


@pytest.mark.parametrize(
    ("what", "words"), [("canary", "rounds differently on its processor"), ("versions", "numpy 0.1 instead")]
)
def test_a_worker_that_differs_is_sent_away(workers, said, work, expected, what: str, words: str) -> None:
    worker = next(iter(workers._client.nthreads()))
    workers._client.run(sabotage, what, workers=[worker])
    executor = start_executor(*ROBOTS)
    for _ in range(4):  # until it has been given a chunk
        assert same(executor.evaluate(**work), expected)
    assert worker in said[-1]
    assert words in said[-1]
    assert worker not in workers._client.nthreads()
    executor.close()


def test_at_the_start_a_worker_with_other_versions_is_an_error(workers, monkeypatch) -> None:
    versions = {"python": "3.12", "surefoot": "0.1", "mujoco": "4.0", "numpy": "2.3", "numba": "0.61"}
    here = {"packages": versions}
    there = {"packages": versions | {"mujoco": "0.9", "surefoot": None}}
    found = {"client": here, "workers": {"tcp://a": here, "tcp://b": there}}
    monkeypatch.setattr(workers._client, "get_versions", lambda packages: found)
    words = "the worker tcp://b has surefoot missing instead of 0.1, mujoco 0.9 instead of 4.0: all"
    with pytest.raises(SurefootError, match=words):
        workers.prepare()


@pytest.fixture
def empty_cluster():
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as local:
        yield local.scheduler_address


def test_without_workers_there_is_an_error_in_time(empty_cluster) -> None:
    with pytest.raises(SurefootError, match=r"for 0 s it has no worker; what was saved can be resumed"):
        connect(ClusterSettings(empty_cluster, patience=0.2))


def test_a_scheduler_that_goes_is_an_error(work) -> None:
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as local:
        found = connect(ClusterSettings(local.scheduler_address))
        executor = found.executor(*ROBOTS)

        def close(done: int) -> None:
            if done < N:
                local.close()

        with pytest.raises(SurefootError, match=r"the connection to the Dask scheduler at .* is lost"):
            executor.evaluate(**work, on_finished=close)
        executor.close()
        found.close()


def test_workers_that_die_of_the_same_chunk_are_an_error(workers, work) -> None:
    def die() -> None:
        import repertoire.execution.chunks

        repertoire.execution.chunks.canary = lambda _: os._exit(1)
        repertoire.execution.chunks._entered.clear()

    workers._client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    workers._client.run(die)
    executor = start_executor(*ROBOTS)
    with pytest.raises(SurefootError, match=r"workers died of the same episodes, .* out of memory"):
        executor.evaluate(**work)
    executor.close()


def test_that_processors_were_mixed_is_recorded_for_good(monkeypatch, tmp_path) -> None:
    """A run that was resumed without them still says so."""
    mixed = SimpleNamespace(mixed=True, executor=lambda robot: Simulation(robot, threads=1))
    monkeypatch.setattr("repertoire.execution.executor._source", mixed)
    with start_training("ant", "sep-cma-mae", out=tmp_path, evaluations=40, **SMALL) as training:
        training.step()
        training.save(tmp_path / FILE_NAME)
    monkeypatch.undo()
    with resume_training(tmp_path, threads=1) as training:
        training.run(tmp_path / FILE_NAME)
    assert read_repertoire(tmp_path / FILE_NAME).versions["processors"] == "mixed"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", f"local:{'9' * 5000}"], "local:N takes a number of workers from 1 to 1024, not '99"),
        (["--cluster", "local:0"], "local:N takes a number of workers from 1 to 1024, not '0'"),
        (["--cluster", "nowhere"], "there is no Dask scheduler at nowhere (missing port number"),
        (["--cluster", "local:1", "--threads", "2"], "leave out --threads"),
        (["--cluster", "local:1", "--scheduler-file", "x"], "leave one out"),
        (["--scheduler-file", "missing.json"], "cannot read missing.json: no such file"),
        (["--scheduler-file", __file__], "is not valid JSON"),
        (["--mixed"], "name one with --cluster"),
    ],
)
def test_what_is_no_cluster_is_refused_in_a_sentence(run, tmp_path, options: list[str], words: str) -> None:
    code, _, err = run("train", "ant", "--out", tmp_path / "run", *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()
