"""Small studies that train robots, and results of trials that never ran."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from repertoire.suites.gait_result import GaitResult
from repertoire.suites.gait_study import GaitSettings, Variant
from repertoire.suites.plan import trial_seed
from robots.robot import load_robot

WIGGLE = (-1.0, 0.5, 0.0, -0.5, 1.0)
TIMES = {"seconds", "cpu_seconds", "search_seconds", "evaluation_seconds", "saving_seconds"}


def small_settings(folder: Path, **changes: Any) -> GaitSettings:
    """Of a study that takes seconds: one trial of two algorithms with the hopper."""
    values = {
        "name": "locomotion",
        "folder": folder,
        "variants": (Variant("sep-cma-mae", "sep-cma-mae"), Variant("map-elites", "map-elites")),
        "evaluations": {"hopper": 400},
        "trials": 1,
        "episodes": 2,
        "seed": 1,
        "episode_steps": 30,
    }
    return GaitSettings(**{**values, **changes})


def make_gait_result(robot: str, algorithm: str, trial: int, **changes: Any) -> GaitResult:
    """A result with a QD score of half a million plus a wiggle, of which a fifth was lost by correction."""
    qd_score = 5e5 + 6000 * WIGGLE[trial % len(WIGGLE)]
    evaluations = np.linspace(200, 1_000_000, 20)
    history = {name: np.linspace(0, 1, 20) for name in ("coverage", "best")}
    shape = load_robot(robot).description.archive
    values = {
        "evaluations": 1_000_000,
        "qd_score": qd_score,
        "coverage": 0.5,
        "best": 900.0,
        "seconds": 7300.0,
        "cpu_seconds": 7200.0 + 60 * WIGGLE[trial % len(WIGGLE)],
        "search_seconds": 1200.0,
        "evaluation_seconds": 6000.0,
        "search_bytes": 112_000_000,
        "restarts": 0,
        "machine": "a processor",
        "history": {"evaluations": evaluations, "qd_score": qd_score * 1.25 * evaluations / 1e6, **history},
        "objectives": np.linspace(0, 900, np.prod(shape), dtype=np.float32).reshape(shape),
        "raw_qd_score": 1.25 * qd_score,
        "raw_coverage": 0.6,
        "raw_best": 1000.0,
        "saving_seconds": 30.0,
        "steps": 600_000_000,
        "episode_steps": 1000,
        "episodes": 10,
        "left_out": 0,
        "learning_rate": 0.001,
        "min_objective": -300.0,
        "threads": 1,
        "versions": "surefoot 0.1.0",
    }
    seed = trial_seed(1, (robot, algorithm, trial))
    return GaitResult(domain=robot, algorithm=algorithm, trial=trial, seed=seed, **(values | changes))


def make_gait_results(
    robots: Sequence[str], scores: dict[str, float], trials: int = 5, **changes: Any
) -> list[GaitResult]:
    """Trials of algorithms with these QD scores [10⁶], a wiggle apart, with every robot."""
    return [
        make_gait_result(
            robot, name, trial, qd_score=1e6 * score + 6000 * WIGGLE[trial % len(WIGGLE)], **changes
        )
        for robot in robots
        for name, score in scores.items()
        for trial in range(trials)
    ]
