"""Tracks: from what selectors recover, on which robot, and what they know about it beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from adapt.damage import HEALTHY
from adapt.damage.damage import LIMB_LOSS, Damage
from adapt.damage.text import damage_from
from robots.errors import InvalidValueError
from robots.robot import Robot
from suites.recovery.faults import RANDOM, benchmark_damages, lost_legs, random_faults
from suites.suite import choose


@dataclass(frozen=True)
class Track:
    """What selectors know before the first trial, and whether the robot is the one that was rehearsed.

    Attributes:
        name: short, e.g. `T3`.
        title: in words.
        given: which damages of the library selectors are given. A damage has one or more families, such as
            all that is lost; limb loss is what is lost, dead or short, see `Damage.families`.
        gap: whether there is a reality gap: the robot differs from the rehearsed one, see `randomised`.
        faults: those listed for the robot, random ones of the self-model's registry, or lost legs.
        left_out: whether the registry of the self-model lacks the families of the damage.
    """

    name: str
    title: str
    given: Literal["none", "all", "all and the true one", "all but the true one", "no family", "no limb loss"]
    gap: bool = False
    faults: Literal["listed", "registry", "lost legs"] = "listed"
    left_out: bool = False

    @property
    def world(self) -> str:
        """Name of the faults and robots that it shares with other tracks."""
        return f"{self.faults.replace(' ', '-')}{'-gap' if self.gap else ''}"

    def library(self, damage: str, rehearsed: Sequence[str]) -> tuple[str, ...]:
        """Conditions that a selector is given; the healthy one is always there, and first.

        Args:
            damage: text of the true damage.
            rehearsed: conditions of the library.
        """
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
        "T0-left-out",
        "random faults and pairs of them, of families that the self-model does not know, and no library",
        "none",
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


def find_tracks(names: Sequence[str] | None = None) -> tuple[Track, ...]:
    """The tracks of some names, in the order in which they are listed; by default those of listed damages.

    Raises:
        UnknownNameError: there is no such track.
    """
    if names:
        return choose("track", TRACKS, names)
    return tuple(track for track in TRACKS if track.faults == "listed")


def draw_faults(
    track: Track, robot: Robot, count: int | None, *, seed: int, listed: Sequence[Damage] | None = None
) -> list[Damage]:
    """The faults of a track: those listed for the robot or given, or random ones, decided by a seed.

    By default these are all that there are, and 60 of the registry's.

    Raises:
        InvalidValueError: the robot has not so many.
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
