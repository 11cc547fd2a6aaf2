"""Damage to motors, their gears and their wiring."""

from collections.abc import Iterator
from typing import ClassVar

import mujoco

from adapt.damage.damage import (
    Damage,
    DamageModification,
    JointReading,
    SingleDamage,
    Suspect,
    register,
    subjects,
)
from adapt.damage.edits import delete_motors, joint_ids, motor_ids
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import NO_STRENGTH, Scale, Strengths
from robots.errors import InvalidValueError
from robots.robot import Faults

_LACKING = 0.1  # of its torque that a motor that may be weak lacks at the least
_ASKEW = 0.1  # [rad] mean error of a servo that may be offset


@register("dead")
class Dead(SingleDamage):
    """The joints hang limp: they are felt, and keep their limits and friction, but nothing drives them."""

    title = "the motors give no torque"
    family = "dead"
    sorts = ("leg", "joint", "all")
    order, powerless = 2, True

    @classmethod
    def library(cls, parts: RobotParts) -> Iterator[Damage]:
        legs = parts.every("leg")
        yield from (cls(leg) for leg in legs if len(legs) > 1)

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)
        return self.modify(subjects("motor", joints), lambda spec: delete_motors(spec, joints), red=joints)


@register("weak")
class Weak(SingleDamage):
    """Whatever a motor does, it does with a share of its torque.

    A servo gives that share of what it would give at the same error and speed, and no more than that share of
    its limit, as on a sagging supply: it is softer, and not only sooner at its limit.
    """

    title = "the motors give a share of their torque"
    family = "weak"
    sorts = ("leg", "joint", "all")
    scale = Scale("the share of the torque that is left", 0.01, 0.99, default=0.5)
    order = 3
    suspected = {
        "joint": Strengths((0.1, 0.5), 0.01, 0.99),
        "leg": Strengths((0.2, 0.5), 0.01, 0.99),
        "all": Strengths((0.6,), 0.1, 0.99),
    }
    in_library = {"leg": 0.2, "all": 0.5}

    @classmethod
    def read_off(cls, reading: JointReading) -> float | None:
        share = reading.torque_share
        return share if -_LACKING < share < 1 - _LACKING else None

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints, share = parts.joints(target), self.amount

        def weaken(model: mujoco.MjModel) -> None:
            for motor in motor_ids(model, joints):
                if model.actuator_biastype[motor] == mujoco.mjtBias.mjBIAS_NONE:
                    model.actuator_gear[motor] *= share
                    continue
                # a servo's gear would also change where it goes
                for numbers in (model.actuator_gainprm, model.actuator_biasprm, model.actuator_forcerange):
                    numbers[motor] *= share
            model.jnt_actfrcrange[joint_ids(model, joints)] *= share

        return self.modify(subjects("motor", joints), patch=weaken, red=joints)


@register("reversed")
class Reversed(SingleDamage):
    """A motor is connected the wrong way round; a servo goes to the opposite of where it is told to go."""

    title = "the motors turn the wrong way"
    family = "wiring"
    sorts = ("leg", "joint")
    order = 5
    suspected = {"joint": NO_STRENGTH}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)

        def reverse(model: mujoco.MjModel) -> None:
            model.actuator_gear[motor_ids(model, joints)] *= -1

        return self.modify(subjects("motor", joints), patch=reverse, red=joints)


@register("swapped")
class Swapped(SingleDamage):
    """The joint's motor and that of another joint get each other's actions."""

    title = "the joint's motor and another joint's get each other's actions"
    family = "wiring"
    sorts = ("joint",)
    scale = Scale("the other joint's number, counted from 1 in the order of the actions", 1, 1000, whole=True)
    order = 10

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterator[Suspect]:
        for joint in parts.robot.description.joints:
            if near := _near(parts, joint):
                yield Suspect(cls, f"joint={joint}", Strengths(near))

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints, one = parts.robot.description.joints, target.name
        if self.amount > len(joints) or joints[int(self.amount) - 1] == one:
            raise InvalidValueError(f"{self}: the number must be of another one of the {len(joints)} joints")
        other = joints[int(self.amount) - 1]
        return self.modify(
            subjects("motor", [one, other]), faults=Faults(swapped={one: other, other: one}), red=[one, other]
        )


@register("offset")
class Offset(SingleDamage):
    """A servo misses the angle that it is told by a constant; the joint's sensor reads where it is."""

    title = "the servo misses the angle that it is told by a constant"
    family = "offset"
    sorts = ("joint",)
    scale = Scale("by how much [rad]", -2.0, 2.0, default=0.3)
    order = 11
    suspected = {"servo": Strengths((-0.35, 0.35), -1.0, 1.0)}

    @classmethod
    def read_off(cls, reading: JointReading) -> float | None:
        return reading.error if abs(reading.error) > _ASKEW else None

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)
        if not parts.is_servo(target.name):
            raise InvalidValueError(f"{self}: the motor of {target.name} is no servo, which is told angles")

        def aim_further(model: mujoco.MjModel) -> None:
            for motor in motor_ids(model, joints):
                per_angle = model.actuator_biasprm[motor, 1] * model.actuator_gear[motor, 0]
                model.actuator_biasprm[motor, 0] -= per_angle * self.amount

        return self.modify(subjects("motor", joints), patch=aim_further, red=joints)


class _Told(SingleDamage):
    """Something is wrong with what motors are told."""

    sorts = ("leg", "joint", "all")
    fault: ClassVar[str]  # of `Faults`, which has the strength for each joint
    changed: ClassVar[str]  # in words

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)
        faults = Faults(**{self.fault: dict.fromkeys(joints, self.amount)})  # type: ignore[arg-type]
        return self.modify(frozenset(map(self.changed.format, joints)), faults=faults, red=joints)


@register("backlash")
class Backlash(_Told):
    """What arrives at the joint is the command with hysteresis, as wide as the play of the gear."""

    title = "the gear has play: a command has an effect only beyond it"
    family = "backlash"
    scale = Scale(
        "the play to either side, in units of the command: of a servo [rad]", 0.001, 2.0, default=0.2
    )
    fault, changed, order = "play", "the gear of {}", 12
    suspected = {"servo": Strengths((0.3,), 0.05, 0.6)}


@register("delay")
class Delay(_Told):
    """The motors do what the controller said some control steps ago, and before that nothing."""

    title = "the motors act late"
    family = "delay"
    scale = Scale("control steps", 1, 50, default=1, whole=True)
    fault, changed, order = "late", "when the motor of {} acts", 19
    suspected = {"all": Strengths((2.0, 4.0), 1.0, 8.0)}


@register("dropped")
class Dropped(_Told):
    """Commands are lost on their way to the motors, those of all joints at a time, which go on as before."""

    title = "commands to the motors are lost, and these go on as they were told before"
    family = "delay"
    scale = Scale("the share of the control steps in which they are", 0.01, 1.0, default=0.3)
    fault, changed, order = "dropped", "what the motor of {} is told", 24


def _near(parts: RobotParts, joint: str) -> tuple[float, ...]:
    """Numbers of joints whose cables are near: further out on the leg, and likewise on the next leg."""
    description = parts.robot.description
    legs = [leg.joints for leg in description.legs.values()]
    near = [
        other
        for own, following in zip(legs, [*legs[1:], *legs[:1]], strict=True)
        if joint in own
        for place in [own.index(joint)]
        for other in (*own[place + 1 :], *following[place : place + 1])
        if other != joint
    ]
    return tuple(description.joints.index(other) + 1.0 for other in near)
