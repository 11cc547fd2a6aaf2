"""`Lost`: a leg that is gone from a joint on."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, register
from adapt.damage.edits import find_joints
from adapt.damage.parts import RobotParts, Target


@register("lost")
@dataclass(frozen=True)
class Lost(Defect):
    """What the leg's first joint, or the joint named, moves is gone, with all that hangs on it.

    No mass, no contact and no torque are left of it. The controller keeps its size: it sees 0 for the joints
    and the foot that are gone, and its actions for them do nothing.
    """

    title = "the leg is gone from its first joint on, or from the joint that is named"
    family = "lost"
    sorts = ("leg", "joint")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        first = parts.joints(target)[0]
        joints, feet = parts.joints_from(first), parts.feet_from(first)
        gone = (
            changes_of("motor", joints)
            | changes_of("limb", joints)
            | changes_of("joint sensor", joints)
            | changes_of("sole", feet)
            | changes_of("contact sensor", feet)
        )
        return Change(gone, lambda spec: _cut(spec, first))


def _cut(spec: mujoco.MjSpec, joint: str) -> None:
    """Delete what a joint moves; MuJoCo also deletes what refers to it: motors, sensors and constraints."""
    for element in find_joints(spec, [joint]):
        spec.delete(element.parent)
