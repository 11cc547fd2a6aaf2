"""Tables and results of benchmarks that never ran, with known numbers."""

from collections.abc import Mapping

import numpy as np

from adapt.damage import HEALTHY
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Prior
from adapt.suite.cases import find_tracks
from adapt.suite.replay import Noise
from adapt.suite.results import CaseSet, ReplaySetting, Results, Runs, SelectorRuns, make_cases

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


def make_case_set(table: Table) -> CaseSet:
    """The cases of a table whose two sets of episodes are the same; row 0 is the incumbent."""
    cases = make_cases(table, table, best_of(table), min_objective=0.0)
    return CaseSet(cases=tuple(cases), excluded=(), incumbent=0)


def make_setting(
    table: Table, case_sets: Mapping[bool, CaseSet], *, trials: int, seeds: int
) -> ReplaySetting:
    """What replays read, with a library of four damages."""
    k = table.objectives.shape[1]
    return ReplaySetting(
        prior=Prior(table.objectives[0], np.random.default_rng(0).random((k, 2)), 0.0),
        rehearsed=table,
        library=(HEALTHY, *DAMAGES[:4]),
        case_sets=case_sets,
        trials=trials,
        seeds=seeds,
        noise=Noise(0.01, 0.0),
        seed=3,
    )


def make_runs(good: float, *, seeds: int = 4, trials: int = 20, seed: int = 0) -> Runs:
    """Recoveries that end at about a ratio."""
    rng, shape = np.random.default_rng(seed), (len(DAMAGES), seeds, trials)
    climb = good * (1 - np.exp(-np.arange(1, trials + 1) / 3)) + rng.normal(0, 0.02, shape)
    return Runs(
        ratios=np.clip(np.maximum.accumulate(climb, axis=2), 0, 1),
        falls=rng.random(shape) < 0.1,
        stops=rng.integers(2, 6, shape[:2]),
        recommended=np.broadcast_to(np.arange(5, 11)[:, None, None], shape),
    )


def make_results(robot: str = "hexapod") -> Results:
    """A benchmark of four selectors in two tracks, T0 and T3; all damages but the fourth are binding."""
    t0, t3 = tracks = find_tracks(["T0", "T3"])
    recoveries = [
        SelectorRuns(name, name, tracks, make_runs(_GOOD[name], seed=number))
        for number, name in enumerate(SELECTORS[:3])
    ]
    recoveries += [
        SelectorRuns(f"rehearsed {track.name}", "rehearsed", (track,), make_runs(good, seed=seed))
        for track, good, seed in ((t0, _GOOD["rehearsed"], 3), (t3, 0.99, 9))
    ]
    table = make_table(make_objectives())
    setting = make_setting(table, {False: make_case_set(table)}, trials=20, seeds=4)
    return Results(robot, setting, tuple(recoveries), tracks, SELECTORS)
