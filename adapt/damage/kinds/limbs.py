"""Damage to limbs: gone, shorter, bent."""

import math
from collections.abc import Iterator
from itertools import combinations

import mujoco

from adapt.damage.damage import (
    Combination,
    Damage,
    DamageModification,
    SingleDamage,
    Suspect,
    register,
    subjects,
)
from adapt.damage.edits import find_joints, shrink_body, the_joint, turn_limb
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths


@register("lost")
class Lost(SingleDamage):
    """What the leg's first joint, or the joint named, moves is gone, with all that hangs on it.

    No mass, no contact and no torque are left of it. The controller keeps its size: it sees 0 for the joints
    and the foot that are gone, and its actions for them do nothing.
    """

    title = "the leg is gone from its first joint on, or from the joint that is named"
    family = "lost"
    sorts = ("leg", "joint")
    order, powerless = 1, True

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterator[Suspect]:
        for name, leg in parts.robot.description.legs.items():
            for part in (name, *(f"joint={joint}" for joint in leg.joints[1:])):
                yield Suspect(cls, part)

    @classmethod
    def library(cls, parts: RobotParts) -> Iterator[Damage]:
        """Every leg and every other pair, since the others are similar; no more than half of the legs."""
        legs = parts.every("leg")
        yield from (cls(leg) for leg in legs if len(legs) > 1)
        for pair in list(combinations(legs, 2))[::2] if len(legs) > 3 else ():
            yield Combination(map(cls, pair))

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        first = parts.joints(target)[0]
        joints, feet = parts.joints_from(first), parts.feet_from(first)
        of_joints = [subjects(what, joints) for what in ("motor", "limb", "joint sensor")]
        gone = frozenset().union(*of_joints, subjects("sole", feet), subjects("contact sensor", feet))

        def cut(spec: mujoco.MjSpec) -> None:
            # MuJoCo also deletes what refers to it: motors, sensors and constraints
            for joint in find_joints(spec, [first]):
                spec.delete(joint.parent)

        return self.modify(gone, cut)


@register("short")
class Short(SingleDamage):
    """What the leg's last joint, or the joint named, moves has a share of its length, thickness and mass."""

    title = "the leg is shorter and lighter, from its last joint or the joint named on"
    family = "short"
    sorts = ("leg", "joint")
    scale = Scale("the share of the length that is left", 0.1, 0.95, default=0.5)
    order = 4
    in_library = {"leg": 0.5}

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterator[Suspect]:
        """Every leg from a joint on, but not from the first, which would be all of it."""
        for leg in parts.robot.description.legs.values():
            for joint in leg.joints[1:] or leg.joints:
                yield Suspect(cls, f"joint={joint}", Strengths((0.5,), 0.1, 0.95))

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joint = parts.joints(target)[-1]
        shorter = parts.joints_from(joint)

        def shorten(spec: mujoco.MjSpec) -> None:
            shrink_body(spec, the_joint(spec, joint), self.amount)

        return self.modify(subjects("limb", shorter), shorten, red=shorter)


@register("bent")
class Bent(SingleDamage):
    """What a hinge moves is turned about the hinge, which its sensor and its motor do not notice."""

    title = "the limb that the joint moves is bent in the joint's plane"
    family = "bent"
    sorts = ("joint",)
    scale = Scale("the angle [degrees]", -180.0, 180.0, default=25.0)
    order = 9
    suspected = {"joint": Strengths((-30.0, 30.0), -70.0, 70.0)}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joint, angle = target.name, math.radians(self.amount)
        following = parts.joints_after(joint)
        return self.modify(
            subjects("limb", [joint]),
            patch=lambda model: turn_limb(model, joint, angle, following=following),
            red=[joint],
        )
