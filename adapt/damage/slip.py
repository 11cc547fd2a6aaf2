"""`Slip`: feet that grip less."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.contacts import scale_friction
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import mark
from adapt.damage.parts import find_soles
from adapt.damage.strength import Strength
from adapt.damage.target import Target
from robots.robot import Robot


@register("slip")
@dataclass(frozen=True)
class Slip(Defect):
    """The foot's sole, worn or wet, has a share of its friction with the floor."""

    title = "the foot has a share of its friction with the floor"
    family = "friction"
    sorts = ("leg", "foot", "all")
    scale = Strength("the share of the friction that is left", 0.0, 0.99, default=0.3)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        feet, share, robot = anatomy.feet(target), float(self.strength or 0), anatomy.robot
        return Change(concerns.soles(feet), lambda spec: _wear(spec, robot, feet, share))


def _wear(spec: mujoco.MjSpec, robot: Robot, feet: Sequence[str], share: float) -> None:
    """Leave the soles of feet a share of their friction."""
    soles, floor = find_soles(spec, robot, feet), spec.geom(robot.description.floor)
    for sole in soles:
        scale_friction(spec, sole, floor, share)
    mark(soles)
