"""`Damage`: what can be wrong with a robot, and what it does to its model."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import mujoco

from adapt.damage.edits import settle_gains
from adapt.damage.parts import RobotParts
from robots.errors import InvalidValueError
from robots.robot import NO_FAULTS, Faults, Robot

_CHANGED = {
    "motor": "the motor of {}",
    "limb": "the limb that {} moves",  # up to the next joint
    "joint sensor": "the sensor of joint {}",
    "sole": "the sole of foot {}",
    "contact sensor": "the sensor of foot {}",
}


def changes_of(
    what: Literal["motor", "limb", "joint sensor", "sole", "contact sensor"], names: Iterable[str]
) -> frozenset[str]:
    """Words for what a damage changes of some joints or feet, for `Change.subjects`."""
    return frozenset(_CHANGED[what].format(name) for name in names)


class Change(NamedTuple):
    """A change to a robot.

    Attributes:
        subjects: what it changes, in words; two damages that change the same contradict each other.
        edit: makes the change to the robot's model, in which another damage may have left parts missing.
        faults: what MJCF cannot express.
    """

    subjects: frozenset[str]
    edit: Callable[[mujoco.MjSpec], None] = lambda _: None
    faults: Faults = NO_FAULTS


@dataclass(frozen=True)
class Effect:
    """What one defect does to one robot. Called with the robot's model, it makes the change.

    Attributes:
        label: the defect's text.
        kind: of the defect.
        general: whether it applies to all legs: to those that are left, whatever else happened to them.
        change: the change.
    """

    label: str
    kind: str
    general: bool
    change: Change

    def __call__(self, spec: mujoco.MjSpec) -> None:
        """Change a robot's model."""
        settle_gains(spec)
        self.change.edit(spec)


class Damage(ABC):
    """What is wrong with a robot: nothing, one thing or several.

    Its text is complete, e.g. `front_left:lost+floor:friction@0.4`; `parse_damage` reads it back. Damages are
    equal when their texts are.
    """

    @abstractmethod
    def __str__(self) -> str:
        """The text."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What it does, in a line."""

    @abstractmethod
    def effects(self, parts: RobotParts) -> tuple[Effect, ...]:
        """What it does to a robot, in the order in which it has to be done.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: the defect cannot happen to this sort of part, or not with this strength.
        """

    def apply(self, robot: Robot) -> Robot:
        """The robot with this damage; the given one stays as it is.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: see `effects`, or this contradicts itself or a damage that the robot has.
            InvalidRobotError: the damaged model does not compile.
        """
        effects = self.effects(RobotParts(robot))
        present = [modification.edit for modification in robot.modifications]
        check_compatible([*(edit for edit in present if isinstance(edit, Effect)), *effects])
        for effect in effects:
            robot = robot.modified(effect.label, effect, effect.change.faults)
        return robot


def check_compatible(effects: Sequence[Effect]) -> None:
    """Refuse effects of which two change the same.

    Raises:
        InvalidValueError: there are such.
    """
    for one, other in combinations(effects, 2):
        shared = one.change.subjects & other.change.subjects
        if shared and (one.kind == other.kind or one.general == other.general):
            raise InvalidValueError(
                f"{one.label} and {other.label} cannot be combined: both change {min(shared)}"
            )
