"""Damage to joints: stuck, or moving with difficulty."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import delete_joint, find_joints, limb_geoms, mark
from adapt.damage.frames import turn_body
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import joint_ids, mark_limbs
from adapt.damage.strength import Scale
from robots.robot import Faults

_SPEED = 5.0  # [rad/s or m/s] at which a share of the torque is meant


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
        return self.change(
            changes_of("motor", angles), lambda spec: _lock(spec, angles), Faults(fixed=angles)
        )


def _lock(spec: mujoco.MjSpec, angles: Mapping[str, float]) -> None:
    """Replace joints by how they turned their bodies."""
    mark(limb_geoms(spec, list(angles)))
    for joint in find_joints(spec, list(angles)):
        turn_body(spec, joint, angles[joint.name])
        delete_joint(spec, joint)


@register("stiff")
@dataclass(frozen=True)
class Stiff(Defect):
    """The joint has more damping, as with grease in the cold."""

    title = "the joint has more viscous friction"
    family = "joint friction"
    sorts = ("leg", "joint", "all")
    scale = Scale(
        "the share of the motor's greatest torque that it takes at 5 rad/s", 0.01, 20.0, default=1.0
    )

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)
        damping = {joint: self.amount * parts.torque(joint) / _SPEED for joint in joints}
        subjects = frozenset(f"the damping of {joint}" for joint in joints)
        return self.change(subjects, patch=lambda model: _hold_back(model, damping, dry=False))


@register("rubbing")
@dataclass(frozen=True)
class Rubbing(Defect):
    """The joint has more dry friction, as with a bent axle or a worn bearing."""

    title = "the joint has more dry friction"
    family = "joint friction"
    sorts = ("leg", "joint")
    scale = Scale("the share of the motor's greatest torque that it takes", 0.01, 2.0, default=0.3)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        joints = parts.joints(target)
        torques = {joint: self.amount * parts.torque(joint) for joint in joints}
        subjects = frozenset(f"the dry friction of {joint}" for joint in joints)
        return self.change(subjects, patch=lambda model: _hold_back(model, torques, dry=True))


def _hold_back(model: mujoco.MjModel, amounts: Mapping[str, float], *, dry: bool) -> None:
    """Add damping [N m s/rad] or dry friction [N m] to joints."""
    friction = model.dof_frictionloss if dry else model.dof_damping
    for name, amount in amounts.items():
        friction[model.jnt_dofadr[joint_ids(model, [name])]] += amount
    mark_limbs(model, list(amounts))
