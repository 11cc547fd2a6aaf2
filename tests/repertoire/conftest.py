from pathlib import Path
from typing import Any

import pytest

from repertoire.training.runs import start_training
from repertoire.training.training import Training

# Two iterations a second: short episodes and few of them
SMALL = {"evaluations": 96, "seed": 3, "emitters": 2, "batch_size": 8, "sigma0": 0.1, "episode_steps": 40}


@pytest.fixture
def start(tmp_path: Path):
    """Starts small runs, each in a folder of its own."""

    def make(name: str = "run", *, algorithm: str = "sep-cma-mae", **settings: Any) -> Training:
        return start_training("ant", algorithm, out=tmp_path / name, **(SMALL | settings))

    return make
