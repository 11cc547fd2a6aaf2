"""`simulate_recoveries`: recoveries on the simulated robot, to compare with replayed ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adapt.recovery import recover
from adapt.selectors.catalogue import find_selector
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
    cases = results.case_set(track).cases
    chosen = np.unique(np.linspace(0, len(cases) - 1, min(count, len(cases))).astype(int))
    plan = [
        (name, seed, index)
        for name in _SELECTORS
        if name in results.selectors
        for seed, index in enumerate(chosen)
    ]
    found = []
    for name, seed, index in plan:
        case, runs = cases[index], results.runs(track, name)
        recovery = recover(
            study.repertoire,
            study.settings.damages[study.settings.texts.index(case.damage)],
            seed=seed,
            trials=results.trials,
            selector=name,
            table=results.setting.table(track, case.damage) if find_selector(name).needs_table else None,
            confirmations=1,
            threads=study.threads,
        )
        score = recovery.recovered.objective - case.min_objective
        found.append(
            Simulated(
                damage=case.damage,
                selector=name,
                seed=seed,
                trials=len(recovery.trials),
                ratio=float(np.clip(score / case.oracle_score, 0, 1)),
                replayed_trials=float(runs.stops[index].mean()),
                replayed_ratio=float(at_stop(runs)[index].mean()),
            )
        )
        if on_progress:
            on_progress(len(found) / len(plan))
    return found
