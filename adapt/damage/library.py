"""The damages that a repertoire is rehearsed on unless told otherwise, and which of them are alike."""

from itertools import combinations

from adapt.damage.anatomy import Anatomy
from adapt.damage.combination import HEALTHY
from adapt.damage.defect import damage_kinds
from robots.robot import Robot

LIMB_LOSS = frozenset({"lost", "dead", "short", "pair"})  # families of what takes a leg's work away
_LOAD = 0.25  # of the robot's mass
_WEAK = 0.2  # of the torque
_SLIP = 0.2  # of the friction
_LEAST_TURN = 0.02  # [rad or m] that is another place than at rest


def damage_library(robot: Robot) -> list[str]:
    """Texts of a robot's default damages, "healthy" first.

    Every leg lost, dead, weak and short; every other pair of legs lost; every joint locked at rest and
    halfway to either end of its range; every foot slippery; and weak motors, a slippery floor and a load.
    What leaves less than half of the legs is left out.

    It is wide because relatives of a damage tell of it: a leg that is stuck in the air of one that is lost.
    """
    description, anatomy = robot.description, Anatomy(robot)
    legs = description.legs
    pairs = list(combinations(legs, 2))[::2]  # the others are related to these
    lost = [legs_lost for legs_lost in [*((leg,) for leg in legs), *pairs] if 2 * len(legs_lost) <= len(legs)]
    mass = _LOAD * float(robot.model.body_subtreemass[robot.model.body(description.torso).id])
    return [
        HEALTHY,
        *("+".join(f"{leg}:lost" for leg in sorted(gone)) for gone in lost),
        *(f"{leg}:dead" for leg in legs if len(legs) > 1),
        *(f"{leg}:weak@{_WEAK}" for leg in legs),
        *(f"{leg}:short@0.5" for leg in legs),
        *(text for joint in description.joints for text in _locked(joint, anatomy)),
        *(f"foot={foot}:slip@{_SLIP}" for foot in description.feet),
        "all:weak@0.5",
        "floor:friction@0.4",
        f"torso:payload@{mass:.2g}",
    ]


def _locked(joint: str, anatomy: Anatomy) -> list[str]:
    """A joint locked at rest and, if that is not where it rests, halfway from there to each end."""
    rest, (low, high) = anatomy.rest(joint), anatomy.range(joint)
    halfway = (round((rest + end) / 2, 2) for end in (low, high))
    there = (angle for angle in halfway if low <= angle <= high and abs(angle - rest) > _LEAST_TURN)
    return [f"joint={joint}:locked", *(f"joint={joint}:locked@{angle:g}" for angle in there)]


def family(text: str) -> frozenset[str]:
    """The families of the damages in a text; "pair" is one more where legs in the plural are lost or dead.

    Args:
        text: of a damage, as `parse_damage` takes it.
    """
    kinds = damage_kinds()
    families = [kinds[kind].family for kind in _kinds_in(text)]
    several = sum(name in LIMB_LOSS for name in families) > 1
    return frozenset(families) | ({"pair"} if several else set())


def _kinds_in(text: str) -> list[str]:
    """Names of the kinds in a damage's text."""
    parts = [part.partition(":")[2].partition("@")[0].strip() for part in text.split("+")]
    return [kind for kind in parts if kind]
