"""Recoveries on the simulated robot, to compare with those that were replayed from tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adapt.damage.damage import Damage
from adapt.recovery import recover
from adapt.selectors.catalogue import find_selector
from adapt.suite.metrics import at_stop
from adapt.suite.replays import Arena
from adapt.suite.results import Results
from adapt.suite.tracks import Track
from repertoire.repertoire import Repertoire


@dataclass(frozen=True)
class Simulated:
    """A recovery of the simulated robot until the selector stopped it, and what replays of the same say.

    Attributes:
        damage: its text.
        selector: name.
        seed: of the recovery.
        trials: until it stopped.
        ratio: recovery ratio of the controller that it ended with, from fresh episodes.
        replayed_trials: mean number of trials of the replays from this damage.
        replayed_ratio: mean recovery ratio of these replays when the selector stopped.
    """

    damage: str
    selector: str
    seed: int
    trials: int
    ratio: float
    replayed_trials: float
    replayed_ratio: float


def simulate(
    repertoire: Repertoire,
    damages: Sequence[Damage],
    arena: Arena,
    results: Results,
    track: Track,
    selector: str,
    *,
    count: int,
    threads: int | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[Simulated]:
    """Run recoveries on the simulated robot, one from each of some damages.

    Args:
        repertoire: of the intact robot.
        damages: those of the results, in any order.
        arena: of the replays.
        results: of the replays.
        track: whose library the selector is given; its robot must be the rehearsed one.
        selector: name of a selector that was replayed in that track.
        count: number of recoveries, at most one for each damage; spread evenly over the damages.
        threads: of the simulation; all cores by default.
        on_done: called with the number of recoveries finished.
    """
    cases, runs = results.world(track).cases, results.runs[track.name, selector]
    needs_table = find_selector(selector).needs_table
    chosen = np.unique(np.linspace(0, len(cases) - 1, min(count, len(cases))).astype(int))
    by_text, found = {str(damage): damage for damage in damages}, []
    for seed, index in enumerate(chosen):
        case = cases[index]
        table = arena.table(track, case.damage) if needs_table else None
        recovery = recover(
            repertoire,
            by_text[case.damage],
            seed=seed,
            trials=arena.trials,
            selector=selector,
            table=table,
            confirmations=1,
            threads=threads,
        )
        height = recovery.recovered.objective - case.min_objective
        found.append(
            Simulated(
                damage=case.damage,
                selector=selector,
                seed=seed,
                trials=len(recovery.trials),
                ratio=float(np.clip(height / case.oracle, 0, 1)),
                replayed_trials=float(runs.stops[index].mean()),
                replayed_ratio=float(at_stop(runs)[index].mean()),
            )
        )
        if on_done:
            on_done(len(found))
    return found
