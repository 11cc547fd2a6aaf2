"""`Friction`: another ground."""

from dataclasses import dataclass

import mujoco

from adapt.damage.anatomy import Anatomy
from adapt.damage.contacts import scale_friction, touches
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import tint
from adapt.damage.strength import Strength
from adapt.damage.target import Target


@register("friction")
@dataclass(frozen=True)
class Friction(Defect):
    """Whatever touches the floor has another friction with it: ice below 1, rubber above."""

    title = "the floor is slippery, or grips more"
    family = "friction"
    sorts = ("floor",)
    scale = Strength("the friction with the floor as a multiple of what it was", 0.0, 5.0, default=0.4)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        floor, multiple = anatomy.robot.description.floor, float(self.strength or 0)
        return Change(frozenset({"the friction of the floor"}), lambda spec: _polish(spec, floor, multiple))


def _polish(spec: mujoco.MjSpec, name: str, multiple: float) -> None:
    """Multiply the friction of all that can touch the floor."""
    floor = spec.geom(name)
    for geom in spec.geoms:
        if geom.name != name and touches(geom, floor):
            scale_friction(spec, geom, floor, multiple)
    tint(floor)
