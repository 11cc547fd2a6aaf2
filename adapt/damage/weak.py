"""`Weak`: motors that give a share of their torque."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import mark
from adapt.damage.parts import find_joints, find_motors, limb_geoms
from adapt.damage.strength import Strength
from adapt.damage.target import Target


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
    scale = Strength("the share of the torque that is left", 0.01, 0.99, default=0.5)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        joints, share = anatomy.joints(target), float(self.strength or 0)
        return Change(concerns.motors(joints), lambda spec: _weaken(spec, joints, share))


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
