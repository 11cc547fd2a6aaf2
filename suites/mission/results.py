"""`MissionRecord`: how one mission of a study went, as it is measured off its events."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from adapt.mission.log import Event
from robots.files.records import Record
from suites.suite import Key

ALLOWED = 30.0  # [s] that HexaHeal's rule is extended by: of 14 s of walking the last 8 s count
_COUNTED = 8.0  # [s]
RULE = 14.0 + ALLOWED  # [s] that a mission by that rule takes
_PACE = 5.0  # [s] over which a speed is measured
_FINAL = 30.0  # [s] at the end whose speed is the final one
_REGAINED = 0.9
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, strict=True)]


class MissionRecord(Record):
    """How a mission went.

    Attributes:
        case: see `MissionTrial.key`.
        method: what the robot did about the damage.
        number: of the mission, from 0.
        seed: from which its random numbers derive.
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
        late: speed in the last 8 s of HexaHeal's 14 s, 30 s later [m/s].
        late_falls: in these.
    """

    case: str
    method: str
    number: _Count
    seed: _Count
    damage: str
    reached: bool = False
    unaided: bool = False
    seconds: _Number
    distance: _Number
    delay: _Number | None = None
    early: _Count = 0
    falls: _Count = 0
    assistances: _Count = 0
    trials: _Count = 0
    alarms: _Count = 0
    segments: _Count = 0
    thinking: _Number = 0.0
    regained: _Number | None = None
    late: _Number | None = None
    late_falls: _Count = 0

    @property
    def key(self) -> Key:
        """Case, method and number, which identify the mission in its study."""
        return self.case, self.method, self.number

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
    counts = {f"{kind}s": sum(event.kind == kind for event in late) for kind in _COUNTS}
    times, places = _path(events)
    end = float(times[-1])
    found = {
        "seconds": end,
        "distance": float(places[-1, 0]),
        "early": sum(time <= broken_at for time in noticed),
        "delay": next((time - broken_at for time in noticed if time > broken_at), None),
        "segments": sum(event.kind == "walk" for event in late),
        "thinking": sum(float(event.facts["seconds"]) for event in events if event.kind == "thought"),
        **counts,
    }
    if end > RULE - 1e-6 and np.isfinite(broken_at):
        found["late"] = _speed(times, places, RULE - _COUNTED, RULE)
        found["late_falls"] = sum(
            event.kind == "fall" and RULE - _COUNTED < event.time <= RULE for event in late
        )
        found["regained"] = _regained(times, places, broken_at)
    return found


_COUNTS = ("fall", "assistance", "trial", "alarm")


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
    """Seconds until the robot walks as fast as in the end, nearly."""
    end = float(times[-1])
    final = _speed(times, places, end - _FINAL, end)
    for start in np.arange(since, end - _PACE, 0.5):
        if final > 0 and _speed(times, places, start, start + _PACE) >= _REGAINED * final:
            return float(start - since)
    return None
