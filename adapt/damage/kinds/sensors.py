"""Damage to what the controller sees, and to nothing else."""

from dataclasses import dataclass

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import find_soles, mark
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale
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
        if target.sort == "foot":
            if self.strength not in (None, 0, 1):
                raise InvalidValueError(f"{self}: the sensor of a foot reads 0 or 1")
            feet, description = (target.name,), parts.robot.description
            return self.change(
                changes_of("contact sensor", feet),
                lambda spec: mark(find_soles(spec, description, feet)),
                faults=Faults(stuck={f"{target.name} contact": self.strength or 0.0}),
            )
        (low, high), joint = parts.range(target.name), target.name
        reading = (2 * self.position(parts, joint) - low - high) / (high - low)  # the range is [-1, 1]
        return self.change(
            changes_of("joint sensor", [joint]),
            faults=Faults(stuck={f"{joint} position": reading, f"{joint} speed": 0.0}),
            red=[joint],
        )


@register("noisy-sensor")
@dataclass(frozen=True)
class NoisySensor(Defect):
    """Normal noise is added to what the controller sees of joints and feet; of a leg, of all there is in it.

    Only the controller is misled: the robot moves, and is judged, as it does.
    """

    title = "noise is added to what the joints' and feet's sensors read"
    family = "sensor"
    sorts = ("leg", "joint", "foot", "all")
    scale = Scale(
        "the noise's standard deviation, where 1 is half the joint's range, 10 rad/s or a contact",
        0.01,
        5.0,
        default=0.2,
    )

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints, feet, description = parts.joints(target), parts.feet(target), parts.robot.description
        names = [f"{joint} {what}" for joint in joints for what in ("position", "speed")]
        names += [f"{foot} contact" for foot in feet]
        return self.change(
            changes_of("joint sensor", joints) | changes_of("contact sensor", feet),
            lambda spec: mark(find_soles(spec, description, feet)),
            faults=Faults(noisy=dict.fromkeys(names, self.amount)),
            red=joints,
        )
