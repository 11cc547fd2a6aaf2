"""What the trials of a recovery study leave behind, and all of it in two tables, of faults and recoveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from robots.errors import InvalidValueError
from robots.files.records import Record, validate
from robots.words import duration
from suites.recovery.metrics import EARLY, measured
from suites.recovery.tracks import Track
from suites.recovery.trial import RecoveryTrial
from suites.suite import Key

ORACLE = "oracle"  # what takes the place of the selector's name in the file of a fault's oracle
BINDING = 0.9  # a fault is binding if the incumbent has less than this share of the oracle's score
_LARGEST = 1e9
_SUBJECTS = ("self-model", "rehearsed")  # the first of them that ran is compared with the others
_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, strict=True, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


class ScoredRecord(Record):
    """What results of oracles and of recoveries have in common."""

    case: str  # fault and robot, or track and fault, see `RecoveryTrial.key`
    selector: str
    number: _Count
    seed: _Count
    damage: str
    gait: _Count  # row of the controller that it ended with
    final: _Number  # mean objective of that gait in the episodes by which the oracle is chosen
    score: _Number  # true score: mean objective in yet other episodes, above the minimum objective
    took: _Number  # [s]

    @property
    def key(self) -> Key:
        """Case, selector and number, which identify the trial in its study."""
        return self.case, self.selector, self.number

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return f"{self.case:<20} {self.selector:<18} {self.number:<3} {duration(self.took):>8}  {self.damage}"


class OracleResult(ScoredRecord):
    """The best gait of the repertoire for a fault."""

    incumbent: _Number  # score of the gait that the whole robot walks with
    whole: _Number  # score of that gait on the robot before the fault

    @property
    def binding(self) -> bool:
        """Whether the fault takes another gait, and there is one that scores above the minimum objective."""
        return self.score > 0 and self.incumbent < BINDING * self.score


class RecoveryResult(ScoredRecord):
    """One recovery; if the fault is not binding, one without trials."""

    scores: tuple[_Number, ...] = ()  # of what was recommended after each trial
    falls: tuple[bool, ...] = ()  # whether each trial ended in a fall
    stop: _Count = 0  # number of trials after which the selector would have stopped
    seconds: _Number = 0.0  # of thinking after a trial, as a mean [s]
    explained: _Number = 0.0  # share of what the first trial showed that its best fit explains
    diagnosis: str = ""  # the most probable cause in the end; empty if the selector does not ask
    probability: _Number = 0.0  # of that cause
    refined: bool = False  # whether the gait in the end was found during the recovery
    fallen: _Number = 0.0  # share of that gait's true episodes that ended in a fall


def parse_result(found: dict[str, Any]) -> OracleResult | RecoveryResult:
    """The result of a trial that a file holds; raise an InvalidValueError if it is not a sound one."""
    if found.get("selector") == ORACLE:
        return validate(OracleResult, found)
    result = validate(RecoveryResult, found)
    if len(result.falls) != len(result.scores) or result.stop > len(result.scores):
        raise InvalidValueError("scores, falls and stop must be of the same trials")
    if result.scores and (result.stop < 1 or result.scores[-1] != result.score):
        raise InvalidValueError("stop must be a trial, and the last score that of the gait")
    return result


@dataclass(frozen=True, eq=False)
class Results:
    """What a recovery study found about a robot in some tracks."""

    robot: str
    tracks: tuple[Track, ...]
    # a row for each fault and world of tracks, as far as they were looked at: `world`, `damage`, `oracle`,
    # the score of the best gait found, `rr_0`, the incumbent's share of it, `headroom`, that score as a share
    # of the incumbent's on the whole robot, and `binding`, whether selectors recover
    faults: pd.DataFrame
    # a row for each recovery from a binding fault, sorted by track, selector, damage and seed: `track`, the
    # names of the tracks that share it, with spaces between; `falls_10`, how many of the first ten trials
    # ended in a fall; `rr_1`, ..., the recovery ratio of what was recommended after each trial; `rr_0` and
    # `headroom` of the fault; and columns of a `RecoveryResult`
    recoveries: pd.DataFrame

    @property
    def trials(self) -> int:
        """Number of trials of each recovery."""
        return len(self.recoveries.filter(regex=r"^rr_[1-9]").columns)

    @property
    def selectors(self) -> list[str]:
        """Names, in the order of the tables."""
        return list(self.recoveries["selector"].unique())

    @property
    def subject(self) -> str:
        """The selector that is compared with the others."""
        return next((name for name in _SUBJECTS if name in self.selectors), self.selectors[0])

    def of(self, track: Track) -> pd.DataFrame:
        """The measured recoveries in a track, see `measured`, as far as all selectors have them."""
        names = self.recoveries["track"].str.split()
        return measured(_complete(self.recoveries[[track.name in some for some in names]]))


def recovery_tables(
    robot: str, tracks: tuple[Track, ...], plan: Sequence[RecoveryTrial], results: Sequence[ScoredRecord]
) -> Results:
    """Put the results of planned trials into tables.

    The oracle of a fault is what has the highest mean in the episodes by which it is chosen, of the best gait
    that was found by trying all and of the gaits of the repertoire that selectors ended with and that score
    above 0. Ratios are shares of its score, which comes from other episodes: they may exceed 1.
    """
    found = {one.key: one for one in results}
    planned = [(trial, found[trial.key]) for trial in plan if trial.key in found]
    oracles = {_fault(trial): one for trial, one in planned if isinstance(one, OracleResult)}
    if not oracles:
        raise InvalidValueError("there are no results to report")
    planned = [(trial, one) for trial, one in planned if _fault(trial) in oracles]
    best: dict[Key, ScoredRecord] = dict(oracles)
    for trial, one in planned:
        if isinstance(one, RecoveryResult) and (one.refined or one.score <= 0):
            continue  # it is no gait of the repertoire, or ratios cannot be shares of its score
        best[_fault(trial)] = max(best[_fault(trial)], one, key=lambda result: result.final)
    faults = [
        {
            "world": key[0],
            "damage": one.damage,
            "oracle": best[key].score,
            "rr_0": one.incumbent / best[key].score if best[key].score > 0 else np.nan,
            "headroom": best[key].score / one.whole if one.whole > 0 else np.nan,
            "binding": one.binding,
        }
        for key, one in oracles.items()
    ]
    known = {(row["world"], row["damage"]): row for row in faults}
    names = [track.name for track in tracks]
    runs = [
        _row(trial, one, known[trial.tracks[0].world, one.damage])
        for trial, one in planned
        if isinstance(one, RecoveryResult) and one.scores
    ]
    runs.sort(key=lambda row: names.index(row["track"].split()[0]))
    return Results(robot, tracks, pd.DataFrame(faults), pd.DataFrame(runs))


def _fault(trial: RecoveryTrial) -> Key:
    return trial.tracks[0].world, "", trial.fault


_COPIED = ("gait", "seconds", "explained", "diagnosis", "probability", "refined", "fallen")


def _row(trial: RecoveryTrial, result: RecoveryResult, fault: dict[str, Any]) -> dict[str, Any]:
    return {
        "track": " ".join(track.name for track in trial.tracks),
        "selector": result.selector,
        "damage": result.damage,
        "seed": result.number,
        **{name: fault[name] for name in ("oracle", "rr_0", "headroom")},
        "stop": result.stop,
        f"falls_{EARLY}": sum(result.falls[:EARLY]),
        **{name: getattr(result, name) for name in _COPIED},
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
