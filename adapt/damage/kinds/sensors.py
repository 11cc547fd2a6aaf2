"""Damage to what the controller sees, and to nothing else."""

from typing import ClassVar

from adapt.damage.damage import DamageModification, SingleDamage, register, subjects
from adapt.damage.edits import find_soles, mark
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths
from robots.errors import InvalidValueError
from robots.robot import Faults

_IMU = ("roll", "pitch", "heading", "gravity", "gyroscope")  # terms of what an IMU in the torso reads


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
            stuck = {f"{target.name} contact": self.strength or 0.0}
        else:
            (low, high), joint = parts.range(target.name), target.name
            reading = (2 * self.position(parts, joint) - low - high) / (high - low)  # the range is [-1, 1]
            stuck = {f"{joint} position": reading, f"{joint} speed": 0.0}
        return _of_sensors(self, parts, target, Faults(stuck=stuck))


class _Misread(SingleDamage):
    """What the sensors of joints and feet read, or an IMU in the torso, is wrong."""

    family, of_sensors = "sensor", True
    fault: ClassVar[str]  # of `Faults`, which has a number for each reading
    of_joints: ClassVar[tuple[str, ...]] = ("position", "speed")  # which of their readings are
    in_units: ClassVar[bool] = False  # whether the strength is in units of the readings, not a share

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        names = [f"{joint} {what}" for joint in parts.joints(target) for what in self.of_joints]
        names += [f"{foot} contact" for foot in parts.feet(target) if "speed" in self.of_joints]
        terms = _IMU if target.sort == "torso" else ()
        read = [each for each in parts.robot.channels if each.name in names or each.term in terms]
        amounts = {each.name: self.amount * (each.gain if self.in_units else 1) for each in read}
        return _of_sensors(self, parts, target, Faults(**{self.fault: amounts}))  # type: ignore[arg-type]


@register("noisy-sensor")
class NoisySensor(_Misread):
    """Normal noise is added to what the controller sees of joints and feet, of a leg of all in it."""

    title = "noise is added to what the joints' and feet's sensors read"
    sorts = ("leg", "joint", "foot", "all")
    scale = Scale(
        "the noise's standard deviation, where 1 is half the joint's range, 10 rad/s or a contact",
        0.01,
        5.0,
        default=0.2,
    )
    fault, order = "noisy", 21
    suspected = {
        "joint": Strengths((0.3,), 0.03, 3.0, logarithmic=True),
        "foot": Strengths((0.5,), 0.1, 3.0, logarithmic=True),
        "all": Strengths((0.3,), 0.03, 3.0, logarithmic=True),
    }


@register("biased-sensor")
class BiasedSensor(_Misread):
    """Positions of joints, or attitude and rates of an IMU in the torso, are off."""

    title = "the joints' sensors or the IMU are off by a constant"
    sorts = ("leg", "joint", "all", "torso")
    scale = Scale("by how much: angles [rad] and, of the IMU, rates [rad/s]", -2.0, 2.0, default=0.2)
    fault, of_joints, in_units, order = "biased", ("position",), True, 22


@register("frozen-sensor")
class FrozenSensor(_Misread):
    """Readings of joints and feet, or of the IMU, drop out, all in the same control steps."""

    title = "readings drop out, and stay as they were"
    sorts = ("leg", "joint", "foot", "all", "torso")
    scale = Scale("the share of the control steps in which they do", 0.01, 1.0, default=1.0)
    fault, order = "missing", 23


def _of_sensors(
    damage: SingleDamage, parts: RobotParts, target: Target, faults: Faults
) -> DamageModification:
    joints, feet, description = parts.joints(target), parts.feet(target), parts.robot.description
    of_imu = frozenset({"the IMU"} if target.sort == "torso" else ())
    return damage.modify(
        subjects("joint sensor", joints) | subjects("contact sensor", feet) | of_imu,
        lambda spec: mark(find_soles(spec, description, feet)),
        faults=faults,
        red=joints,
    )
