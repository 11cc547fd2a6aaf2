"""`Dead`: motors that give no torque."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, register
from adapt.damage.edits import delete_motors, limb_geoms, mark
from adapt.damage.parts import RobotParts, Target


@register("dead")
@dataclass(frozen=True)
class Dead(Defect):
    """The joints hang limp: they keep their limits and friction but nothing drives them.

    The controller still feels their positions and speeds; its actions for them do nothing.
    """

    title = "the motors give no torque"
    family = "dead"
    sorts = ("leg", "joint", "all")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints = parts.joints(target)
        return Change(changes_of("motor", joints), lambda spec: _disconnect(spec, joints))


def _disconnect(spec: mujoco.MjSpec, joints: Sequence[str]) -> None:
    """Delete the motors of joints."""
    delete_motors(spec, joints)
    mark(limb_geoms(spec, joints))
