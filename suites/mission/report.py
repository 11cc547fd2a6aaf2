"""`MissionRecord`: how a mission went, by its events; `runs_table` and `sections`: the report on all."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from adapt.damage.text import damage_from
from adapt.mission.log import COUNTED, Event
from robots.files.records import Finite
from suites.markdown import FEWEST, bullets, format_interval, format_or_dash, format_share, heading, table
from suites.records import TrialRecord, Whole

_PACE = 5.0  # [s] over which a speed is measured
_FINAL = 30.0  # [s] at the end whose speed is the final one
_LEAST = 40.0  # [s] after the damage that a mission must last to tell
_REGAINED = 0.9
WHOLE = "healthy"
_NOTES = (
    "Damage happens after 4 s. Methods: mission notices and finds out itself; oracle is told at once and has "
    "every gait simulated in no time; plain walks on by what is expected of the whole robot; old walks on "
    "with one gait; resets is told, and its three trials, whose time counts, begin from resets.",
    "Across the gap, the robot differs from its model as in the recovery benchmark.",
    "Intervals of 95%: Wilson's of shares, a bootstrap's of medians and means, except where there are fewer "
    f"than {FEWEST} values, or all are the same.",
)


class MissionRecord(TrialRecord):
    """How a mission went.

    Attributes:
        damage: text of what broke.
        reached: whether it reached its goal.
        unaided: whether it did before it was set upright for the first time.
        seconds: that it took [s].
        distance: ahead of the start at the end [m].
        delay: between the damage and the first alarm or fall [s]; None without any.
        early: alarms and falls before anything broke.
        falls, assistances, trials, alarms: that followed.
        segments: stretches walked after the damage.
        thinking: [s].
        regained: seconds after the damage until 90% of the final speed; None if it does not move in the end.
    """

    damage: str
    reached: bool = False
    unaided: bool = False
    seconds: Finite
    distance: Finite
    delay: Finite | None = None
    early: Whole = 0
    falls: Whole = 0
    assistances: Whole = 0
    trials: Whole = 0
    alarms: Whole = 0
    segments: Whole = 0
    thinking: Finite = 0.0
    regained: Finite | None = None

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return (
            f"{self.case:<22} {self.method:<8} {self.number:<3} "
            f"{self.seconds:6.1f} s {self.distance:6.1f} m  {self.damage}"
        )


def measured(events: Sequence[Event], broken_at: float) -> dict[str, Any]:
    """What the events of a mission say of it, as fields of a `MissionRecord`.

    Args:
        events: of a whole mission.
        broken_at: when the damage happened [s]; infinite for a healthy robot.
    """
    late = [event for event in events if event.time > broken_at]
    noticed = [event.time for event in events if event.kind in ("alarm", "fall")]
    times, places = _path(events)
    return {
        "seconds": float(times[-1]),
        "distance": float(places[-1, 0]),
        "early": sum(time <= broken_at for time in noticed),
        "delay": next((time - broken_at for time in noticed if time > broken_at), None),
        "segments": sum(event.kind == "walk" for event in late),
        "thinking": sum(float(event.facts["seconds"]) for event in events if event.kind == "thought"),
        "regained": _regained(times, places, broken_at),
        **{f"{kind}s": sum(event.kind == kind for event in late) for kind in COUNTED},
    }


def _path(events: Sequence[Event]) -> tuple[np.ndarray, np.ndarray]:
    """Times, (n,), and places, (n, 2), of a mission."""
    known = [(event.time, *event.pose[:2]) for event in events]
    known += [tuple(place[:3]) for event in events for place in event.facts.get("path", ())]
    path = np.array(sorted(known))
    return path[:, 0], path[:, 1:]


def _speed(times: np.ndarray, places: np.ndarray, start: float, end: float) -> float:
    """Between two times, along a straight line [m/s]."""
    moved = [np.interp(end, times, axis) - np.interp(start, times, axis) for axis in places.T]
    return float(np.hypot(*moved)) / (end - start)


def _regained(times: np.ndarray, places: np.ndarray, since: float) -> float | None:
    """Seconds until the robot walks as fast as in the end, nearly; None of missions too short to tell."""
    end = float(times[-1])
    if end < since + _LEAST - 1e-6:
        return None
    final = _speed(times, places, end - _FINAL, end)
    for start in np.arange(since, end - _PACE, 0.5):
        if final > 0 and _speed(times, places, start, start + _PACE) >= _REGAINED * final:
            return float(start - since)
    return None


def runs_table(results: Sequence[MissionRecord]) -> pd.DataFrame:
    """A row for each mission, with its task, its world and the kinds of its damage."""
    runs = pd.DataFrame([one.model_dump() for one in results])
    parts = runs["case"].str.split("-")
    runs["task"] = parts.str[0]
    runs["world"] = ["gap" if "gap" in some else "nominal" for some in parts]
    runs["kind"] = [
        " + ".join(sorted(single.kind for single in damage_from(text).singles)) or WHOLE
        for text in runs["damage"]
    ]
    return runs


def sections(robot: str, goal: str, runs: pd.DataFrame) -> Iterator[str]:
    """Blocks of the report on the rows of `runs_table`; a title begins with where the goal is."""
    yield f"# Missions of the {robot}"
    yield bullets(_NOTES)
    titles = {"goal": (f"{goal}, in 90 s at most", _goals), "distance": ("Two minutes ahead", _distances)}
    for task, (title, write) in titles.items():
        some = runs[runs["task"] == task]
        if len(some):
            yield from (heading(title), write(some))


def _goals(runs: pd.DataFrame) -> str:
    whole = runs.loc[(runs["kind"] == WHOLE) & (runs["method"] == "mission")]
    usual = whole["seconds"].where(whole["reached"], np.inf).groupby(whole["world"]).median()
    rows = []
    for (world, kind, method), some in runs.groupby(["world", "kind", "method"], sort=False):
        seconds = some["seconds"].where(some["reached"], np.inf).to_numpy()
        with np.errstate(invalid="ignore"):  # where neither arrives, there is no ratio
            ratio = np.median(seconds) / usual.get(world, np.nan)
        rows.append((
            str(world), str(kind), str(method), str(len(some)),
            *(format_share(int(some[name].sum()), len(some)) for name in ("reached", "unaided")),
            format_interval(seconds, np.median), format_or_dash(ratio),
            format_interval(some["falls"], np.mean),
            *(f"{some[name].mean():.1f}" for name in ("assistances", "trials", "segments")),
            format_interval(some["delay"].dropna(), np.median),
        ))  # fmt: skip
    header = (
        "world", "damage", "method", "missions", "reached", "without help", "median time [s]",
        "of the healthy one", "falls", "assistances", "trials", "segments", "delay [s]",
    )  # fmt: skip
    caption = (
        "Missions that do not reach the goal count as infinitely long. Those without help reached it before "
        "the robot was set upright for the first time. Counts are those after the damage."
    )
    return table(header, rows, caption=caption, text_columns=3)


def _distances(runs: pd.DataFrame) -> str:
    rows = []
    for (world, kind, method), some in runs.groupby(["world", "kind", "method"], sort=False):
        told = runs[(runs["world"] == world) & (runs["kind"] == kind) & (runs["method"] == "oracle")]
        ratio = some["distance"].mean() / told["distance"].mean() if len(told) else np.nan
        rows.append((
            str(world), str(kind), str(method), str(len(some)), format_interval(some["distance"], np.mean),
            format_or_dash(ratio), format_interval(some["falls"], np.mean),
            format_interval(some["regained"].dropna(), np.median),
        ))  # fmt: skip
    header = (
        "world", "damage", "method", "missions", "distance [m]", "of the oracle's", "falls",
        "0.9 of the final speed after [s]",
    )  # fmt: skip
    return table(header, rows, text_columns=3)
