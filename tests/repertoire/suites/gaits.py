"""Small studies that train robots, and results of trials that never ran."""

from pathlib import Path
from typing import Any

from repertoire.suites.gait_study import GaitSettings, Variant

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
