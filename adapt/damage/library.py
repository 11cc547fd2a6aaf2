"""The damages that a repertoire is rehearsed on by default."""

from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds import kinds_in_order
from adapt.damage.parts import RobotParts
from robots.robot import Robot

_SORTS = ("leg", "joint", "foot", "all", "floor", "torso")  # the order of what the library holds


def damage_library(robot: Robot) -> list[Damage]:
    """A robot's default damages, of which the first is that nothing is wrong: what each kind holds in store.

    It is wide because similar damages are evidence of each other: a leg that is stuck in the air behaves
    like one that is lost.
    """
    parts = RobotParts(robot)
    found = [damage for kind in kinds_in_order() for damage in kind.library(parts)]
    found.sort(key=lambda damage: _SORTS.index(parts.find(damage.singles[0].target).sort))
    return [Combination(), *found]
