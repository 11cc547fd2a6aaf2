"""`Bent`: limbs that are bent."""

import math
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import mark_limbs, turn_limb


@register("bent")
@dataclass(frozen=True)
class Bent(Defect):
    """What a hinge moves, with all that hangs on it, points elsewhere, turned about the hinge.

    The joint's sensor and its motor do not notice.
    """

    title = "the limb that the joint moves is bent in the joint's plane"
    family = "bent"
    sorts = ("joint",)
    scale = Scale("the angle [degrees]", -180.0, 180.0, default=25.0)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joint, angle = target.name, math.radians(self.amount)
        return Change(changes_of("limb", [joint]), patch=lambda model: _bend(model, joint, angle))


def _bend(model: mujoco.MjModel, joint: str, angle: float) -> None:
    """Bend a limb."""
    turn_limb(model, joint, angle)
    mark_limbs(model, [joint])
