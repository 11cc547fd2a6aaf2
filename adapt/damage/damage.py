"""`Damage`: what every kind of damage promises, and the table of kinds."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import mujoco

from robots.description import Leg
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Robot


@dataclass(frozen=True)
class Damage(ABC):
    """Something broken about one leg.

    Its text is the leg and the kind, `front_left:lost`; `parse_damage` reads it back.

    Attributes:
        leg: name of the leg in the robot's description.
        kind: name of the kind, set by `register`.
        summary: what the kind does, in a line.
    """

    leg: str
    kind: ClassVar[str]
    summary: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.leg}:{self.kind}"

    def apply(self, robot: Robot) -> Robot:
        """The robot with this damage; the one given stays as it is.

        Raises:
            UnknownNameError: the robot has no such leg.
            InvalidValueError: the leg is damaged already.
            InvalidRobotError: the damaged model does not compile.
        """
        leg = _find_leg(self.leg, robot)
        for done in robot.modifications:
            if done.label.startswith(f"{self.leg}:"):
                raise InvalidValueError(f"{self} needs a whole leg, but this one has {done.label} already")
        return robot.modified(str(self), lambda spec: self._edit(spec, leg))

    @abstractmethod
    def _edit(self, spec: mujoco.MjSpec, leg: Leg) -> None:
        """Break a leg of a whole robot's model."""


_Kind = TypeVar("_Kind", bound=type[Damage])
_KINDS: dict[str, type[Damage]] = {}


def register(kind: str) -> Callable[[_Kind], _Kind]:
    """Class decorator that gives a kind of damage its name.

    Raises:
        ValueError: the name is taken.
    """

    def add(damage: _Kind) -> _Kind:
        if kind in _KINDS:
            raise ValueError(f"the damage kind {kind!r} is already registered by {_KINDS[kind].__name__}")
        damage.kind = kind
        _KINDS[kind] = damage
        return damage

    return add


def damage_kinds() -> dict[str, type[Damage]]:
    """All kinds of damage by name."""
    return dict(_KINDS)


def parse_damage(text: str, robot: Robot) -> Damage:
    """Read a damage from its text.

    Args:
        text: a leg and a kind, e.g. `front_left:lost`.
        robot: whose leg it is.

    Raises:
        InvalidValueError: the text is not of that form.
        UnknownNameError: the robot has no such leg, or there is no such kind.
    """
    leg, colon, kind = (part.strip() for part in text.partition(":"))
    if not (leg and colon and kind) or ":" in kind:
        example = f"{next(iter(robot.description.legs))}:{next(iter(_KINDS))}"
        raise InvalidValueError(f"a damage is written LEG:KIND, for example {example}, not {text!r}")
    _find_leg(leg, robot)
    if kind not in _KINDS:
        raise UnknownNameError("kind of damage", kind, _KINDS)
    return _KINDS[kind](leg)


def _find_leg(name: str, robot: Robot) -> Leg:
    """Look a leg up in a robot's description."""
    legs = robot.description.legs
    if name not in legs:
        raise UnknownNameError(f"leg of the {robot.name}", name, legs)
    return legs[name]
