"""Damage to motors, their gears and their wiring."""

from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import delete_motors
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import joint_ids, motor_ids
from adapt.damage.strength import Scale
from robots.errors import InvalidValueError
from robots.robot import Faults


@register("dead")
@dataclass(frozen=True)
class Dead(Defect):
    """The joints hang limp: they keep their limits and friction but nothing drives them.

    The controller still feels their positions and speeds; its actions for them do nothing.
    """

    title = "the motors give no torque"
    family = "dead"
    sorts = ("leg", "joint", "all")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)
        return self.change(changes_of("motor", joints), lambda spec: delete_motors(spec, joints), red=joints)


@register("weak")
@dataclass(frozen=True)
class Weak(Defect):
    """Whatever a motor does, it does with a share of its torque.

    A servo gives that share of what it would give at the same error and speed, and no more than that share of
    its limit, as on a sagging supply: it is softer, and not only sooner at its limit.
    """

    title = "the motors give a share of their torque"
    family = "weak"
    sorts = ("leg", "joint", "all")
    scale = Scale("the share of the torque that is left", 0.01, 0.99, default=0.5)

    def _change(self, parts: RobotParts, target: Target) -> Change:
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

        return self.change(changes_of("motor", joints), patch=weaken, red=joints)


@register("reversed")
@dataclass(frozen=True)
class Reversed(Defect):
    """A motor is connected the wrong way round; a servo goes to the opposite of where it is told to go."""

    title = "the motors turn the wrong way"
    family = "wiring"
    sorts = ("leg", "joint")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)

        def reverse(model: mujoco.MjModel) -> None:
            model.actuator_gear[motor_ids(model, joints)] *= -1

        return self.change(changes_of("motor", joints), patch=reverse, red=joints)


@register("swapped")
@dataclass(frozen=True)
class Swapped(Defect):
    """The joint's motor and that of another joint get each other's actions."""

    title = "the joint's motor and another joint's get each other's actions"
    family = "wiring"
    sorts = ("joint",)
    scale = Scale("the other joint's number, counted from 1 in the order of the actions", 1, 1000, whole=True)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints, one = parts.robot.description.joints, target.name
        if self.amount > len(joints) or joints[int(self.amount) - 1] == one:
            raise InvalidValueError(f"{self}: the number must be of another one of the {len(joints)} joints")
        other = joints[int(self.amount) - 1]
        return self.change(
            changes_of("motor", [one, other]),
            faults=Faults(swapped={one: other, other: one}),
            red=[one, other],
        )


@register("offset")
@dataclass(frozen=True)
class Offset(Defect):
    """A servo misses the angle that it is told by a constant; the joint's sensor reads where it is.

    Not for motors, which are told torques.
    """

    title = "the servo misses the angle that it is told by a constant"
    family = "offset"
    sorts = ("joint",)
    scale = Scale("by how much [rad]", -2.0, 2.0, default=0.3)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)
        if not parts.is_servo(target.name):
            raise InvalidValueError(f"{self}: the motor of {target.name} is no servo, which is told angles")

        def aim_further(model: mujoco.MjModel) -> None:
            for motor in motor_ids(model, joints):
                per_angle = model.actuator_biasprm[motor, 1] * model.actuator_gear[motor, 0]
                model.actuator_biasprm[motor, 0] -= per_angle * self.amount

        return self.change(changes_of("motor", joints), patch=aim_further, red=joints)


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
        joints = parts.joints(target)
        return self.change(
            frozenset(f"the gear of {joint}" for joint in joints),
            faults=Faults(play=dict.fromkeys(joints, self.amount)),
            red=joints,
        )


@register("delay")
@dataclass(frozen=True)
class Delay(Defect):
    """The motors do what the controller said some control steps ago, and before that nothing."""

    title = "the motors act late"
    family = "delay"
    sorts = ("all",)
    scale = Scale("control steps", 1, 50, default=1, whole=True)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        return self.change(frozenset({"when the motors act"}), faults=Faults(delay=int(self.amount)))
