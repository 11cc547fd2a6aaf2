"""Damages to recover from: lists for robots, and random ones."""

from collections.abc import Sequence
from itertools import combinations, zip_longest
from pathlib import Path

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import Combination, Damage, SingleDamage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.text import parse_damage, read_damages
from adapt.self_model.suspects import Suspects
from robots.errors import InvalidValueError
from robots.robot import Robot

_LOCKED_AT = 0.75  # of a joint's range, from its lowest position
_MOST_PAIRS = 5
_PAYLOAD = 0.15  # of the robot's mass
RANDOM = 60  # suspects of the self-model that are drawn by default
_PLACES = (0.1, 0.9)  # of strengths in their ranges
_ENOUGH = 1000  # draws after which there are no more different faults


def benchmark_damages(robot: Robot) -> list[Damage]:
    """The damages that the package lists for a robot or, if there are none, those of `default_damages`."""
    known = Path(__file__).with_name(f"{robot.name}.yaml")
    return read_damages(known, robot) if known.is_file() else default_damages(robot)


def default_damages(robot: Robot) -> list[Damage]:
    """Damages for any robot with legs.

    Every leg lost and pairs of legs lost, two dead and two shortened legs, joints locked away from rest, weak
    motors, low friction, a payload, and two combinations. Their strengths differ from those of the default
    rehearsal.
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


def _locked(robot: Robot) -> list[str]:
    """Locked joints: the first joint of the first leg, the second of the second, the third of the third."""
    names = robot.description.joints
    locked = []
    for number, leg in enumerate(list(robot.description.legs.values())[:3]):
        joint = leg.joints[number % len(leg.joints)]
        low, high = robot.joint_ranges[names.index(joint)]
        locked.append(f"joint={joint}:locked@{low + _LOCKED_AT * (high - low):.2g}")
    return locked


def check_damages(damages: Sequence[Damage]) -> None:
    """Refuse what cannot be a list of damages to recover from."""
    if not damages:
        raise InvalidValueError("there is no damage to recover from")
    texts = [str(damage) for damage in damages]
    for number, text in enumerate(texts):
        if text == HEALTHY or text in texts[:number]:
            reason = "the robot is whole" if text == HEALTHY else "it appears twice"
            raise InvalidValueError(f"{text!r} cannot be a damage to recover from: {reason}")


def random_faults(robot: Robot, count: int, *, seed: int) -> list[Damage]:
    """Different suspects of the self-model, single ones and pairs by turns; all kinds are equally likely."""
    suspects, rng = Suspects(robot), np.random.default_rng(seed)
    kinds = sorted({kind for _, kind in suspects.table})
    found: dict[str, Damage] = {}
    for _ in range(_ENOUGH * count):
        if len(found) == count:
            break
        singles = [_random_single(suspects, kinds, rng) for _ in range(1 + len(found) % 2)]
        damage = suspects.combine(singles)
        if damage is not None:
            found.setdefault(str(damage), damage)
    if len(found) < count:
        raise InvalidValueError(f"the {robot.name} has only {len(found)} different faults, not {count}")
    return list(found.values())


def _random_single(suspects: Suspects, kinds: Sequence[str], rng: np.random.Generator) -> SingleDamage:
    """A suspect of a random kind, part and strength."""
    kind = kinds[int(rng.integers(len(kinds)))]
    some = [suspect for suspect in suspects.table.values() if suspect.kind.kind == kind]
    suspect = some[rng.integers(len(some))]
    strengths = suspect.strengths
    if strengths.high > strengths.low:
        return suspect.at(rng.uniform(*_PLACES))
    return suspect.of(strengths.grid[rng.integers(len(strengths.grid))])


def lost_legs(robot: Robot, *, seed: int) -> list[Damage]:
    """All ways to lose two and three legs, by turns and in random order, as long as half of them are left."""
    legs, rng = list(robot.description.legs), np.random.default_rng(seed)
    sizes = [size for size in (2, 3) if 2 * size <= len(legs)]
    choices = [rng.permutation(list(combinations(legs, size))).tolist() for size in sizes]
    return [Combination(tuple(map(Lost, lost))) for turn in zip_longest(*choices) for lost in turn if lost]
