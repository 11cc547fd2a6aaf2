"""`Target`: the part of a robot that a damage befalls."""

from dataclasses import dataclass
from typing import Literal

from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Robot

Sort = Literal["leg", "joint", "foot", "all", "torso", "floor"]
_WHOLE: tuple[Sort, ...] = ("all", "torso", "floor")  # sorts of which there is one
_NAMED: tuple[Sort, ...] = ("joint", "foot")  # sorts that are written sort=NAME


@dataclass(frozen=True)
class Target:
    """A part of a robot.

    Attributes:
        sort: of the part; "all" stands for all legs.
        name: of the leg, joint or foot; the sort where there is one of it.
    """

    sort: Sort
    name: str


def find_target(text: str, robot: Robot) -> Target:
    """Read which part is meant: a leg's name, `joint=NAME`, `foot=NAME`, `all`, `torso` or `floor`.

    Raises:
        UnknownNameError: the robot has no such part.
        InvalidValueError: there is no such sort of part.
    """
    description = robot.description
    for whole in _WHOLE:
        if text == whole:
            return Target(whole, whole)
    sort, equals, name = (part.strip() for part in text.partition("="))
    if not equals:
        if text not in description.legs:
            others = [*_WHOLE, *(f"{named}=NAME" for named in _NAMED)]
            raise UnknownNameError(f"leg of the {robot.name}", text, [*description.legs, *others])
        return Target("leg", text)
    for named, known in zip(_NAMED, (description.joints, description.feet), strict=True):
        if sort == named:
            if name not in known:
                raise UnknownNameError(f"{named} of the {robot.name}", name, known)
            return Target(named, name)
    raise InvalidValueError(
        f"{text!r} is no part of a robot: only {' and '.join(_NAMED)} are followed by = and a name"
    )


def sort_words(sort: Sort) -> str:
    """How a part of a sort is written."""
    return {"leg": "LEG", "joint": "joint=JOINT", "foot": "foot=FOOT"}.get(sort, sort)
