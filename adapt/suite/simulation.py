"""`simulate_recoveries`: recoveries on the simulated robot, to compare with replayed ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adapt.recovery import recover
from adapt.selectors.catalogue import find_selector
from adapt.suite.cases import Track
from adapt.suite.metrics import at_stop
from adapt.suite.results import Results
from adapt.suite.study import RecoveryStudy

_SELECTORS = ("rehearsed", "map-bo")


@dataclass(frozen=True)
class Simulated:
    """A recovery of a simulated robot up to the selector's own stop, and the replays of the same case.

    Attributes:
        damage: its text.
        selector: name.
        seed: of the recovery.
        trials: until it stopped.
        ratio: recovery ratio of the controller that was found, from fresh episodes.
        replayed_trials: mean of the replays from this damage.
        replayed_ratio: mean of the replays, at the selector's own stop.
    """

    damage: str
    selector: str
    seed: int
    trials: int
    ratio: float
    replayed_trials: float
    replayed_ratio: float


def simulate_recoveries(
    study: RecoveryStudy,
    results: Results,
    count: int,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> list[Simulated]:
    """Run recoveries with `rehearsed` and `map-bo`, as far as these were replayed, on the damaged robot.

    Args:
        study: whose robot it is.
        results: of the replays; recoveries are those of their `main_track`.
        count: number of recoveries with each, spread evenly over the damages; at most one from each.
        on_progress: called with the share that is done.

    Returns:
        The recoveries; empty if no track has the rehearsed robot.
    """
    track = results.main_track
    if track is None:
        return []
    cases = len(results.case_set(track).cases)
    chosen = np.unique(np.linspace(0, cases - 1, min(count, cases)).astype(int))
    plan = [
        (name, seed, index)
        for name in _SELECTORS
        if name in results.selectors
        for seed, index in enumerate(chosen)
    ]
    found = []
    for done, (name, seed, index) in enumerate(plan, start=1):
        found.append(_simulate(study, results, track, name, seed, index))
        if on_progress:
            on_progress(done / len(plan))
    return found


def _simulate(
    study: RecoveryStudy,
    results: Results,
    track: Track,
    selector: str,
    seed: int,
    index: int,
) -> Simulated:
    """Run one recovery."""
    case, runs = results.case_set(track).cases[index], results.runs(track, selector)
    recovery = recover(
        study.repertoire,
        study.settings.damages[study.settings.texts.index(case.damage)],
        seed=seed,
        trials=results.trials,
        selector=selector,
        table=results.setting.table(track, case.damage) if find_selector(selector).needs_table else None,
        confirmations=1,
        threads=study.threads,
    )
    score = recovery.recovered.objective - case.min_objective
    return Simulated(
        damage=case.damage,
        selector=selector,
        seed=seed,
        trials=len(recovery.trials),
        ratio=float(np.clip(score / case.oracle_score, 0, 1)),
        replayed_trials=float(runs.stops[index].mean()),
        replayed_ratio=float(at_stop(runs)[index].mean()),
    )
