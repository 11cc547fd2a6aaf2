"""`Reversed`: motors that turn the wrong way."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import mark_limbs, motor_ids


@register("reversed")
@dataclass(frozen=True)
class Reversed(Defect):
    """A motor is connected the wrong way round; a servo goes to the opposite of where it is told to go."""

    title = "the motors turn the wrong way"
    family = "wiring"
    sorts = ("leg", "joint")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints = parts.joints(target)
        return Change(changes_of("motor", joints), patch=lambda model: _reverse(model, joints))


def _reverse(model: mujoco.MjModel, joints: Sequence[str]) -> None:
    """Turn the motors of joints round."""
    model.actuator_gear[motor_ids(model, joints)] *= -1
    mark_limbs(model, joints)
