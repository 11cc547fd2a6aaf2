"""The scripts for SLURM, one of them word for word, and that bash reads them."""

import subprocess
import sys

import pytest

COMMAND = ["train", "ant", "--evaluations", "1000000", "--out", "runs/my ant"]
DRIVER = """\
#!/bin/bash
#SBATCH --job-name=surefoot-driver
#SBATCH --output=FOLDER/driver-%j.log
#SBATCH --time=08:00:00
#SBATCH --mem=4G
#SBATCH --chdir=HERE
#SBATCH --partition=cpu
#SBATCH --cpus-per-task=4
#SBATCH --signal=TERM@120
set -euo pipefail
source FOLDER/environment.sh
until [ -s FOLDER/scheduler.json ]; do sleep 1; done
status=0
srun --ntasks=1 PYTHON -m surefoot train ant --evaluations 1000000 --out 'runs/my ant' \\
    --scheduler-file FOLDER/scheduler.json || status=$?
scancel "$SCHEDULER" "$WORKERS"
exit $status
"""


def test_the_scripts_for_slurm(run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--workers", 50, "--cpus", 8, "--time", "08:00:00", "--sbatch", "partition=cpu"]
    code, out, err = run("cluster", "slurm", *options, *COMMAND)
    assert (code, err) == (0, "")
    assert out == "saved the scripts; submit them with: bash cluster/submit.sh"
    folder = tmp_path / "cluster"
    words = {"FOLDER": str(folder), "HERE": str(tmp_path), "PYTHON": sys.executable}
    expected = DRIVER
    for word, value in words.items():
        expected = expected.replace(word, value)
    assert (folder / "driver.sbatch").read_text() == expected
    workers = (folder / "workers.sbatch").read_text()
    for option in ("--array=1-50\n", "--cpus-per-task=8\n", "--nthreads 8 --memory-limit 4GiB"):
        assert option in workers
    assert {path.stem for path in folder.iterdir()} >= {"scheduler", "submit", "environment"}
    assert not any("@" in path.read_text() for path in folder.iterdir() if path.stem != "driver")
    for script in sorted(folder.iterdir()):
        subprocess.run(["bash", "-n", script], check=True)
    assert "SCHEDULER" in (folder / "submit.sh").read_text()
    environment = f"source {folder}/environment.sh && env"
    found = subprocess.run(["bash", "-c", environment], capture_output=True, text=True, check=True).stdout
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        assert f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY={folder}/key.pem" in found


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["show", "x"],
            "unknown command for a cluster 'show'; available: evaluate, recover, rehearse, ",
        ),
        (["suite", "locomotive"], "unknown command for a cluster 'suite locomotive'"),
        (["train", "ant", "--evalutions", "3"], "No such option '--evalutions'"),
    ],
)
def test_a_command_that_cannot_run_is_refused(run, tmp_path, command: list[str], words: str) -> None:
    options = ["--workers", 2, "--time", "1:00:00", "--out", tmp_path / "scripts"]
    code, _, err = run("cluster", "slurm", *options, *command)
    assert code == 2
    assert words in err
    assert not (tmp_path / "scripts").exists()
