"""Damage to soles, and another floor."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import find_soles, mark, scale_friction, tint, touches
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale
from robots.robot import Robot


@register("slip")
@dataclass(frozen=True)
class Slip(Defect):
    """The foot's sole, worn or wet, has a share of its friction with the floor."""

    title = "the foot has a share of its friction with the floor"
    family = "friction"
    sorts = ("leg", "foot", "all")
    scale = Scale("the share of the friction that is left", 0.0, 0.99, default=0.3)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        feet, share, robot = parts.feet(target), self.amount, parts.robot
        return self.change(changes_of("sole", feet), lambda spec: _wear(spec, robot, feet, share))


def _wear(spec: mujoco.MjSpec, robot: Robot, feet: Sequence[str], share: float) -> None:
    """Leave the soles of feet a share of their friction."""
    soles, floor = find_soles(spec, robot, feet), spec.geom(robot.description.floor)
    for sole in soles:
        scale_friction(spec, sole, floor, share)
    mark(soles)


@register("friction")
@dataclass(frozen=True)
class Friction(Defect):
    """Whatever touches the floor has another friction with it: ice below 1, rubber above."""

    title = "the floor is slippery, or grips more"
    family = "friction"
    sorts = ("floor",)
    scale = Scale("the friction with the floor as a multiple of what it was", 0.0, 5.0, default=0.4)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        floor, multiple = parts.robot.description.floor, self.amount
        return self.change(
            frozenset({"the friction of the floor"}), lambda spec: _polish(spec, floor, multiple)
        )


def _polish(spec: mujoco.MjSpec, name: str, multiple: float) -> None:
    """Multiply the friction of all that can touch the floor."""
    floor = spec.geom(name)
    for geom in spec.geoms:
        if geom.name != name and touches(geom, floor):
            scale_friction(spec, geom, floor, multiple)
    tint(floor)


@register("slope")
@dataclass(frozen=True)
class Slope(Defect):
    """The robot walks uphill, or downhill, all the way: gravity pulls it back, or ahead.

    Heights, angles and what counts as alive remain relative to the floor.
    """

    title = "the floor rises ahead, or falls"
    family = "slope"
    sorts = ("floor",)
    scale = Scale("the angle of the floor, uphill positive [degrees]", -45.0, 45.0, default=10.0)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        floor, angle = parts.robot.description.floor, np.radians(self.amount)
        return self.change(frozenset({"the slope of the floor"}), lambda spec: _tilt(spec, floor, angle))


def _tilt(spec: mujoco.MjSpec, floor: str, angle: float) -> None:
    """Turn gravity towards the back, as the floor stays where it is."""
    spec.option.gravity = Rotation.from_euler("y", angle).apply(spec.option.gravity)
    tint(spec.geom(floor))
