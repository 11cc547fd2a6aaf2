"""Small studies, and what their trials have in common."""

from dataclasses import replace
from typing import Any

import numpy as np

from suites.paper.results import TrialResult
from suites.paper.suite import PaperSuite, Variant

TIMES = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds", "saving_seconds")


def variants(*names: str) -> tuple[Variant, ...]:
    """Return algorithms with their own settings."""
    return tuple(Variant(name, name) for name in names)


def benchmark_settings(**changes: Any) -> PaperSuite:
    """Return a study of two algorithms on two benchmarks, with two trials each."""
    default = PaperSuite(
        name="small",
        variants=variants("sep-cma-mae", "map-elites-line"),
        evaluations={"sphere-10": 2000, "arm-10": 2000},
        trials=2,
        common={"rule": "batch"},
    )
    return replace(default, **changes)


def robot_settings(**changes: Any) -> PaperSuite:
    """Return a study that takes seconds: one trial of two algorithms with the hopper."""
    default = PaperSuite(
        name="locomotion",
        variants=variants("sep-cma-mae", "map-elites"),
        evaluations={"hopper": 400},
        trials=1,
        episodes=2,
        episode_steps=30,
    )
    return replace(default, **changes)


def silent(_: float) -> None:
    """Ignore progress."""


def assert_same(actual: TrialResult, expected: TrialResult, *but_for: str) -> None:
    """Compare two results except for their times."""
    found, wanted = ({**vars(one), **one.history} for one in (actual, expected))
    for name, value in wanted.items():
        if name not in {"history", *TIMES, *but_for}:
            np.testing.assert_equal(found[name], value, err_msg=name)
