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


def same_runs(a: Repertoire, b: Repertoire) -> bool:
    """Whether two repertoires hold the same archive, thresholds and history, bit for bit."""
    columns = [(vars(a.elites)[name], column) for name, column in vars(b.elites).items()]
    columns += [(a.thresholds, b.thresholds), *((a.history[name], b.history[name]) for name in b.history)]
    return a.history.keys() == b.history.keys() and all(
        np.array_equal(one, other, equal_nan=True) and one.dtype == other.dtype for one, other in columns
    )
