"""What training on randomised models is worth: gaits on robots that they were never trained on."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import surefoot
from repertoire.evaluation.correction import correct, keep_best, reevaluation
from repertoire.repertoire import Repertoire
from robots.backend import ModelBatch
from robots.files.atomic import write_text
from robots.randomization import DEFAULT, GAP, randomised
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.threads import ALL_CORES
from suites.recovery.metrics import worst_tenth
from suites.transfer.pybullet import ENVIRONMENTS, PyBulletRobot, pybullet_is_installed

_BEST = 20  # gaits that are compared
_CORRECTION = 5  # episodes of each elite, on the models of its training, by which these are chosen
_NOMINAL = 4  # episodes of each on its own model
_ROBOTS = 32  # that it was not trained on, one episode on each


def measure_randomised(
    robot: str,
    out: Path,
    *,
    algorithm: str,
    evaluations: int,
    seeds: int,
    settings: Mapping[str, Any],
    say: Callable[[str], None],
) -> None:
    """Train with and without randomised models, with as many evaluations, and compare the best gaits.

    Args:
        robot: what is trained, see `surefoot.train`.
        out: CSV, with a row for each training, written after each. Those that it holds are not run again, so
            start another file for other settings.
        algorithm: what it is trained with.
        evaluations: of each training, of one episode each.
        seeds: trainings of each kind.
        settings: of the training, see `surefoot.train`; the rest are the defaults.
        say: told of progress.
    """
    rows: list[dict[str, Any]] = pd.read_csv(out).to_dict("records") if out.exists() else []
    done = {(row["robot"], row["algorithm"], row["evaluations"], row["models"], row["seed"]) for row in rows}
    for seed in range(1, seeds + 1):
        for models in (1, DEFAULT.models):
            row = {"robot": robot, "algorithm": algorithm, "evaluations": evaluations, "models": models}
            if (*row.values(), seed) in done:
                continue
            started, randomization = time.process_time(), DEFAULT if models > 1 else None
            drawn: dict[str, Any] = {"randomization": randomization} if randomization else {}
            trained = surefoot.train(
                robot, algorithm, evaluations=evaluations, seed=seed, **settings, **drawn
            )
            seconds = time.process_time() - started
            evaluation = reevaluation(trained, episodes=_CORRECTION, seed=seed, randomization=randomization)
            evaluation.run()
            best = keep_best(correct(evaluation).repertoire, _BEST)
            rows.append(row | {"seed": seed, "seconds": seconds} | _walked(best))
            say(", ".join(f"{name} {value}" for name, value in rows[-1].items()))
            write_text(out, pd.DataFrame(rows).to_csv(index=False, float_format="%.3f"))


def _walked(best: Repertoire) -> dict[str, float]:
    """How far the best gaits get on their own model, on robots that differ from it, and in PyBullet."""
    robot, gaits = best.robot, best.elites.solutions
    others = [randomised(robot, number, GAP) for number in range(_ROBOTS)]
    found: dict[str, float] = {}
    for name, robots, count in (("nominal", [robot], _NOMINAL), ("gap", others, _ROBOTS)):
        ran = ALL_CORES.run(
            ModelBatch(*robots),
            np.repeat(gaits, count, axis=0),
            np.tile(derive_seeds(0, SeedFamily.CONFIRMATION, 0, count), len(gaits)),
            models=np.tile(np.arange(count) % len(robots), len(gaits)),
        )
        distances = np.where(ran.diverged, 0.0, ran.distances)
        found[f"{name} distance"] = float(distances.mean())
        found[f"{name} worst tenth"] = float(worst_tenth(distances))
        found[f"{name} falls"] = float(ran.fell.mean())
    if robot.name in ENVIRONMENTS and pybullet_is_installed():
        there = PyBulletRobot(robot)
        walks = [there.walk(gait, seed=number) for number, gait in enumerate(gaits)]
        found["pybullet distance"] = float(np.mean([walk.distance for walk in walks]))
        found["pybullet falls"] = float(np.mean([walk.fell for walk in walks]))
    return found
