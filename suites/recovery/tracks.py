"""Tracks: from what selectors recover, on which robot, and what they know about it beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Literal

import numpy as np

from adapt.damage import HEALTHY
from adapt.damage.damage import LIMB_LOSS, Combination, Damage, SingleDamage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.text import damage_from, parse_damage, read_damages
from adapt.self_model.suspects import Suspects
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Robot

_LOCKED_AT = 0.75  # of a joint's range, from its lowest position
_MOST_PAIRS = 5
_PAYLOAD = 0.15  # of the robot's mass
RANDOM = 60  # suspects of the self-model that are drawn by default
_PLACES = (0.1, 0.9)  # of strengths in their ranges
_ENOUGH = 1000  # draws after which there are no more different faults


@dataclass(frozen=True)
class Track:
    """What selectors know before the first trial, and whether the robot is the one that was rehearsed."""

    name: str  # short, e.g. `T3`
    title: str  # in words
    # which damages of the library selectors are given. A damage has one or more families, such as all that is
    # lost; limb loss is what is lost, dead or short, see `Damage.families`.
    given: Literal["none", "all", "all and the true one", "all but the true one", "no family", "no limb loss"]
    # whether there is a reality gap: the robot differs from the rehearsed one, see `randomised`
    gap: bool = False
    # those listed for the robot, random ones of the self-model's registry, or lost legs
    faults: Literal["listed", "registry", "lost legs"] = "listed"
    left_out: bool = False  # whether the registry of the self-model lacks the families of the damage

    @property
    def world(self) -> str:
        """Name of the faults and robots that it shares with other tracks."""
        return f"{self.faults.replace(' ', '-')}{'-gap' if self.gap else ''}"

    def library(self, damage: str, rehearsed: Sequence[str]) -> tuple[str, ...]:
        """Conditions of the library that selectors are given for a damage, always the healthy one first."""
        if self.given == "none":
            return (HEALTHY,)
        lacking = {"no family": damage_from(damage).families, "no limb loss": LIMB_LOSS}
        without = lacking.get(self.given, frozenset())
        chosen = [text for text in rehearsed if not damage_from(text).families & without]
        if self.given == "all but the true one":
            chosen = [text for text in chosen if text != damage]
        elif self.given == "all and the true one":
            chosen.append(damage)
        return tuple(dict.fromkeys((HEALTHY, *chosen)))


_RANDOM = "random faults and pairs of them"
_UNKNOWN = f"{_RANDOM}, of families that the self-model does not know"
TRACKS = (
    Track("T0", "no library, only the healthy robot was rehearsed", "none"),
    Track("T1", "reality gap, the robot differs from the rehearsed one", "all", True),
    Track("T1-family", "reality gap, and the library lacks every damage of its family", "no family", True),
    Track("T2", "anticipated, the library holds the damage", "all and the true one"),
    Track("T3-damage", "the library lacks the damage", "all but the true one"),
    Track("T3", "the library lacks every damage of its family", "no family"),
    Track("T3-limb", "the library holds no limb loss", "no limb loss"),
    Track("T3-pairs", "two and three lost legs, no lost leg in the library", "no family", faults="lost legs"),
    Track("T4", _RANDOM, "all", faults="registry"),
    Track("T4-left-out", _UNKNOWN, "all", faults="registry", left_out=True),
    Track("T0-left-out", f"{_UNKNOWN}, and no library", "none", faults="registry", left_out=True),
    Track("T4-gap", f"{_RANDOM}, on a robot that differs from the rehearsed one", "all", True, "registry"),
)


def find_tracks(names: Sequence[str] | None = None) -> tuple[Track, ...]:
    """The tracks of some names, in the order in which they are listed; by default those of listed damages."""
    if names:
        known = [track.name for track in TRACKS]
        for name in names:
            if name not in known:
                raise UnknownNameError("track", name, known)
        return tuple(track for track in TRACKS if track.name in names)
    return tuple(track for track in TRACKS if track.faults == "listed")


def draw_faults(
    track: Track, robot: Robot, count: int | None, *, seed: int, listed: Sequence[Damage] | None = None
) -> list[Damage]:
    """The faults of a track: those listed for the robot or given, or random ones, decided by a seed.

    By default these are all that there are, and 60 of the registry's.
    """
    match track.faults:
        case "registry":
            return random_faults(robot, RANDOM if count is None else count, seed=seed)
        case "lost legs":
            found = lost_legs(robot, seed=seed)
        case "listed":
            found = benchmark_damages(robot) if listed is None else list(listed)
    if count is not None and count > len(found):
        raise InvalidValueError(
            f"there are {len(found)} faults of track {track.name} for the {robot.name}, not {count}"
        )
    return found[:count]


def benchmark_damages(robot: Robot) -> list[Damage]:
    """The damages that the package lists for a robot or, if there are none, those of `default_damages`."""
    known = Path(__file__).with_name(f"{robot.name}.yaml")
    return read_damages(known, robot) if known.is_file() else default_damages(robot)


def default_damages(robot: Robot) -> list[Damage]:
    """Damages for any robot with legs, with other strengths than those of the default rehearsal.

    Every leg lost and pairs of legs lost, two dead and two shortened legs, joints locked away from rest, weak
    motors, low friction, a payload, and two combinations.
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
