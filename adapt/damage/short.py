"""`Short`: a leg whose end is shorter than it was."""

from dataclasses import dataclass

import mujoco

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.frames import shrink_body
from adapt.damage.marks import mark
from adapt.damage.parts import limb_geoms, the_joint
from adapt.damage.strength import Strength
from adapt.damage.target import Target


@register("short")
@dataclass(frozen=True)
class Short(Defect):
    """What the leg's last joint, or the joint named, moves is as long, thick and heavy as a share of it was.

    The foot shrinks and moves with it. Motors, joints and their ranges stay as they are.
    """

    title = "the leg is shorter and lighter, from its last joint or the joint named on"
    family = "short"
    sorts = ("leg", "joint")
    scale = Strength("the share of the length that is left", 0.1, 0.95, default=0.5)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        joint, share = anatomy.joints(target)[-1], float(self.strength or 0)
        shorter = anatomy.joints_from(joint)
        return Change(concerns.limbs(shorter), lambda spec: _shorten(spec, joint, shorter, share))


def _shorten(spec: mujoco.MjSpec, joint: str, shorter: tuple[str, ...], share: float) -> None:
    """Shrink what a joint moves."""
    mark(limb_geoms(spec, shorter))
    shrink_body(spec, the_joint(spec, joint), share)
