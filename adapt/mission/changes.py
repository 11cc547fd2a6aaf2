"""`read_changes`: what happens to a robot on its way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adapt.damage.damage import Combination, Damage
from adapt.damage.text import parse_damage
from robots.errors import InvalidValueError
from robots.files.texts import parse_number
from robots.robot import Robot

REPAIRED = "repaired"


@dataclass(frozen=True)
class PlannedChange:
    """What happens to the robot at a time."""

    time: float  # since the mission began [s]
    text: str  # of what breaks, or `repaired`
    damage: Damage  # all that is damaged from then on


def read_changes(texts: Sequence[str], robot: Robot, seconds: float = math.inf) -> tuple[PlannedChange, ...]:
    """Read what happens to a robot; damages add up until it is repaired.

    Args:
        texts: a damage or `repaired`, and the time in seconds behind the last @, e.g. `left_front:lost@20`.
        robot: whole.
        seconds: of the mission during which it is to happen [s]; by default it may happen at any time.
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
        if seconds < math.inf and not 0 <= time < seconds:
            raise InvalidValueError(
                f"{what}@{time:g} does not happen during the mission, which lasts from 0 to {seconds:g} s"
            )
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
