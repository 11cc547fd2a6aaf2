"""`simulate_recoveries`: recoveries on the simulated robot, to compare with replayed ones."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from adapt.recovery import recover
from adapt.selectors.catalogue import find_selector
from suites.recovery.recoveries import Results
from suites.recovery.study import RecoveryStudy

_SELECTORS = ("rehearsed", "map-bo")


def simulate_recoveries(
    study: RecoveryStudy,
    results: Results,
    count: int,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Run recoveries with `rehearsed` and `map-bo`, as far as these were replayed, on the damaged robot.

    Like the replays they end with what the selector recommends, without confirmation trials.

    Args:
        study: whose robot it is.
        results: of the replays; recoveries are those of their `main_track`.
        count: number of recoveries with each, spread evenly over the damages; at most one from each.
        on_progress: called with the share that is done.

    Returns:
        A row for each: `selector`, `damage`, the number of `trials` until it stopped, its `ratio` by fresh
        episodes, and the means of the replays from this damage, `replayed_trials` and `replayed_ratio`, at
        the selector's own stop. Empty if no track has the rehearsed robot.
    """
    track = results.main_track
    if track is None:
        return pd.DataFrame()
    replayed, rehearsed = results.of(track), study.rehearsed()
    damages = replayed["damage"].unique()
    chosen = np.unique(np.linspace(0, len(damages) - 1, min(count, len(damages))).astype(int))
    names = [name for name in _SELECTORS if name in results.selectors]
    found = []
    for name, (seed, damage) in ((name, pair) for name in names for pair in enumerate(damages[chosen])):
        own = replayed[(replayed["selector"] == name) & (replayed["damage"] == damage)]
        given = track.library(damage, study.library.conditions)
        recovery = recover(
            study.repertoire,
            study.settings.damages[study.settings.texts.index(damage)],
            seed=seed,
            trials=results.trials,
            selector=name,
            table=rehearsed.take(given) if find_selector(name).needs_table else None,
            confirmations=0,
            threads=study.threads,
        )
        score = recovery.recovered.objective - study.repertoire.settings.min_objective
        found.append(
            {
                "selector": name,
                "damage": damage,
                "trials": len(recovery.trials),
                "replayed_trials": own["stop"].mean(),
                "ratio": np.clip(score / own["oracle"].iloc[0], 0, 1),
                "replayed_ratio": own["RR@stop"].mean(),
            }
        )
        if on_progress:
            on_progress(len(found) / (len(names) * len(chosen)))
    return pd.DataFrame(found)
