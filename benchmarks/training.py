"""Run as a program: train for a minute with a full archive, and print where time and memory went."""

import resource
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.simulation import quiet_controllers
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.storage.files import FILE_NAME
from repertoire.training.runs import start_training
from repertoire.training.training import Training

_SECONDS = 60.0  # as long as the default time between checkpoints, so that one falls due


def main(robot: str, folder: Path, seconds: float = _SECONDS) -> None:
    """Print the share of the time spent in simulation and the peak memory [GB]."""
    with start_training(robot, "sep-cma-mae", out=folder, evaluations=10**9, seed=1) as training:
        _measure(training, folder, seconds)


def _measure(training: Training, folder: Path, seconds: float) -> None:
    """Fill the archives, train on, and print."""
    # search around a controller that stays on its feet: every episode then has its full length
    start = quiet_controllers(training.repertoire().robot, 1)[0]
    for emitter in training.search.emitters:
        assert isinstance(emitter, EvolutionStrategyEmitter)
        emitter.strategy.restart(start)
    _fill(training)
    training.step()
    training.timing.search = training.timing.evaluation = training.timing.saving = 0.0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        training.step()
    training.save(folder / FILE_NAME)
    spent = training.timing
    share = spent.evaluation / (spent.evaluation + spent.search + spent.saving)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(share, peak)


def _fill(training: Training) -> None:
    """Put a poor solution in every cell of both archives, for a full archive's cost of memory and saving."""
    shape = training.settings.archive.shape
    cells = np.indices(shape).reshape(len(shape), -1).T  # (cells, m)
    measures = (cells + 0.5) / np.array(shape)
    solution = np.zeros((1, training.problem.solution_dim), np.float32)
    for measure in measures:
        for archive in (training.search.soft, training.search.result):
            archive.add(solution, np.array([training.settings.min_objective + 1e-3]), measure[None])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
