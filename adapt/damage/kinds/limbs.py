"""Damage to limbs: gone, shorter, bent."""

import math
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import find_joints, the_joint
from adapt.damage.frames import shrink_body
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import turn_limb
from adapt.damage.strength import Scale


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
        first = parts.joints(target)[0]
        joints, feet = parts.joints_from(first), parts.feet_from(first)
        gone = (
            changes_of("motor", joints)
            | changes_of("limb", joints)
            | changes_of("joint sensor", joints)
            | changes_of("sole", feet)
            | changes_of("contact sensor", feet)
        )

        def cut(spec: mujoco.MjSpec) -> None:
            # MuJoCo also deletes what refers to it: motors, sensors and constraints
            for joint in find_joints(spec, [first]):
                spec.delete(joint.parent)

        return self.change(gone, cut)


@register("short")
@dataclass(frozen=True)
class Short(Defect):
    """What the leg's last joint, or the joint named, moves is as long, thick and heavy as a share of it was.

    The foot shrinks and moves with it. Motors, joints and their ranges stay as they are.
    """

    title = "the leg is shorter and lighter, from its last joint or the joint named on"
    family = "short"
    sorts = ("leg", "joint")
    scale = Scale("the share of the length that is left", 0.1, 0.95, default=0.5)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joint = parts.joints(target)[-1]
        shorter = parts.joints_from(joint)

        def shorten(spec: mujoco.MjSpec) -> None:
            shrink_body(spec, the_joint(spec, joint), self.amount)

        return self.change(changes_of("limb", shorter), shorten, red=shorter)


@register("bent")
@dataclass(frozen=True)
class Bent(Defect):
    """What a hinge moves, with all that hangs on it, points elsewhere, turned about the hinge.

    The joint's sensor and its motor do not notice. A joint that is stuck is bent as well.
    """

    title = "the limb that the joint moves is bent in the joint's plane"
    family = "bent"
    sorts = ("joint",)
    scale = Scale("the angle [degrees]", -180.0, 180.0, default=25.0)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joint, angle = target.name, math.radians(self.amount)
        following = parts.joints_after(joint)
        return self.change(
            changes_of("limb", [joint]),
            patch=lambda model: turn_limb(model, joint, angle, following=following),
            red=[joint],
        )
