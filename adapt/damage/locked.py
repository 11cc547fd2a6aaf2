"""`Locked`: a joint that does not move."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.frames import turn_body
from adapt.damage.marks import mark
from adapt.damage.parts import delete_joint, find_joints, limb_geoms
from adapt.damage.strength import Strength
from adapt.damage.target import Target
from robots.errors import InvalidValueError
from robots.faults import Faults


@register("locked")
@dataclass(frozen=True)
class Locked(Defect):
    """The joint is stuck at an angle, whatever acts on it; of a leg, all joints are.

    The controller feels that angle and no speed; its actions for the joint do nothing.
    """

    title = "the joint is stuck at an angle, or all joints of the leg are"
    family = "locked"
    sorts = ("leg", "joint")
    scale = Strength("the joint's position [rad]", None, None, rest="that at rest")

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        angles = {joint: self._angle(anatomy, joint) for joint in anatomy.joints(target)}
        return Change(concerns.motors(angles), lambda spec: _lock(spec, angles), Faults(fixed=angles))

    def _angle(self, anatomy: Anatomy, joint: str) -> float:
        """Where a joint is stuck."""
        if self.strength is None:
            return anatomy.rest(joint)
        low, high = anatomy.range(joint)
        if not low <= self.strength <= high:
            raise InvalidValueError(f"{self}: {joint} goes from {low:.3g} to {high:.3g} rad")
        return self.strength


def _lock(spec: mujoco.MjSpec, angles: Mapping[str, float]) -> None:
    """Replace joints by how they turned their bodies."""
    mark(limb_geoms(spec, list(angles)))
    for joint in find_joints(spec, list(angles)):
        turn_body(spec, joint, angles[joint.name])
        delete_joint(spec, joint)
