"""`Dead`: a leg whose motors give no torque."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Damage, register
from robots.description import Leg

_DRIVES_A_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)


@register("dead")
@dataclass(frozen=True)
class Dead(Damage):
    """The leg hangs limp: its joints keep their limits and friction but nothing drives them.

    The controller still feels the joints' positions and speeds; its actions for them do nothing.
    """

    summary = "the leg's motors give no torque"

    def _edit(self, spec: mujoco.MjSpec, leg: Leg) -> None:
        """See `Damage`."""
        motors = [motor for motor in spec.actuators if motor.trntype in _DRIVES_A_JOINT]
        for motor in motors:
            if motor.target in leg.joints:
                spec.delete(motor)
