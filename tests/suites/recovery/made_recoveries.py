"""Results of recovery studies that never ran, with known numbers."""

import numpy as np
import pandas as pd

from adapt.damage.text import damage_from
from suites.recovery.results import (
    ORACLE,
    OracleResult,
    RecoveryResult,
    Results,
    ScoredRecord,
    recovery_tables,
)
from suites.recovery.tracks import Track, find_tracks
from suites.recovery.trial import RecoveryTrial

DAMAGES = ("left:lost", "right:lost", "left:dead", "all:weak@0.5", "floor:friction@0.4", "right:short@0.5")
SELECTORS = ("random", "map-bo", "rehearsed")
TRACKS = find_tracks(["T0", "T3"])
GOOD = {"random": 0.4, "map-bo": 0.75, "T0 rehearsed": 0.9, "T3 rehearsed": 0.97}
BOUND = "all:weak@0.5"  # whose incumbent is good enough


def make_trial(tracks: tuple[Track, ...], place: str, fault: int, selector: str, number: int = 0):
    return RecoveryTrial(tracks, place, fault, damage_from(DAMAGES[fault]), selector, number)


def made(trial: RecoveryTrial, kind: type[ScoredRecord], **values) -> ScoredRecord:
    """A result of a trial."""
    case, selector, number = trial.key
    known = {"case": case, "selector": selector, "number": number, "seed": 1, "damage": str(trial.damage)}
    return kind(**known | {"gait": 5, "final": 0.0, "score": 2.0, "took": 1.0} | values)


def make_oracle(fault: int, **values) -> tuple[RecoveryTrial, ScoredRecord]:
    """The oracle scores 2, the incumbent 0.4, or 1.9 under a damage that is not binding."""
    trial = make_trial(TRACKS, "listed", fault, ORACLE)
    incumbent = 1.9 if DAMAGES[fault] == BOUND else 0.4
    return trial, made(trial, OracleResult, **{"final": 2.0, "incumbent": incumbent, "whole": 2.5} | values)


def make_recovery(trial: RecoveryTrial, ratios: np.ndarray, **values) -> ScoredRecord:
    """A recovery with these ratios to an oracle that scores 2, without falls."""
    scores = [2.0 * float(ratio) for ratio in ratios]
    changes = {"scores": scores, "score": scores[-1], "falls": [False] * len(scores), "stop": len(scores)}
    return made(trial, RecoveryResult, **changes | values)


def make_pairs(seeds: int = 4, trials: int = 20) -> list[tuple[RecoveryTrial, ScoredRecord]]:
    """Trials of three selectors in two tracks, T0 and T3, and their results."""
    rng, pairs = np.random.default_rng(0), [make_oracle(fault) for fault in range(len(DAMAGES))]
    places = [("random", "listed"), ("map-bo", "listed"), ("rehearsed", "T0"), ("rehearsed", "T3")]
    for number in range(seeds):
        for fault in (fault for fault, damage in enumerate(DAMAGES) if damage != BOUND):
            for name, place in places:
                tracks = tuple(track for track in TRACKS if place in ("listed", track.name))
                good = GOOD.get(name) or GOOD[f"{place} {name}"]
                climb = good * (1 - np.exp(-np.arange(1, trials + 1) / 3)) + rng.normal(0, 0.01, trials)
                trial = make_trial(tracks, place, fault, name, number)
                falls = (rng.random(trials) < 0.1).tolist()
                pairs.append((trial, make_recovery(trial, np.maximum.accumulate(climb), falls=falls, stop=3)))
    return pairs


def make_results(pairs: list[tuple[RecoveryTrial, ScoredRecord]] | None = None) -> Results:
    """Their tables."""
    plan, results = zip(*(pairs or make_pairs()), strict=True)
    return recovery_tables("hexapod", TRACKS, plan, results)


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
        "falls_10": falls[..., :10].sum(axis=2).ravel(),
        "seconds": 0.0,
        "headroom": 0.5,
        "fallen": 0.1,
    }
    climbs = {f"rr_{trial + 1}": ratios[..., trial].ravel() for trial in range(trials)}
    return pd.DataFrame(columns | fixed | climbs)
