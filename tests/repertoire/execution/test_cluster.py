"""Episodes on a cluster find what they find here, whatever happens to workers."""

import os
import signal

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.recovery import recover
from adapt.requests import RecoveryRequest
from repertoire.execution.running import software_versions
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import resume_training, start_training
from robots.errors import SurefootError
from robots.evaluations import Request
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.threads import Threads
from tests.adapt.rehearsal.small import small_repertoire
from tests.repertoire.evaluation.test_evaluator import on_the_moon, same

distributed = pytest.importorskip("distributed")
from repertoire.execution.cluster import Cluster, chunk_size, cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and its threads
N = 24
SMALL = {"seed": 1, "emitters": 1, "batch_size": 20, "sigma0": 0.1, "episode_steps": 5, "hidden": (2,)}
ROBOTS = (small_repertoire().robot, on_the_moon(small_repertoire().robot))
BATCH = ModelBatch(*ROBOTS)
DAMAGE = parse_damage("front_left:weak@0.4", ROBOTS[0])


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def workers(said):
    with cluster("local:2", say=said.append) as found:
        yield found


@pytest.fixture(scope="module")
def work() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    parameters = rng.normal(0, 0.1, (N // 2, ROBOTS[0].controller.parameter_count))
    return {
        "solutions": np.repeat(parameters, 2, axis=0).astype(np.float32),
        "seeds": np.arange(N) % 5,
        "models": rng.integers(0, 2, N),
        "request": Request(observed=rng.random(N) < 0.5),
    }


@pytest.fixture(scope="module")
def expected(work):
    return Threads(2).run(BATCH, **work)


def test_a_cluster_finds_what_a_simulation_finds(workers, work, expected) -> None:
    counts: list[int] = []
    found = workers.run(BATCH, **work, on_finished=counts.append)
    assert same(found, expected)
    assert np.array_equal(found.moments.sums, expected.moments.sums)
    assert np.array_equal(found.moments.squares, expected.moments.squares)
    assert counts == sorted(counts)
    assert counts[-1] == N
    assert workers.threads == 2
    none = workers.run(BATCH, work["solutions"][:0], work["seeds"][:0])
    assert len(none) == 0


@pytest.mark.parametrize(
    ("episodes", "processes", "threads", "size"),
    [
        (200, 2, 1, 13),  # eight chunks for each worker
        (200, 100, 1, 2),  # one for each worker
        (200, 4, 25, 50),  # the threads of a worker share a chunk
        (1, 400, 1, 1),
    ],
)
def test_chunks_are_enough_work_and_leave_work_for_everyone(episodes, processes, threads, size):
    assert chunk_size(episodes, processes, processes * threads) == size


def test_a_recovery_thinks_on_the_workers(workers, monkeypatch) -> None:
    def recovered(backend: Backend):
        asked = RecoveryRequest(trials=2, confirmations=0, think_episodes=10, refine=0)
        return recover(small_repertoire(), DAMAGE, asked, backend=backend)

    expected = recovered(Threads(2))
    with monkeypatch.context() as here:
        here.setattr(Threads, "run", lambda *_, **__: pytest.fail("an episode ran here"))
        found = recovered(workers)
    assert found.trials[0].thought.episodes >= 10
    assert found.trials[0].diagnosis == expected.trials[0].diagnosis
    assert found.row == expected.row


def test_a_killed_worker_changes_nothing(workers, work, expected) -> None:
    pids = set(workers._client.run(os.getpid).values())

    def kill(_done: int) -> None:
        if pids:
            os.kill(pids.pop(), signal.SIGKILL)

    assert same(workers.run(BATCH, **work, on_finished=kill), expected)
    assert same(workers.run(BATCH, **work, on_finished=kill), expected)
    assert not pids


def test_a_local_cluster_answers_nobody_without_its_key(workers, monkeypatch) -> None:
    """Not without encryption, not encrypted without a certificate, and not with another one."""
    address = workers._address
    assert address.startswith("tls://127.0.0.1:")
    monkeypatch.setattr("repertoire.execution.cluster._CONNECT_SECONDS", 1.0)
    strangers = [
        (address.replace("tls:", "tcp:"), None),
        (address, None),
        (address, distributed.Security.temporary()),
    ]
    for stranger in strangers:
        with pytest.raises(SurefootError, match="there is no Dask scheduler at"):
            Cluster(*stranger)


def test_a_worker_with_other_software_is_warned_of_and_recorded_for_good(workers, said, tmp_path) -> None:
    """Files say so too, also that of a run that is resumed without such workers."""

    def pretend(*, machine: dict[str, str] | None) -> None:
        import repertoire.execution.cluster as module

        module._software.cache_clear()
        if machine:
            module.software_versions = lambda: machine

    with start_training(
        "ant", "sep-cma-mae", out=tmp_path, backend=workers, evaluations=40, **SMALL
    ) as training:
        workers._client.run(pretend, machine=software_versions() | {"numpy": "0.1"})
        training.step()
        training.save(tmp_path / FILE_NAME)
    assert len(said) == 1
    assert "a worker has numpy 0.1 instead of " in said[0]
    with resume_training(tmp_path, backend=Threads(1)) as training:
        training.run(tmp_path / FILE_NAME)
    assert read_repertoire(tmp_path / FILE_NAME).versions["workers"].startswith("numpy 0.1 instead of ")


@pytest.fixture
def empty_cluster():
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as local:
        yield local.scheduler_address


def test_without_workers_there_is_an_error_in_time(empty_cluster, monkeypatch) -> None:
    monkeypatch.setattr("repertoire.execution.cluster._PATIENCE_SECONDS", 0.2)
    with pytest.raises(SurefootError, match=r"had no worker for 0 s: what was saved can be resumed"):
        Cluster(empty_cluster)


def test_a_scheduler_that_goes_is_an_error(work) -> None:
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as local:
        found = Cluster(local.scheduler_address)

        def close(done: int) -> None:
            if done < N:
                local.close()

        with pytest.raises(SurefootError, match=r"the connection to the Dask scheduler at .* is lost"):
            found.run(BATCH, **work, on_finished=close)
        found.close()


@pytest.mark.slow
def test_workers_that_die_of_the_same_chunk_are_an_error(workers, work) -> None:
    def die() -> None:
        import repertoire.execution.cluster as module

        module._prepared = lambda *_: os._exit(1)

    workers._client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    workers._client.run(die)
    with pytest.raises(SurefootError, match=r"workers died of the same episodes, .* out of memory"):
        workers.run(BATCH, **work)
