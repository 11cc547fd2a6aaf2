"""Short runs give what they gave when `results.json` was written, bit for bit.

Processors and libraries round differently, so the hashes count only on a machine like the one that they were
written on. `SUREFOOT_RENEW_RESULTS=1 pytest tests/test_results.py`
writes the file anew, after a change that is meant to change results.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from threadpoolctl import threadpool_info

from adapt.damage.text import parse_damage
from adapt.recovery import recover
from adapt.requests import RecoveryRequest
from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.execution.running import processor_name, software_versions
from repertoire.storage.files import FILE_NAME
from repertoire.training.runs import start_training
from tests.repertoire.conftest import arrays_in

RECORD = Path(__file__).with_name("results.json")
RENEW = "SUREFOOT_RENEW_RESULTS" in os.environ
ROBOT = {"hidden": (8,), "episode_steps": 60, "emitters": 2, "batch_size": 8, "archive": "6"}
LEARNING = {**ROBOT, "emitters": 1, "critic_updates": 20}


def machine() -> dict[str, str]:
    """What rounding depends on."""
    versions = {name: version for name, version in software_versions().items() if name != "surefoot"}
    blas = sorted(
        f"{found['internal_api']} {found['version']} {found.get('architecture')}"
        for found in threadpool_info()
        if found["user_api"] == "blas"
    )
    processor = f"{processor_name()} ({get_host_cpu_name()})"  # the name alone stands for several generations
    return {"processor": processor, "blas": ", ".join(blas)} | versions


def sha(found: object) -> str:
    """SHA-256 of all numbers in a result."""
    total = hashlib.sha256()
    for name, array in arrays_in(found):
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return total.hexdigest()


def of_repertoire(repertoire) -> dict[str, Any]:
    """What of a repertoire is a function of its run."""
    names = ("elites", "thresholds", "history", "spread")
    return {name: getattr(repertoire, name) for name in names}


def trained(folder: Path, problem: str, algorithm: str, **settings: Any):
    with start_training(problem, algorithm, out=folder, overwrite=True, seed=1, **settings) as training:
        training.run(folder / FILE_NAME)
        return training.repertoire()


def on_sphere(algorithm: str):
    settings = {"evaluations": 400, "archive": "10,10"}
    return lambda folder: of_repertoire(trained(folder, "sphere-20", algorithm, **settings))


def hopper(folder: Path, algorithm: str = "sep-cma-mae"):
    return trained(folder, "hopper", algorithm, evaluations=96, **ROBOT)


def on_hopper(algorithm: str):
    return lambda folder: of_repertoire(trained(folder, "hopper", algorithm, evaluations=96, **LEARNING))


def corrected(folder: Path) -> object:
    evaluation = reevaluation(hopper(folder), episodes=3, seed=1)
    evaluation.run()
    return of_repertoire(correct(evaluation).repertoire)


def recovered(folder: Path) -> object:
    repertoire = hopper(folder)
    return recover(
        repertoire,
        parse_damage("joint=knee:locked", repertoire.robot),
        RecoveryRequest(seed=1, selector="map-bo-tuned", trials=8, objective="reward"),
    )


RUNS = {
    **{
        f"train sphere-20 with {name}": on_sphere(name)
        for name, algorithm in ALGORITHMS.items()
        if not algorithm.emitter.needs_transitions
    },
    **{
        f"train hopper with {name}": on_hopper(name)
        for name, algorithm in ALGORITHMS.items()
        if algorithm.emitter.needs_transitions
    },
    "train hopper": lambda folder: of_repertoire(hopper(folder)),
    "correct hopper": corrected,
    "recover hopper": recovered,
}


@pytest.fixture(scope="module")
def record():
    """The hashes and their machine; written anew at the end if the environment asks for it."""
    if not RENEW:
        yield json.loads(RECORD.read_text())
        return
    fresh: dict[str, Any] = {"machine": machine(), "hashes": {}}
    yield fresh
    RECORD.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_what_it_gave_before(record: dict[str, Any], tmp_path: Path, name: str) -> None:
    if record["machine"] != machine():
        differing = ", ".join(key for key, value in machine().items() if record["machine"].get(key) != value)
        pytest.skip(f"the hashes are those of a machine with another {differing}")
    found = sha(RUNS[name](tmp_path))
    if RENEW:
        record["hashes"][name] = found
    assert record["hashes"].get(name) == found
