"""Damage to joints: stuck, or moving with difficulty."""

from collections.abc import Iterator
from typing import ClassVar

import mujoco

from adapt.damage.damage import Damage, DamageModification, SingleDamage, register, subjects
from adapt.damage.edits import find_joints, fix_joint, joint_ids, turn_body
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths
from robots.robot import Faults

_LEAST_TURN = 0.02  # [rad or m] by which a locked joint of the library must differ from rest


@register("locked")
class Locked(SingleDamage):
    """The joint is stuck at an angle, whatever acts on it; of a leg, all joints are.

    The controller feels that angle and no speed; its actions for the joint do nothing.
    """

    title = "the joint is stuck at an angle, or all joints of the leg are"
    family = "locked"
    sorts = ("leg", "joint")
    scale = Scale("the joint's position [rad]", None, None, rest="that at rest")
    order, takes_out = 6, True
    suspected = {"joint": None}

    @classmethod
    def library(cls, parts: RobotParts) -> Iterator[Damage]:
        """Every joint at rest and, where that differs, halfway from there to each end of its range."""
        for joint in parts.robot.description.joints:
            rest, (low, high) = parts.rest(joint), parts.range(joint)
            yield cls(f"joint={joint}")
            for angle in (round((rest + end) / 2, 2) for end in (low, high)):
                if low <= angle <= high and abs(angle - rest) > _LEAST_TURN:
                    yield cls(f"joint={joint}", angle)

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        angles = {joint: self.position(parts, joint) for joint in parts.joints(target)}

        def lock(spec: mujoco.MjSpec) -> None:
            for joint in find_joints(spec, list(angles)):
                turn_body(spec, joint, angles[joint.name])
                fix_joint(spec, joint, angles[joint.name])

        return self.modify(subjects("motor", angles), lock, faults=Faults(fixed=angles), red=angles)


class _Resisted(SingleDamage):
    """The joint has more friction."""

    family = "joint friction"
    friction: ClassVar[str]  # which, in words
    column: ClassVar[str]  # of the compiled model that holds it
    speed: ClassVar[float] = 1.0  # at which it takes the share of the motor's greatest torque [rad/s]

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)
        amounts = {joint: self.amount * parts.torque(joint) / self.speed for joint in joints}

        def hold_back(model: mujoco.MjModel) -> None:
            for joint, amount in amounts.items():
                getattr(model, self.column)[model.jnt_dofadr[joint_ids(model, [joint])]] += amount

        slowed = frozenset(f"the {self.friction} of {joint}" for joint in joints)
        return self.modify(slowed, patch=hold_back, red=joints)


@register("stiff")
class Stiff(_Resisted):
    """The joint has more damping, as with grease in the cold."""

    title = "the joint has more viscous friction"
    sorts = ("leg", "joint", "all")
    scale = Scale(
        "the share of the motor's greatest torque that it takes at 5 rad/s", 0.01, 20.0, default=1.0
    )
    friction, column, speed = "damping", "dof_damping", 5.0
    order = 7
    suspected = {
        "joint": Strengths((2.0,), 0.1, 15.0, logarithmic=True),
        "all": Strengths((0.5,), 0.1, 5.0, logarithmic=True),
    }


@register("rubbing")
class Rubbing(_Resisted):
    """The joint has more dry friction, as with a bent axle or a worn bearing."""

    title = "the joint has more dry friction"
    sorts = ("leg", "joint")
    scale = Scale("the share of the motor's greatest torque that it takes", 0.01, 2.0, default=0.3)
    friction, column = "dry friction", "dof_frictionloss"
    order = 8
    suspected = {"joint": Strengths((0.4,), 0.05, 1.2, logarithmic=True)}
