"""`Backlash`: gears with play."""

from dataclasses import dataclass

from adapt.damage.damage import Change
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import mark_limbs
from robots.robot import Faults


@register("backlash")
@dataclass(frozen=True)
class Backlash(Defect):
    """Whenever a servo turns round, it has to go through the play of its gear before the joint follows.

    What arrives at the joint is the command with hysteresis. A motor's command is a torque, not an angle.
    """

    title = "the gear has play: a command has an effect only beyond it"
    family = "backlash"
    sorts = ("leg", "joint", "all")
    scale = Scale(
        "the play to either side, in units of the command: of a servo [rad]", 0.001, 2.0, default=0.2
    )

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints = parts.joints(target)
        return Change(
            frozenset(f"the gear of {joint}" for joint in joints),
            faults=Faults(play=dict.fromkeys(joints, self.amount)),
            patch=lambda model: mark_limbs(model, joints),
        )
