"""`Friction`: another ground."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import scale_friction, tint, touches
from adapt.damage.parts import RobotParts, Target


@register("friction")
@dataclass(frozen=True)
class Friction(Defect):
    """Whatever touches the floor has another friction with it: ice below 1, rubber above."""

    title = "the floor is slippery, or grips more"
    family = "friction"
    sorts = ("floor",)
    scale = Scale("the friction with the floor as a multiple of what it was", 0.0, 5.0, default=0.4)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        floor, multiple = parts.robot.description.floor, self.amount
        return Change(frozenset({"the friction of the floor"}), lambda spec: _polish(spec, floor, multiple))


def _polish(spec: mujoco.MjSpec, name: str, multiple: float) -> None:
    """Multiply the friction of all that can touch the floor."""
    floor = spec.geom(name)
    for geom in spec.geoms:
        if geom.name != name and touches(geom, floor):
            scale_friction(spec, geom, floor, multiple)
    tint(floor)
