"""`StuckSensor`: a sensor that always reads the same."""

from dataclasses import dataclass

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import find_soles, limb_geoms, mark
from adapt.damage.parts import RobotParts, Target
from robots.errors import InvalidValueError
from robots.robot import Faults


@register("stuck-sensor")
@dataclass(frozen=True)
class StuckSensor(Defect):
    """A joint's sensor always reads one position and no speed, or a foot's always contact or never.

    Only the controller is misled: the robot moves, and is judged, as it does.
    """

    title = "the joint's or foot's sensor always reads the same"
    family = "sensor"
    sorts = ("joint", "foot")
    scale = Scale(
        "0 or 1 for a foot, or a position [rad]", None, None, rest="a foot in the air, a joint at rest"
    )

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        if target.sort == "foot":
            if self.strength not in (None, 0, 1):
                raise InvalidValueError(f"{self}: the sensor of a foot reads 0 or 1")
            feet = (target.name,)
            return Change(
                changes_of("contact sensor", feet),
                lambda spec: mark(find_soles(spec, parts.robot, feet)),
                Faults(stuck={f"{target.name} contact": self.strength or 0.0}),
            )
        (low, high), joint = parts.range(target.name), target.name
        reading = (2 * self.position(parts, joint) - low - high) / (high - low)  # the range is [-1, 1]
        return Change(
            changes_of("joint sensor", [joint]),
            lambda spec: mark(limb_geoms(spec, [joint])),
            Faults(stuck={f"{joint} position": reading, f"{joint} speed": 0.0}),
        )
