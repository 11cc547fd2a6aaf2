"""`Swapped`: two motors whose cables were exchanged."""

from dataclasses import dataclass

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import mark_limbs
from robots.errors import InvalidValueError
from robots.robot import Faults


@register("swapped")
@dataclass(frozen=True)
class Swapped(Defect):
    """The joint's motor and that of another joint get each other's actions."""

    title = "the joint's motor and another joint's get each other's actions"
    family = "wiring"
    sorts = ("joint",)
    scale = Scale("the other joint's number, counted from 1 in the order of the actions", 1, 1000, whole=True)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints, one = parts.robot.description.joints, target.name
        if self.amount > len(joints) or joints[int(self.amount) - 1] == one:
            raise InvalidValueError(f"{self}: the number must be of another one of the {len(joints)} joints")
        other = joints[int(self.amount) - 1]
        return Change(
            changes_of("motor", [one, other]),
            faults=Faults(swapped={one: other, other: one}),
            patch=lambda model: mark_limbs(model, [one, other]),
        )
