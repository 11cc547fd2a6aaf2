"""`MassAhead` and `MassLeft`: a torso whose centre of mass is elsewhere."""

from dataclasses import dataclass
from typing import ClassVar

import mujoco

from adapt.damage.damage import Change
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.parts import RobotParts, Target
from adapt.damage.patches import settle
from robots.errors import InvalidValueError


@dataclass(frozen=True)
class _Shifted(Defect):
    """The torso's own mass is as large, but elsewhere: a battery slipped."""

    family = "mass"
    sorts = ("torso",)
    axis: ClassVar[int]

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        torso, by, axis = parts.robot.description.torso, self.amount, self.axis
        if axis == 1 and not parts.moves_freely:
            raise InvalidValueError(
                f"{self}: the {parts.robot.name} moves in a plane, without left and right"
            )
        subjects = frozenset({f"where the torso's mass is along {'xy'[axis]}"})
        return Change(subjects, patch=lambda model: _shift(model, torso, axis, by))


@register("mass-ahead")
@dataclass(frozen=True)
class MassAhead(_Shifted):
    """The torso's centre of mass is further to the front."""

    title = "the torso's centre of mass is further to the front"
    scale = Scale("how far [m], to the rear negative", -1.0, 1.0, default=0.05)
    axis = 0


@register("mass-left")
@dataclass(frozen=True)
class MassLeft(_Shifted):
    """The torso's centre of mass is further to the left."""

    title = "the torso's centre of mass is further to the left"
    scale = Scale("how far [m], to the right negative", -1.0, 1.0, default=0.05)
    axis = 1


def _shift(model: mujoco.MjModel, torso: str, axis: int, by: float) -> None:
    """Move a body's centre of mass in its coordinates."""
    model.body_ipos[model.body(torso).id, axis] += by
    settle(model)
