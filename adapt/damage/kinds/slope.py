"""`Slope`: a floor that rises or falls."""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from adapt.damage.damage import Change
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import tint
from adapt.damage.parts import RobotParts, Target


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
        """See `Defect`."""
        floor, angle = parts.robot.description.floor, np.radians(self.amount)
        return Change(frozenset({"the slope of the floor"}), lambda spec: _tilt(spec, floor, angle))


def _tilt(spec: mujoco.MjSpec, floor: str, angle: float) -> None:
    """Turn gravity towards the back, as the floor stays where it is."""
    spec.option.gravity = Rotation.from_euler("y", angle).apply(spec.option.gravity)
    tint(spec.geom(floor))
