"""What a benchmark breaks: the list of a robot, or one made from its parts."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from adapt.damage import HEALTHY
from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from robots.errors import InvalidValueError
from robots.robot import Robot

_FOLDER = Path(__file__).parent
TUNING = _FOLDER / "tuning.yaml"
_LOCKED_AT = 0.75  # of a joint's range, from its lowest position
_MOST_PAIRS = 5
_PAYLOAD = 0.15  # of the robot's mass


def damage_file(robot: Robot) -> Path | None:
    """The list that comes with the package for a robot; None if there is none."""
    path = _FOLDER / f"{robot.name}.yaml"
    return path if path.is_file() else None


def default_damages(robot: Robot) -> list[Damage]:
    """Damages for any robot with legs.

    Every leg lost and pairs of legs lost, two dead and two shortened legs, joints locked away from rest, weak
    motors, slip, a payload, and two things at once; of strengths that the default rehearsal does not have.
    """
    legs = list(robot.description.legs)
    pairs = list(combinations(legs, 2)) if len(legs) > 3 else []
    step = max(1, len(pairs) // _MOST_PAIRS)
    payload = f"torso:payload@{_PAYLOAD * float(robot.physics.body_mass.sum()):.2g}"
    texts = [
        *(f"{leg}:lost" for leg in legs),
        *(f"{first}:lost+{second}:lost" for first, second in pairs[::step][:_MOST_PAIRS]),
        *(f"{leg}:dead" for leg in legs[:2]),
        *(f"{leg}:short@0.6" for leg in legs[-2:]),
        *_locked(robot),
        "all:weak@0.6",
        "floor:friction@0.5",
        payload,
        f"{legs[0]}:lost+floor:friction@0.6",
        f"{legs[-1]}:lost+{payload}",
    ]
    return [parse_damage(text, robot) for text in texts]


def check_damages(damages: Sequence[Damage]) -> tuple[Damage, ...]:
    """Refuse what is no list of damages to recover from.

    Raises:
        InvalidValueError: there are none, or one is healthy or named twice.
    """
    if not damages:
        raise InvalidValueError("there is no damage to recover from")
    texts = [str(damage) for damage in damages]
    for number, text in enumerate(texts):
        if text == HEALTHY or text in texts[:number]:
            reason = "nothing is broken" if text == HEALTHY else "it is named twice"
            raise InvalidValueError(f"{text!r} cannot be a damage to recover from: {reason}")
    return tuple(damages)


def _locked(robot: Robot) -> list[str]:
    """Locked joints: the first joint of the first leg, the second of the second, the third of the third."""
    names = robot.description.joints
    locked = []
    for number, leg in enumerate(list(robot.description.legs.values())[:3]):
        joint = leg.joints[number % len(leg.joints)]
        low, high = robot.joint_ranges[names.index(joint)]
        locked.append(f"joint={joint}:locked@{low + _LOCKED_AT * (high - low):.2g}")
    return locked
