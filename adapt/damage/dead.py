"""`Dead`: motors that give no torque."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import mark
from adapt.damage.parts import delete_motors, limb_geoms
from adapt.damage.target import Target


@register("dead")
@dataclass(frozen=True)
class Dead(Defect):
    """The joints hang limp: they keep their limits and friction but nothing drives them.

    The controller still feels their positions and speeds; its actions for them do nothing.
    """

    title = "the motors give no torque"
    family = "dead"
    sorts = ("leg", "joint", "all")
    scale = None

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        joints = anatomy.joints(target)
        return Change(concerns.motors(joints), lambda spec: _disconnect(spec, joints))


def _disconnect(spec: mujoco.MjSpec, joints: Sequence[str]) -> None:
    """Delete the motors of joints."""
    delete_motors(spec, joints)
    mark(limb_geoms(spec, joints))
