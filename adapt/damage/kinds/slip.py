"""`Slip`: feet that grip less."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import find_soles, mark, scale_friction
from adapt.damage.parts import RobotParts, Target
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
        """See `Defect`."""
        feet, share, robot = parts.feet(target), self.amount, parts.robot
        return Change(changes_of("sole", feet), lambda spec: _wear(spec, robot, feet, share))


def _wear(spec: mujoco.MjSpec, robot: Robot, feet: Sequence[str], share: float) -> None:
    """Leave the soles of feet a share of their friction."""
    soles, floor = find_soles(spec, robot, feet), spec.geom(robot.description.floor)
    for sole in soles:
        scale_friction(spec, sole, floor, share)
    mark(soles)
