"""Tables and results of benchmarks that never ran, with known numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Prior
from suites.recovery.cases import find_tracks
from suites.recovery.recoveries import ReplaySetting, Results
from suites.recovery.replay import Case, Noise, make_cases

NAMES = ("a contact [share]", "midway [m]")
DAMAGES = ("left:lost", "right:lost", "left:dead", "all:weak@0.5", "floor:friction@0.4", "right:short@0.5")
SELECTORS = ("random", "map-bo", "map-bo-tuned", "rehearsed")
_GOOD = {"random": 0.4, "map-bo": 0.75, "map-bo-tuned": 0.8, "rehearsed": 0.97}


def make_table(objectives, conditions=(HEALTHY, *DAMAGES), episodes=2) -> Table:
    """A table of given mean objectives, (d, k), whose trials hardly vary."""
    objectives = np.asarray(objectives, np.float32)
    d, k = objectives.shape
    evidence = np.stack([objectives, 0.4 * objectives], axis=-1)
    return Table(
        conditions=tuple(conditions),
        objectives=objectives,
        noise=np.full((d, k), 0.01, np.float32),
        falls=np.zeros((d, k), np.float32),
        evidence=evidence,
        evidence_std=np.full((d, k, 2), 0.01, np.float32),
        evidence_names=NAMES,
        episodes=episodes,
    )


def make_objectives(k: int = 30, seed: int = 0) -> np.ndarray:
    """Healthy and damaged objectives of k controllers, (7, k); row 0 is the best when healthy only."""
    rng = np.random.default_rng(seed)
    objectives = rng.uniform(0.2, 1.0, (1 + len(DAMAGES), k))
    objectives[0, 0] = 1.5
    objectives[1:, 0] = [0.1, 0.2, 0.3, 1.15, 1.05, 0.6]
    objectives[range(1, 7), range(5, 11)] = 1.2
    return objectives


def best_of(table: Table) -> dict[str, int]:
    """The best row of each condition."""
    return dict(zip(table.conditions, map(int, table.objectives.argmax(axis=1)), strict=True))


def cases_of(table: Table) -> list[Case]:
    """The cases of a table whose two sets of episodes are the same; row 0 is the incumbent."""
    return make_cases(table, table, best_of(table), min_objective=0.0, incumbent=0)


def make_setting(
    table: Table, cases: Mapping[bool, Sequence[Case]], *, trials: int, seeds: int
) -> ReplaySetting:
    """What replays read, with a library of four damages."""
    k = table.objectives.shape[1]
    return ReplaySetting(
        prior=Prior(table.objectives[0], np.random.default_rng(0).random((k, 2)), 0.0),
        rehearsed=table,
        library=(HEALTHY, *DAMAGES[:4]),
        cases=cases,
        trials=trials,
        seeds=seeds,
        noise=Noise(0.01, 0.0),
        seed=3,
    )


def make_runs(ratios, *, stops=None, falls=None, **columns) -> pd.DataFrame:
    """Recoveries with given ratios, (d, s, B), which stop after the last trial and never fall by default."""
    ratios = np.asarray(ratios, float)
    d, s, trials = ratios.shape
    falls = np.zeros((d, s, trials), bool) if falls is None else np.asarray(falls)
    stops = np.full((d, s), trials) if stops is None else np.asarray(stops)
    fixed = {
        "damage": np.repeat(DAMAGES[:d], s),
        "seed": np.tile(np.arange(s), d),
        "stop": stops.ravel(),
        "falls": falls.sum(axis=2).ravel(),
        "falls_10": falls[..., :10].sum(axis=2).ravel(),
    }
    climbs = {f"rr_{trial + 1}": ratios[..., trial].ravel() for trial in range(trials)}
    return pd.DataFrame(columns | fixed | climbs)


def climb_to(good: float, *, seeds: int = 4, trials: int = 20, seed: int = 0, **columns) -> pd.DataFrame:
    """Recoveries from all damages that end at about a ratio."""
    rng, shape = np.random.default_rng(seed), (len(DAMAGES), seeds, trials)
    climb = good * (1 - np.exp(-np.arange(1, trials + 1) / 3)) + rng.normal(0, 0.02, shape)
    cases = cases_of(make_table(make_objectives()))
    of_cases = {
        "binding": [int(case.binding) for case in cases],
        "rr_0": [case.unadapted for case in cases],
        "headroom": [case.oracle / case.intact for case in cases],
        "oracle": [case.oracle for case in cases],
        "gait": range(5, 11),
        "retention": [case.scores[row] / case.intact for row, case in enumerate(cases, start=5)],
    }
    return make_runs(
        np.clip(np.maximum.accumulate(climb, axis=2), 0, 1),
        falls=rng.random(shape) < 0.1,
        stops=rng.integers(2, 6, shape[:2]),
        **columns,
        **{name: np.repeat(values, seeds) for name, values in of_cases.items()},
    )


def make_results(robot: str = "hexapod") -> Results:
    """A benchmark of four selectors in two tracks, T0 and T3; all damages but the fourth are binding."""
    parts = [
        climb_to(_GOOD[name], seed=number, track="T0 T3", selector=name)
        for number, name in enumerate(SELECTORS[:3])
    ]
    parts += [
        climb_to(good, seed=seed, track=track, selector="rehearsed")
        for track, good, seed in (("T0", _GOOD["rehearsed"], 3), ("T3", 0.99, 9))
    ]
    recoveries = pd.concat(parts, ignore_index=True)
    return Results(robot, find_tracks(["T0", "T3"]), {False: ()}, recoveries)
