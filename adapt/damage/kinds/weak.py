"""`Weak`: motors that give a share of their torque."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import find_joints, find_motors, limb_geoms, mark
from adapt.damage.parts import RobotParts, Target


@register("weak")
@dataclass(frozen=True)
class Weak(Defect):
    """Whatever a motor does, it does with a share of its torque.

    A servo gives that share of what it would give at the same error and speed, and no more than that share of
    its limit, as on a sagging supply: it is softer, and not only sooner at its limit.
    """

    title = "the motors give a share of their torque"
    family = "weak"
    sorts = ("leg", "joint", "all")
    scale = Scale("the share of the torque that is left", 0.01, 0.99, default=0.5)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints, share = parts.joints(target), self.amount
        return Change(changes_of("motor", joints), lambda spec: _weaken(spec, joints, share))


def _weaken(spec: mujoco.MjSpec, joints: Sequence[str], share: float) -> None:
    """Leave the motors of joints a share of their torque."""
    for motor in find_motors(spec, joints):
        if motor.biastype == mujoco.mjtBias.mjBIAS_NONE:
            motor.gear = share * np.asarray(motor.gear)
            continue
        # a servo's gear would also change where it goes
        motor.gainprm = share * np.asarray(motor.gainprm)
        motor.biasprm = share * np.asarray(motor.biasprm)
        motor.forcerange = share * np.asarray(motor.forcerange)
    for joint in find_joints(spec, joints):
        joint.actfrcrange = share * np.asarray(joint.actfrcrange)
    mark(limb_geoms(spec, joints))
