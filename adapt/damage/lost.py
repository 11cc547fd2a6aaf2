"""`Lost`: a leg that is gone from the hip on."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Damage, register
from robots.description import Leg


@register("lost")
@dataclass(frozen=True)
class Lost(Damage):
    """The body that the leg's first joint moves is gone, with all that hangs on it.

    No mass, no contact and no torque are left of it. The controller keeps its size: it sees 0 for the joints
    and the foot that are gone, and its actions for them do nothing.
    """

    summary = "the leg is gone from the hip on"

    def _edit(self, spec: mujoco.MjSpec, leg: Leg) -> None:
        """See `Damage`; MuJoCo also deletes the motors, sensors and constraints that refer to the body."""
        spec.delete(spec.joint(leg.joints[0]).parent)
