"""Damage to joints: stuck, or moving with difficulty."""

from dataclasses import dataclass
from typing import ClassVar

import mujoco

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import find_joints, fix_joint
from adapt.damage.frames import turn_body
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import joint_ids
from adapt.damage.strength import Scale
from robots.robot import Faults


@register("locked")
@dataclass(frozen=True)
class Locked(Defect):
    """The joint is stuck at an angle, whatever acts on it; of a leg, all joints are.

    The controller feels that angle and no speed; its actions for the joint do nothing.
    """

    title = "the joint is stuck at an angle, or all joints of the leg are"
    family = "locked"
    sorts = ("leg", "joint")
    scale = Scale("the joint's position [rad]", None, None, rest="that at rest")

    def _change(self, parts: RobotParts, target: Target) -> Change:
        angles = {joint: self.position(parts, joint) for joint in parts.joints(target)}

        def lock(spec: mujoco.MjSpec) -> None:
            for joint in find_joints(spec, list(angles)):
                turn_body(spec, joint, angles[joint.name])
                fix_joint(spec, joint, angles[joint.name])

        return self.change(changes_of("motor", angles), lock, faults=Faults(fixed=angles), red=angles)


@dataclass(frozen=True)
class _Resisted(Defect):
    """The joint has more friction.

    Attributes:
        friction: which, in words.
        column: of the compiled model that holds it.
        speed: at which it takes the share of the motor's greatest torque, if it depends on speed.
    """

    family = "joint friction"
    friction: ClassVar[str]
    column: ClassVar[str]
    speed: ClassVar[float] = 1.0

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)
        amounts = {joint: self.amount * parts.torque(joint) / self.speed for joint in joints}

        def hold_back(model: mujoco.MjModel) -> None:
            for joint, amount in amounts.items():
                getattr(model, self.column)[model.jnt_dofadr[joint_ids(model, [joint])]] += amount

        subjects = frozenset(f"the {self.friction} of {joint}" for joint in joints)
        return self.change(subjects, patch=hold_back, red=joints)


@register("stiff")
@dataclass(frozen=True)
class Stiff(_Resisted):
    """The joint has more damping, as with grease in the cold."""

    title = "the joint has more viscous friction"
    sorts = ("leg", "joint", "all")
    scale = Scale(
        "the share of the motor's greatest torque that it takes at 5 rad/s", 0.01, 20.0, default=1.0
    )
    friction, column, speed = "damping", "dof_damping", 5.0


@register("rubbing")
@dataclass(frozen=True)
class Rubbing(_Resisted):
    """The joint has more dry friction, as with a bent axle or a worn bearing."""

    title = "the joint has more dry friction"
    sorts = ("leg", "joint")
    scale = Scale("the share of the motor's greatest torque that it takes", 0.01, 2.0, default=0.3)
    friction, column = "dry friction", "dof_frictionloss"
