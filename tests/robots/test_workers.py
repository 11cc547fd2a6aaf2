"""Worker processes end when the process that started them does, however that ended."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from robots.workers import interrupts_deferred

POOL = """
import os
import time
from robots.workers import starting_processes, worker_pool

def prepare():
    pass

def work(seconds):
    os.write(1, b"working\\n")  # in one piece, as the other worker writes too
    time.sleep(seconds)

if __name__ == "__main__":
    with worker_pool(2, prepare, advice="") as pool:
        with starting_processes():
            pool.map(work, [600] * 9)
        time.sleep(600)
"""
CLUSTER = """
import time
from repertoire.execution.cluster import cluster

if __name__ == "__main__":
    with cluster("local:2") as found:
        print("working", flush=True)
        time.sleep(600)
"""
PATIENCE = 60.0  # [s], because a process that only starts notices once it has imported what it needs


def wait_for(condition) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("code", "moment"),
    [(POOL, "starting"), (POOL, "working"), (CLUSTER, "working")],
    ids=["pool-starting", "pool-working", "cluster"],
)
def test_workers_end_with_a_parent_that_is_killed(tmp_path, code: str, moment: str) -> None:
    (tmp_path / "parent.py").write_text(code)
    with subprocess.Popen([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE) as parent:
        try:
            seen = psutil.Process(parent.pid)
            assert wait_for(lambda: len(seen.children(recursive=True)) >= 2)
            if moment == "working":
                assert parent.stdout.readline() == b"working\n"
            children = seen.children(recursive=True)
        finally:
            parent.kill()
        parent.wait()
        left = wait_for(lambda: not any(map(runs, children)))
        still = [child.cmdline() for child in children if runs(child)]
        for child in filter(runs, children):
            child.kill()
    assert left, f"still there: {still}"


def test_workers_import_nothing_of_the_current_folder(tmp_path) -> None:
    (tmp_path / "struct.py").write_text("raise ImportError('it was imported')")
    program = tmp_path / "elsewhere" / "parent.py"
    program.parent.mkdir()
    program.write_text(POOL.replace("[600] * 9", "[0]").replace("    time.sleep(600)\n", ""))
    ended = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "working\n", "")


def test_interrupts_wait_for_what_cannot_be_left_half_done() -> None:
    steps = []

    def work() -> None:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["done"]


def test_a_local_cluster_that_is_ended_early_leaves_nothing_behind(tmp_path) -> None:
    """SIGTERM while workers start: no traceback of Dask, and no folder of its own."""
    (tmp_path / "parent.py").write_text(
        CLUSTER.replace(
            "import time", "import signal\nimport time\nsignal.signal(15, signal.default_int_handler)"
        )
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = os.environ | {"TMPDIR": str(scratch)}
    line = [sys.executable, tmp_path / "parent.py"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment) as parent:
        # its folder shows that the cluster is about to start
        assert wait_for(lambda: any(scratch.iterdir()) or parent.poll() is not None)
        time.sleep(0.1)
        parent.terminate()
        said = parent.communicate(timeout=PATIENCE)[1]
    assert "close_clusters" not in said
    assert wait_for(lambda: not any(scratch.iterdir())), list(scratch.iterdir())
