"""`Damage`: what can be wrong with a robot, and what it does to its model."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple

import mujoco

from adapt.damage.edits import settle_gains
from adapt.damage.parts import RobotParts
from robots.errors import InvalidValueError
from robots.robot import NO_FAULTS, Edit, Faults, Modification, Patch, Robot

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
        patch: makes the change in the compiled model, see `Modification`, or the rest of it.
    """

    subjects: frozenset[str]
    edit: Edit | None = None
    faults: Faults = NO_FAULTS
    patch: Patch | None = None


@dataclass(frozen=True)
class Effect(Modification):
    """What one defect does to one robot; its label is the defect's text.

    Attributes:
        kind: of the defect.
        general: whether it applies to all legs: to those that are left, whatever else happened to them.
        subjects: see `Change`.
    """

    kind: str = ""
    general: bool = False
    subjects: frozenset[str] = frozenset()

    @classmethod
    def of(cls, label: str, kind: str, general: bool, change: Change) -> "Effect":
        """The effect of a change."""
        edit = change.edit and partial(_edit_settled, change.edit)
        return cls(label, edit, change.faults, change.patch, kind, general, change.subjects)


def _edit_settled(edit: Edit, spec: mujoco.MjSpec) -> None:
    """Change a robot's model, whose gains do not follow from masses any more."""
    settle_gains(spec)
    edit(spec)


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
        present = [effect for effect in robot.modifications if isinstance(effect, Effect)]
        check_compatible([*present, *effects])
        return robot.with_modifications(*effects)


def check_compatible(effects: Sequence[Effect]) -> None:
    """Refuse effects of which two change the same.

    Raises:
        InvalidValueError: there are such.
    """
    for one, other in combinations(effects, 2):
        shared = one.subjects & other.subjects
        if shared and (one.kind == other.kind or one.general == other.general):
            raise InvalidValueError(
                f"{one.label} and {other.label} cannot be combined: both change {min(shared)}"
            )
