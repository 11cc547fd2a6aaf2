"""`Locked`: a joint that does not move."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import delete_joint, find_joints, limb_geoms, mark
from adapt.damage.frames import turn_body
from adapt.damage.parts import RobotParts, Target
from robots.robot import Faults


@register("locked")
@dataclass(frozen=True)
class Locked(Defect):
    """The joint is stuck at an angle, whatever acts on it; of a leg, all joints are.

    The controller feels that angle and no speed; its actions for the joint do nothing.
    """

    title = "the joint is stuck at an angle, or all joints of the leg are"
    family = "locked"
    sorts = ("leg", "joint")
    scale = Scale("the joint's position [rad]", None, None, rest="that at rest")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        angles = {joint: self.position(parts, joint) for joint in parts.joints(target)}
        return Change(changes_of("motor", angles), lambda spec: _lock(spec, angles), Faults(fixed=angles))


def _lock(spec: mujoco.MjSpec, angles: Mapping[str, float]) -> None:
    """Replace joints by how they turned their bodies."""
    mark(limb_geoms(spec, list(angles)))
    for joint in find_joints(spec, list(angles)):
        turn_body(spec, joint, angles[joint.name])
        delete_joint(spec, joint)
