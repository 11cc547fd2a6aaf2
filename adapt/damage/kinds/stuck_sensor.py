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
            reading, feet = self._contact(), (target.name,)
            return Change(
                changes_of("contact sensor", feet),
                lambda spec: mark(find_soles(spec, parts.robot, feet)),
                Faults(stuck={f"{target.name} contact": reading}),
            )
        return Change(
            changes_of("joint sensor", [target.name]),
            lambda spec: mark(limb_geoms(spec, [target.name])),
            Faults(
                stuck={
                    f"{target.name} position": self._position(parts, target.name),
                    f"{target.name} speed": 0.0,
                }
            ),
        )

    def _contact(self) -> float:
        """What a foot's sensor reads."""
        if self.strength not in (None, 0, 1):
            raise InvalidValueError(f"{self}: the sensor of a foot reads 0 or 1")
        return self.strength or 0.0

    def _position(self, parts: RobotParts, joint: str) -> float:
        """What a joint's sensor reads, with the joint's range rescaled to [-1, 1]."""
        low, high = parts.range(joint)
        angle = parts.rest(joint) if self.strength is None else self.strength
        if not low <= angle <= high:
            raise InvalidValueError(f"{self}: {joint} goes from {low:.3g} to {high:.3g} rad")
        return (2 * angle - low - high) / (high - low)
