"""Run as a program with a robot's name, or the path of its YAML: the lowest objective to expect of a search.

It is the floor of every threshold and the offset of the QD score, so it should lie below nearly everything
that enters an archive. The authors of the paper took the lowest objective that any of their runs inserted;
this takes the lowest of random controllers of several strengths and of short training runs.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from repertoire.problems.locomotion import Locomotion
from repertoire.training.runs import start_training
from robots.evaluations import Evaluations
from robots.robot import find_robot

_GAINS = (
    0.5,
    1.0,
    2.0,
    4.0,
)  # times Xavier initialisation; stronger controllers work against themselves harder
_RANDOM = 2000  # controllers per gain
_SEEDS = (1, 2, 3)
_EVALUATIONS = 5000  # per training run


def main(robot: str) -> None:
    """Print the lowest objective of each source."""
    for gain in _GAINS:
        print(f"random controllers, gain {gain}: {_lowest_of_random(robot, gain):.2f}", flush=True)
    for seed in _SEEDS:
        print(f"sep-cma-mae, seed {seed}: {_lowest_of_training(robot, seed):.2f}", flush=True)


def _lowest_of_random(robot: str, gain: float) -> float:
    """Lowest objective of random controllers."""
    problem, rng = Locomotion(find_robot(robot)), np.random.default_rng(0)
    lowest = np.inf
    for start in range(0, _RANDOM, 200):
        solutions = np.stack([np.float32(gain) * problem.initial(rng) for _ in range(200)])
        lowest = min(lowest, _lowest(problem.evaluate(solutions, np.arange(start, start + 200))))
    return lowest


def _lowest_of_training(robot: str, seed: int) -> float:
    """Lowest objective that a training run evaluates."""
    with (
        TemporaryDirectory() as folder,
        start_training(
            robot, "sep-cma-mae", out=Path(folder), evaluations=_EVALUATIONS, seed=seed
        ) as training,
    ):
        evaluate, lowest = training.problem.evaluate, [np.inf]

        def watch(*args: object, **options: object) -> Evaluations:
            evaluations = evaluate(*args, **options)  # type: ignore[arg-type]
            lowest.append(_lowest(evaluations))
            return evaluations

        training.problem.evaluate = watch  # type: ignore[method-assign]
        while not training.finished:
            training.step()
    return min(lowest)


def _lowest(evaluations: Evaluations) -> float:
    """Lowest objective of the evaluations that succeeded."""
    return float(np.nanmin(evaluations.objectives))


if __name__ == "__main__":
    main(sys.argv[1])
