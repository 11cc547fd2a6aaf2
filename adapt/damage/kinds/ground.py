"""Damage to soles, and another floor."""

from dataclasses import dataclass

import mujoco
from scipy.spatial.transform import Rotation

from adapt.damage.damage import Change, Defect, changes_of, register
from adapt.damage.edits import find_soles, mark, scale_friction, tint, touches
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale


@register("slip")
@dataclass(frozen=True)
class Slip(Defect):
    """The foot's sole, worn or wet, has a share of its friction with the floor."""

    title = "the foot has a share of its friction with the floor"
    family = "friction"
    sorts = ("leg", "foot", "all")
    scale = Scale("the share of the friction that is left", 0.0, 0.99, default=0.3)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        feet, description = parts.feet(target), parts.robot.description

        def wear(spec: mujoco.MjSpec) -> None:
            soles, floor = find_soles(spec, description, feet), spec.geom(description.floor)
            for sole in soles:
                scale_friction(spec, sole, floor, self.amount)
            mark(soles)

        return self.change(changes_of("sole", feet), wear)


@register("friction")
@dataclass(frozen=True)
class Friction(Defect):
    """Whatever touches the floor has another friction with it: ice below 1, rubber above."""

    title = "the floor is slippery, or grips more"
    family = "friction"
    sorts = ("floor",)
    scale = Scale("the friction with the floor as a multiple of what it was", 0.0, 5.0, default=0.4)

    def _change(self, parts: RobotParts, target: Target) -> Change:
        name = parts.robot.description.floor

        def polish(spec: mujoco.MjSpec) -> None:
            floor = spec.geom(name)
            for geom in spec.geoms:
                if geom.name != name and touches(geom, floor):
                    scale_friction(spec, geom, floor, self.amount)
            tint(floor)

        return self.change(frozenset({"the friction of the floor"}), polish)


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
        floor = parts.robot.description.floor

        def tilt(spec: mujoco.MjSpec) -> None:
            # the floor stays where it is: gravity turns towards the back
            turn = Rotation.from_euler("y", self.amount, degrees=True)
            spec.option.gravity = turn.apply(spec.option.gravity)
            tint(spec.geom(floor))

        return self.change(frozenset({"the slope of the floor"}), tilt)
