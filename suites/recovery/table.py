"""`recovery_tables`: the results of a recovery study as two tables, of faults and of recoveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robots.errors import InvalidValueError
from suites.recovery.metrics import EARLY, measured, trials_of
from suites.recovery.results import OracleResult, RecoveryResult, TrialRecord
from suites.recovery.tracks import Track
from suites.recovery.trial import RecoveryTrial
from suites.suite import Key

_SUBJECTS = ("self-model", "rehearsed")  # the first of them that ran is compared with the others


@dataclass(frozen=True, eq=False)
class Results:
    """What a recovery study found about a robot in some tracks.

    Attributes:
        faults: a row for each fault and world of tracks: `world`, `damage`, `oracle`, the score of the best
            gait found, `rr_0`, the incumbent's share of it, `headroom`, that score as a share of the
            incumbent's on the whole robot, and `binding`: whether selectors recover, which the best gait
            that was found by trying all decides. Faults that were not looked at yet are missing.
        recoveries: a row for each recovery from a binding fault, sorted by track, selector, damage and seed.
            `track` are the names of the tracks that share it, with spaces between. `stop` is the number of
            trials after which the selector would have stopped, `falls_10` how many of the first ten ended in
            a fall, `rr_1`, ... the recovery ratio of what it recommended after each trial, `gait` the row
            recommended last, `refined` whether it was found meanwhile, and `fallen` the share of its true
            episodes that ended in a fall; `seconds`, `explained`, `diagnosis` and its `probability` tell of
            its thinking. `rr_0` and `headroom` are those of the fault.
    """

    robot: str
    tracks: tuple[Track, ...]
    faults: pd.DataFrame
    recoveries: pd.DataFrame

    @property
    def trials(self) -> int:
        """Number of trials of each recovery."""
        return trials_of(self.recoveries)

    @property
    def selectors(self) -> list[str]:
        """Names, in the order of the tables."""
        return list(self.recoveries["selector"].unique())

    @property
    def subject(self) -> str:
        """The selector that is compared with the others, and filmed."""
        return next((name for name in _SUBJECTS if name in self.selectors), self.selectors[0])

    def of(self, track: Track) -> pd.DataFrame:
        """The measured recoveries in a track, see `measured`, as far as all selectors have them."""
        names = self.recoveries["track"].str.split()
        return measured(_complete(self.recoveries[[track.name in some for some in names]]))


def recovery_tables(
    robot: str, tracks: tuple[Track, ...], plan: Sequence[RecoveryTrial], results: Sequence[TrialRecord]
) -> Results:
    """Put the results of planned trials into tables.

    The oracle of a fault is what has the highest mean in the episodes by which it is chosen, of the best gait
    that was found by trying all and of the gaits of the repertoire that selectors ended with and that score
    above 0. Ratios are shares of its score, which comes from other episodes: what a selector recommends may
    exceed it.
    """
    found = {one.key: one for one in results}
    planned = [(trial, found[trial.key]) for trial in plan if trial.key in found]
    oracles = {_fault(trial): one for trial, one in planned if isinstance(one, OracleResult)}
    if not oracles:
        raise InvalidValueError("there are no results to report")
    planned = [(trial, one) for trial, one in planned if _fault(trial) in oracles]
    best: dict[Key, TrialRecord] = dict(oracles)
    for trial, one in planned:
        if isinstance(one, RecoveryResult) and (one.refined or one.score <= 0):
            continue  # it is no gait of the repertoire, or ratios cannot be shares of its score
        best[_fault(trial)] = max(best[_fault(trial)], one, key=lambda result: result.final)
    faults = [
        {
            "world": world,
            "damage": one.damage,
            "oracle": best[key].score,
            "rr_0": one.incumbent / best[key].score if best[key].score > 0 else np.nan,
            "headroom": best[key].score / one.whole if one.whole > 0 else np.nan,
            "binding": one.binding,
        }
        for key, one in oracles.items()
        for world, *_ in [key]
    ]
    known = {(row["world"], row["damage"]): row for row in faults}
    order = {track.name: number for number, track in enumerate(tracks)}
    runs = [
        _row(trial, one, known[trial.tracks[0].world, one.damage])
        for trial, one in planned
        if isinstance(one, RecoveryResult) and one.scores
    ]
    runs.sort(key=lambda row: order[row["track"].split()[0]])
    return Results(robot, tracks, pd.DataFrame(faults), pd.DataFrame(runs))


def _fault(trial: RecoveryTrial) -> Key:
    return trial.tracks[0].world, "", trial.fault


def _row(trial: RecoveryTrial, result: RecoveryResult, fault: dict[str, Any]) -> dict[str, Any]:
    """A recovery as a row."""
    return {
        "track": " ".join(track.name for track in trial.tracks),
        "selector": result.selector,
        "damage": result.damage,
        "seed": result.number,
        **{name: fault[name] for name in ("oracle", "rr_0", "headroom")},
        "stop": result.stop,
        f"falls_{EARLY}": sum(result.falls[:EARLY]),
        "gait": result.gait,
        "seconds": result.seconds,
        "explained": result.explained,
        "diagnosis": result.diagnosis,
        "probability": result.probability,
        "refined": result.refined,
        "fallen": result.fallen,
        **{f"rr_{trial}": score / fault["oracle"] for trial, score in enumerate(result.scores, start=1)},
    }


def _complete(recoveries: pd.DataFrame) -> pd.DataFrame:
    """The recoveries that every selector has, sorted by damage and seed.

    They are of the seeds that all have of all damages or, if there is none, of the damages that all have of
    all seeds.
    """
    if recoveries.empty:
        return recoveries
    columns = ["seed", "selector"]
    there = recoveries.pivot_table("rr_0", index="damage", columns=columns, aggfunc="count", sort=False)
    there = there.reindex(columns=pd.MultiIndex.from_product(there.columns.levels))  # also what none has yet
    seeds = there.notna().all().groupby("seed").all()
    if seeds.any():
        kept = recoveries["seed"].isin(seeds.index[seeds])
    else:
        kept = recoveries["damage"].isin(there.index[there.notna().all(axis=1)])
    order = list(dict.fromkeys(recoveries["damage"]))
    return recoveries[kept].sort_values(
        ["damage", "seed"],
        key=lambda column: column.map(order.index) if column.name == "damage" else column,
        kind="stable",
    )
