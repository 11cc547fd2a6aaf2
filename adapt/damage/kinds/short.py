"""`Short`: a leg whose end is shorter than it was."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import limb_geoms, mark, the_joint
from adapt.damage.frames import shrink_body
from adapt.damage.parts import RobotParts, Target


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
        """See `Defect`."""
        joint, share = parts.joints(target)[-1], self.amount
        shorter = parts.joints_from(joint)
        return Change(changes_of("limb", shorter), lambda spec: _shorten(spec, joint, shorter, share))


def _shorten(spec: mujoco.MjSpec, joint: str, shorter: tuple[str, ...], share: float) -> None:
    """Shrink what a joint moves."""
    mark(limb_geoms(spec, shorter))
    shrink_body(spec, the_joint(spec, joint), share)
