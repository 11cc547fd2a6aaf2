"""`Slope`: a floor that rises or falls."""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import tint
from adapt.damage.strength import Strength
from adapt.damage.target import Target


@register("slope")
@dataclass(frozen=True)
class Slope(Defect):
    """The robot walks uphill, or downhill, all the way: gravity pulls it back, or ahead.

    Heights, angles and what counts as alive remain relative to the floor.
    """

    title = "the floor rises ahead, or falls"
    family = "slope"
    sorts = ("floor",)
    scale = Strength("the angle of the floor, uphill positive [degrees]", -45.0, 45.0, default=10.0)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        floor, angle = anatomy.robot.description.floor, np.radians(float(self.strength or 0))
        return Change(frozenset({"the slope of the floor"}), lambda spec: _tilt(spec, floor, angle))


def _tilt(spec: mujoco.MjSpec, floor: str, angle: float) -> None:
    """Turn gravity towards the back, as the floor stays where it is."""
    spec.option.gravity = Rotation.from_euler("y", angle).apply(spec.option.gravity)
    tint(spec.geom(floor))
