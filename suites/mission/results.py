"""`MissionRecord`: how one mission of a study went, as it is measured off its events."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adapt.mission.log import COUNTED, Event
from robots.files.records import Finite
from suites.records import TrialRecord, Whole

_PACE = 5.0  # [s] over which a speed is measured
_FINAL = 30.0  # [s] at the end whose speed is the final one
_LEAST = 40.0  # [s] after the damage that a mission must last to tell
_REGAINED = 0.9


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
