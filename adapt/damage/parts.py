"""`RobotParts`: what a robot has and damage can happen to; `Target`: one such part, as a damage names it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import mujoco
import numpy as np

from robots.errors import InvalidValueError, UnknownNameError
from robots.motors import Motors
from robots.robot import Robot

Sort = Literal["leg", "joint", "foot", "all", "torso", "floor"]
Sorts = Sort | Literal["servo"]  # joints whose motors are told angles
_UNIQUE: tuple[Sort, ...] = ("all", "torso", "floor")  # sorts of which a robot has one
_NAMED: tuple[Sort, ...] = ("joint", "foot")  # sorts that are written sort=NAME


@dataclass(frozen=True)
class Target:
    """A part of a robot: its sort, where "all" stands for all legs, and the leg's, joint's or foot's name."""

    sort: Sort
    name: str


def sort_words(sort: Sort) -> str:
    """How a part of a sort is written."""
    return {"leg": "LEG", "joint": "joint=JOINT", "foot": "foot=FOOT"}.get(sort, sort)


class RobotParts:
    """The parts of a robot, whole or damaged, as it was when it was whole."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def find(self, text: str) -> Target:
        """Read which part is meant: a leg's name, `joint=NAME`, `foot=NAME`, `all`, `torso` or `floor`."""
        description = self.robot.description
        for unique in _UNIQUE:
            if text == unique:
                return Target(unique, unique)
        sort, equals, name = (part.strip() for part in text.partition("="))
        if not equals:
            if text not in description.legs:
                others = [*_UNIQUE, *(f"{named}=NAME" for named in _NAMED)]
                raise UnknownNameError(f"leg of the {self.robot.name}", text, [*description.legs, *others])
            return Target("leg", text)
        for named, known in zip(_NAMED, (description.joints, description.feet), strict=True):
            if sort == named:
                if name not in known:
                    raise UnknownNameError(f"{named} of the {self.robot.name}", name, known)
                return Target(named, name)
        raise InvalidValueError(
            f"{text!r} is no part of a robot: only {' and '.join(_NAMED)} are followed by = and a name"
        )

    def every(self, sort: Sorts) -> list[str]:
        """The texts of all parts of a sort."""
        description = self.robot.description
        if sort in ("joint", "servo"):
            return [f"joint={name}" for name in description.joints if sort == "joint" or self.is_servo(name)]
        return {"leg": list(description.legs), "foot": [f"foot={name}" for name in description.feet]}.get(
            sort, [sort]
        )

    def joints(self, target: Target) -> tuple[str, ...]:
        """A joint, or the joints of a leg or of all legs, each leg's from the torso outwards."""
        description = self.robot.description
        if target.sort == "joint":
            return (target.name,)
        if target.sort == "leg":
            return description.legs[target.name].joints
        return description.joints if target.sort == "all" else ()

    def feet(self, target: Target) -> tuple[str, ...]:
        """A foot, or the foot of a leg or of every leg."""
        legs = self.robot.description.legs
        if target.sort == "foot":
            return (target.name,)
        if target.sort == "leg":
            return (legs[target.name].foot,)
        return tuple(dict.fromkeys(leg.foot for leg in legs.values())) if target.sort == "all" else ()

    def joints_from(self, joint: str) -> tuple[str, ...]:
        """The actuated joints of the limb that a joint moves and of all that hangs on it."""
        present = {element.name for element in self._limb(joint).find_all("joint")}
        return tuple(name for name in self.robot.description.joints if name in present)

    def joints_after(self, joint: str) -> tuple[str, ...]:
        """The joints of the same body that come after a joint, which moves their axes too."""
        names = [element.name for element in self._limb(joint).joints]
        return tuple(names[names.index(joint) + 1 :])

    def feet_from(self, joint: str) -> tuple[str, ...]:
        """The feet that have no sole left without the limb that a joint moves."""
        present = {element.name for element in self._limb(joint).find_all("geom")}
        return tuple(foot for foot, soles in self.robot.description.feet.items() if present.issuperset(soles))

    def range(self, joint: str) -> tuple[float, float]:
        """Lowest and highest position of a joint [rad]."""
        low, high = self.robot.joint_ranges[self.robot.description.joints.index(joint)]
        return float(low), float(high)

    def rest(self, joint: str) -> float:
        """Position of a joint at rest [rad]: where episodes start, 0 unless a keyframe says otherwise.

        Where that is outside the joint's range, the nearest position inside.
        """
        return float(np.clip(self.robot.start_of(joint), *self.range(joint)))

    def torque(self, joint: str) -> float:
        """Greatest torque or force of a joint's motor [N m or N]; 1 where it has no limit."""
        return float(Motors.of(self.robot.physics, [joint]).greatest[0]) or 1.0

    def is_servo(self, joint: str) -> bool:
        """Whether a joint's motor is told angles, not torques."""
        return bool(Motors.of(self.robot.physics, [joint]).servos[0])

    def _limb(self, joint: str) -> mujoco.MjsBody:
        return self._spec.joint(joint).parent

    @cached_property
    def _spec(self) -> mujoco.MjSpec:
        return self.robot.spec()
