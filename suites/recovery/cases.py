"""Damages to recover from, and tracks, which decide what selectors know about them beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from adapt.damage import HEALTHY
from adapt.damage.damage import LIMB_LOSS, Damage
from adapt.damage.text import damage_from, parse_damage, read_damages
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Robot

_FOLDER = Path(__file__).parent
TUNING = _FOLDER / "tuning.yaml"
_LOCKED_AT = 0.75  # of a joint's range, from its lowest position
_MOST_PAIRS = 5
_PAYLOAD = 0.15  # of the robot's mass


def benchmark_damages(robot: Robot, path: Path | None = None) -> list[Damage]:
    """The damages to recover from.

    Args:
        robot: the intact robot.
        path: of a YAML list of damages; by default the list that the package has for the robot or, for a
            robot without one, damages made from its legs, see `default_damages`.

    Raises:
        InvalidFileError: the file cannot be read, or is not a list of damages of the robot.
    """
    known = _FOLDER / f"{robot.name}.yaml"
    if path is None and not known.is_file():
        return default_damages(robot)
    return read_damages(path or known, robot)


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
    """Refuse what cannot be a list of damages to recover from.

    Raises:
        InvalidValueError: the list is empty, or a damage is healthy or appears twice.
    """
    if not damages:
        raise InvalidValueError("there is no damage to recover from")
    texts = [str(damage) for damage in damages]
    for number, text in enumerate(texts):
        if text == HEALTHY or text in texts[:number]:
            reason = "nothing is broken" if text == HEALTHY else "it appears twice"
            raise InvalidValueError(f"{text!r} cannot be a damage to recover from: {reason}")


@dataclass(frozen=True)
class Track:
    """What selectors know before the first trial, and whether the robot is the one that was rehearsed.

    Attributes:
        name: short, e.g. `T3`.
        title: in words.
        given: which damages of the library selectors are given. A damage has one or more families, such as
            all that is lost; limb loss is what is lost, dead or short, see `Damage.families`.
        gap: whether there is a reality gap: the robot differs from the rehearsed one, see `randomised`.
        faults: those listed for the robot, or random ones, see `draw_faults`; these are only
            recovered from in simulated trials.
        left_out: whether the registry of the self-model lacks the families of the damage.
    """

    name: str
    title: str
    given: Literal["none", "all", "all and the true one", "all but the true one", "no family", "no limb loss"]
    gap: bool = False
    faults: Literal["listed", "registry", "lost legs"] = "listed"
    left_out: bool = False

    def library(self, damage: str, rehearsed: Sequence[str]) -> tuple[str, ...]:
        """Conditions that a selector is given; the healthy one is always there, and first.

        Args:
            damage: text of the true damage.
            rehearsed: conditions of the library.
        """
        if self.given == "none":
            return (HEALTHY,)
        without = {"no family": damage_from(damage).families, "no limb loss": LIMB_LOSS}.get(
            self.given, frozenset()
        )
        chosen = [text for text in rehearsed if not damage_from(text).families & without]
        if self.given == "all but the true one":
            chosen = [text for text in chosen if text != damage]
        elif self.given == "all and the true one":
            chosen.append(damage)
        return tuple(dict.fromkeys((HEALTHY, *chosen)))


TRACKS = (
    Track("T0", "no library, only the healthy robot was rehearsed", "none"),
    Track("T1", "reality gap, the robot differs from the rehearsed one", "all", gap=True),
    Track(
        "T1-family", "reality gap, and the library lacks every damage of its family", "no family", gap=True
    ),
    Track("T2", "anticipated, the library holds the damage", "all and the true one"),
    Track("T3-damage", "the library lacks the damage", "all but the true one"),
    Track("T3", "the library lacks every damage of its family", "no family"),
    Track("T3-limb", "the library holds no limb loss", "no limb loss"),
)

SIMULATED_TRACKS = (
    *TRACKS,
    Track("T3-pairs", "two and three lost legs, no lost leg in the library", "no family", faults="lost legs"),
    Track("T4", "random faults and pairs of them", "all", faults="registry"),
    Track(
        "T4-left-out",
        "random faults and pairs of them, of families that the self-model does not know",
        "all",
        faults="registry",
        left_out=True,
    ),
    Track(
        "T4-gap",
        "random faults and pairs of them, on a robot that differs from the rehearsed one",
        "all",
        gap=True,
        faults="registry",
    ),
)


def find_tracks(names: Sequence[str] | None = None, *, among: Sequence[Track] = TRACKS) -> tuple[Track, ...]:
    """The tracks of some names, in the order in which they are listed; all of them by default.

    Raises:
        UnknownNameError: there is no such track.
    """
    known = [track.name for track in among]
    for name in names or ():
        if name not in known:
            raise UnknownNameError("track", name, known)
    return tuple(track for track in among if not names or track.name in names)
