"""Damage to soles, and another floor."""

import mujoco

from adapt.damage.damage import DamageModification, SingleDamage, register, subjects
from adapt.damage.edits import find_soles, mark, scale_friction, tint, touches
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths
from robots.task.terrain import BEYOND, Ground, clearance, lay, tilt


@register("slip")
class Slip(SingleDamage):
    """The foot's sole, worn or wet, has a share of its friction with the floor."""

    title = "the foot has a share of its friction with the floor"
    family = "friction"
    sorts = ("leg", "foot", "all")
    scale = Scale("the share of the friction that is left", 0.0, 0.99, default=0.3)
    order = 13
    suspected = {"foot": Strengths((0.2,), 0.02, 0.95)}
    in_library = {"foot": 0.2}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        feet, description = parts.feet(target), parts.robot.description

        def wear(spec: mujoco.MjSpec) -> None:
            soles, floor = find_soles(spec, description, feet), spec.geom(description.floor)
            for sole in soles:
                scale_friction(spec, sole, floor, self.amount)
            mark(soles)

        return self.modify(subjects("sole", feet), wear)


@register("friction")
class Friction(SingleDamage):
    """Whatever touches the floor has another friction with it: ice below 1, rubber above."""

    title = "the floor is slippery, or grips more"
    family = "friction"
    sorts = ("floor",)
    scale = Scale("the friction with the floor as a multiple of what it was", 0.0, 5.0, default=0.4)
    order = 17
    suspected = {"floor": Strengths((0.3, 0.6, 1.5), 0.1, 2.0, logarithmic=True)}
    in_library = {"floor": 0.4}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        name = parts.robot.description.floor

        def polish(spec: mujoco.MjSpec) -> None:
            floor = spec.geom(name)
            for geom in spec.geoms:
                if geom.name not in (name, BEYOND) and touches(geom, floor):
                    scale_friction(spec, geom, floor, self.amount)
            tint(floor)

        return self.modify(frozenset({"the friction of the floor"}), polish)


@register("slope")
class Slope(SingleDamage):
    """The robot walks uphill, or downhill, all the way: gravity pulls it back, or ahead.

    Heights, angles and what counts as alive remain relative to the floor.
    """

    title = "the floor rises ahead, or falls"
    family = "slope"
    sorts = ("floor",)
    scale = Scale("the angle of the floor, uphill positive [degrees]", -45.0, 45.0, default=10.0)
    order = 18
    suspected = {"floor": Strengths((-8.0, 8.0), -20.0, 20.0)}

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        floor = parts.robot.description.floor

        def rise(spec: mujoco.MjSpec) -> None:
            tilt(spec, self.amount)
            tint(spec.geom(floor))

        return self.modify(frozenset({"the slope of the floor"}), rise)


class _Uneven(SingleDamage):
    """The floor is as the terrain of the kind's name, always the same one."""

    family = "terrain"
    sorts = ("floor",)

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        floor = parts.robot.description.floor
        ground = Ground.model_validate({"kind": self.kind, "height": self.amount})
        clear = clearance(parts.robot.spec())

        def roughen(spec: mujoco.MjSpec) -> None:
            lay(spec, floor, ground, clear)
            tint(spec.geom(floor))

        return self.modify(frozenset({"the shape of the floor"}), roughen)


@register("rough")
class Rough(_Uneven):
    """The floor has bumps and hollows, one every 0.2 m."""

    title = "the floor has bumps and hollows"
    scale = Scale("the height from the lowest to the highest point [m]", 0.0, 0.5, default=0.03)


@register("steps")
class Steps(_Uneven):
    """The floor leads up and down by steps across x, each 0.2 m long."""

    title = "the floor has steps, up and down"
    scale = Scale("the height of the highest step [m]", 0.0, 0.5, default=0.02)


@register("stones")
class Stones(_Uneven):
    """The floor consists of square flat stones of 0.2 m, each with its own height."""

    title = "the floor consists of stones of different heights"
    scale = Scale("the height from the lowest to the highest stone [m]", 0.0, 0.5, default=0.03)
