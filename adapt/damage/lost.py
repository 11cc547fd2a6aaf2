"""`Lost`: a leg that is gone from a joint on."""

from dataclasses import dataclass

import mujoco

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.parts import find_joints
from adapt.damage.target import Target


@register("lost")
@dataclass(frozen=True)
class Lost(Defect):
    """What the leg's first joint, or the joint named, moves is gone, with all that hangs on it.

    No mass, no contact and no torque are left of it. The controller keeps its size: it sees 0 for the joints
    and the foot that are gone, and its actions for them do nothing.
    """

    title = "the leg is gone, from its first joint or the joint named on"
    family = "lost"
    sorts = ("leg", "joint")
    scale = None

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        first = anatomy.joints(target)[0]
        joints, feet = anatomy.joints_from(first), anatomy.feet_from(first)
        gone = (
            concerns.motors(joints)
            | concerns.limbs(joints)
            | concerns.angle_sensors(joints)
            | concerns.soles(feet)
            | concerns.contact_sensors(feet)
        )
        return Change(gone, lambda spec: _cut(spec, first))


def _cut(spec: mujoco.MjSpec, joint: str) -> None:
    """Delete what a joint moves; MuJoCo also deletes what refers to it: motors, sensors and constraints."""
    for element in find_joints(spec, [joint]):
        spec.delete(element.parent)
