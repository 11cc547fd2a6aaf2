"""`Plan`: what is asked of a mission, and what happens to the robot on the way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adapt.damage.damage import Combination, Damage
from adapt.damage.text import parse_damage
from robots.arrays import real_number
from robots.errors import InvalidValueError
from robots.files.texts import parse_number
from robots.robot import Robot

REPAIRED = "repaired"
LONGEST = 3600.0  # seconds of a mission
_FURTHEST = 1000.0  # [m]


@dataclass(frozen=True)
class PlannedChange:
    """What happens to the robot at a time.

    Attributes:
        time: [s] since the mission began.
        text: of what breaks, or `repaired`.
        damage: all that is damaged from then on.
    """

    time: float
    text: str
    damage: Damage


@dataclass(frozen=True)
class Plan:
    """What is asked of a mission.

    Attributes:
        goals: places to reach, in order [m], x ahead of the robot's first pose and y to its left. Without
            any, it walks ahead until its time is up.
        within: distance at which a goal is reached [m].
        seconds: that the mission may take.
        changes: in the order of their times.
    """

    goals: tuple[tuple[float, float], ...] = ()
    within: float = 0.25
    seconds: float = 120.0
    changes: tuple[PlannedChange, ...] = ()

    def __post_init__(self) -> None:
        real_number("the time of a mission", self.seconds, 0, above=True, unit="s")
        if self.seconds > LONGEST:
            raise InvalidValueError(f"a mission lasts at most {LONGEST:g} s, not {self.seconds:g} s")
        real_number("the distance at which a goal is reached", self.within, 0, above=True, unit="m")
        for goal in self.goals:
            x, y = (real_number("a coordinate of a goal", value, -_FURTHEST, unit="m") for value in goal)
            if math.hypot(x, y) > _FURTHEST:
                raise InvalidValueError(
                    f"a goal lies at most {_FURTHEST:g} m from the start, which {x:g},{y:g} does not"
                )
        for change in self.changes:
            if not 0 <= change.time < self.seconds:
                raise InvalidValueError(
                    f"{change.text}@{change.time:g} does not happen during the mission, which lasts "
                    f"from 0 to {self.seconds:g} s"
                )


def read_goal(text: str) -> tuple[float, float]:
    """Read a goal, X,Y [m]."""
    try:
        x, y = (parse_number(part.strip()) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(f"a goal is written X,Y in metres, for example 6,2, not {text!r}") from None
    return float(x), float(y)


def read_changes(texts: Sequence[str], robot: Robot) -> tuple[PlannedChange, ...]:
    """Read what happens to a robot; damages add up until it is repaired.

    Args:
        texts: a damage or `repaired`, and the time in seconds behind the last @, e.g. `left_front:lost@20`.
        robot: whole.
    """
    found = sorted((_read_change(text) for text in texts), key=lambda change: change[1])
    changes: list[PlannedChange] = []
    damages: list[str] = []
    for what, time in found:
        damages = [] if what == REPAIRED else [*damages, what]
        try:
            parts = [parse_damage(text, robot) for text in damages]
            every = Combination(tuple(single for part in parts for single in part.singles))
            damage = parse_damage(str(every), robot)
        except InvalidValueError as error:
            before = f", after {' and '.join(damages[:-1])}" if len(damages) > 1 else ""
            raise InvalidValueError(f"{what}@{time:g} cannot happen{before}: {error}") from error
        changes.append(PlannedChange(time, what, damage))
    return tuple(changes)


def _read_change(text: str) -> tuple[str, float]:
    """What happens, and when [s]."""
    what, at, time = text.rpartition("@")
    try:
        seconds = float(parse_number(time.strip()))
    except ValueError:
        seconds = math.nan
    if not (at and what.strip() and math.isfinite(seconds)):
        raise InvalidValueError(
            f"what happens is written DAMAGE@SECONDS or {REPAIRED}@SECONDS, for example left_front:lost@20, "
            f"not {text!r}"
        )
    return what.strip(), seconds
