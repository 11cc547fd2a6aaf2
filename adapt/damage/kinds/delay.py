"""`Delay`: actions that come late."""

from dataclasses import dataclass

from adapt.damage.damage import Change
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from robots.robot import Faults


@register("delay")
@dataclass(frozen=True)
class Delay(Defect):
    """The motors do what the controller said some control steps ago, and before that nothing."""

    title = "the motors act late"
    family = "delay"
    sorts = ("all",)
    scale = Scale("control steps", 1, 50, default=1, whole=True)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        return Change(frozenset({"when the motors act"}), faults=Faults(delay=int(self.amount)))
