"""`Weak`: motors that give a share of their torque."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import joint_ids, mark_limbs, motor_ids


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
        return Change(changes_of("motor", joints), patch=lambda model: _weaken(model, joints, share))


def _weaken(model: mujoco.MjModel, joints: Sequence[str], share: float) -> None:
    """Leave the motors of joints a share of their torque."""
    for motor in motor_ids(model, joints):
        if model.actuator_biastype[motor] == mujoco.mjtBias.mjBIAS_NONE:
            model.actuator_gear[motor] *= share
            continue
        # a servo's gear would also change where it goes
        for numbers in (model.actuator_gainprm, model.actuator_biasprm, model.actuator_forcerange):
            numbers[motor] *= share
    for joint in joint_ids(model, joints):
        model.jnt_actfrcrange[joint] *= share
    mark_limbs(model, joints)
