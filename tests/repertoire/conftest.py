import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from repertoire.execution.running import one_blas_thread
from repertoire.repertoire import Repertoire
from repertoire.training.runs import start_training

# Two iterations a second: short episodes and few of them
SMALL = {"evaluations": 96, "seed": 3, "emitters": 2, "batch_size": 8, "sigma0": 0.1, "episode_steps": 40}


@pytest.fixture(scope="module", autouse=True)
def single_thread() -> Iterator[None]:
    """As in a run; matrices as small as these would take longer with several."""
    with one_blas_thread():
        yield


@pytest.fixture
def start(tmp_path: Path):
    """Starts small runs, each in a folder of its own."""

    def make(name="run", *, algorithm="sep-cma-mae", **settings):
        return start_training("ant", algorithm, out=tmp_path / name, **(SMALL | settings))

    return make


def arrays_in(found: object, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """The numbers in records and collections, by their path."""
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    if isinstance(found, dict):
        for key, value in sorted(found.items()):
            yield from arrays_in(value, f"{name}/{key}")
    elif isinstance(found, tuple | list):
        for number, value in enumerate(found):
            yield from arrays_in(value, f"{name}/{number}")
    elif isinstance(found, np.ndarray | np.generic | int | float):
        yield name, np.asarray(found)


def same_runs(*both: Repertoire) -> bool:
    """Whether two repertoires hold the same archive, thresholds and history, bit for bit."""
    found = ([*arrays_in([one.elites, one.thresholds, one.history])] for one in both)
    one, other = ([(name, array.dtype, array.tobytes()) for name, array in arrays] for arrays in found)
    return one == other
