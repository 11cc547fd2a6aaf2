"""Damage to what the controller sees, and to nothing else."""

from adapt.damage.damage import DamageModification, SingleDamage, register, subjects
from adapt.damage.edits import find_soles, mark
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths
from robots.errors import InvalidValueError
from robots.robot import Faults


@register("stuck-sensor")
class StuckSensor(SingleDamage):
    """A joint's sensor always reads one position and no speed, or a foot's always contact or never."""

    title = "the joint's or foot's sensor always reads the same"
    family = "sensor"
    sorts = ("joint", "foot")
    scale = Scale(
        "0 or 1 for a foot, or a position [rad]", None, None, rest="a foot in the air, a joint at rest"
    )
    order, of_sensors = 20, True
    suspected = {"joint": None, "foot": Strengths((0.0, 1.0))}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        if target.sort == "foot":
            if self.strength not in (None, 0, 1):
                raise InvalidValueError(f"{self}: the sensor of a foot reads 0 or 1")
            feet, description = (target.name,), parts.robot.description
            return self.modify(
                subjects("contact sensor", feet),
                lambda spec: mark(find_soles(spec, description, feet)),
                faults=Faults(stuck={f"{target.name} contact": self.strength or 0.0}),
            )
        (low, high), joint = parts.range(target.name), target.name
        reading = (2 * self.position(parts, joint) - low - high) / (high - low)  # the range is [-1, 1]
        return self.modify(
            subjects("joint sensor", [joint]),
            faults=Faults(stuck={f"{joint} position": reading, f"{joint} speed": 0.0}),
            red=[joint],
        )


@register("noisy-sensor")
class NoisySensor(SingleDamage):
    """Normal noise is added to what the controller sees of joints and feet, of a leg of all in it."""

    title = "noise is added to what the joints' and feet's sensors read"
    family = "sensor"
    sorts = ("leg", "joint", "foot", "all")
    scale = Scale(
        "the noise's standard deviation, where 1 is half the joint's range, 10 rad/s or a contact",
        0.01,
        5.0,
        default=0.2,
    )
    order, of_sensors = 21, True
    suspected = {
        "joint": Strengths((0.3,), 0.03, 3.0, logarithmic=True),
        "foot": Strengths((0.5,), 0.1, 3.0, logarithmic=True),
        "all": Strengths((0.3,), 0.03, 3.0, logarithmic=True),
    }

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints, feet, description = parts.joints(target), parts.feet(target), parts.robot.description
        names = [f"{joint} {what}" for joint in joints for what in ("position", "speed")]
        names += [f"{foot} contact" for foot in feet]
        return self.modify(
            subjects("joint sensor", joints) | subjects("contact sensor", feet),
            lambda spec: mark(find_soles(spec, description, feet)),
            faults=Faults(noisy=dict.fromkeys(names, self.amount)),
            red=joints,
        )
