"""`Offset`: servos that are mounted askew."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import mark_limbs, motor_ids
from robots.errors import InvalidValueError


@register("offset")
@dataclass(frozen=True)
class Offset(Defect):
    """A servo misses the angle that it is told by a constant; the joint's sensor reads where it is.

    Not for motors, which are told torques.
    """

    title = "the servo misses the angle that it is told by a constant"
    family = "offset"
    sorts = ("joint",)
    scale = Scale("by how much [rad]", -2.0, 2.0, default=0.3)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints, by = parts.joints(target), self.amount
        if not parts.is_servo(target.name):
            raise InvalidValueError(f"{self}: the motor of {target.name} is no servo, which is told angles")
        return Change(changes_of("motor", joints), patch=lambda model: _shift(model, joints, by))


def _shift(model: mujoco.MjModel, joints: Sequence[str], by: float) -> None:
    """Have the servos of joints aim further."""
    for motor in motor_ids(model, joints):
        per_angle = model.actuator_biasprm[motor, 1] * model.actuator_gear[motor, 0]
        model.actuator_biasprm[motor, 0] -= per_angle * by
    mark_limbs(model, joints)
