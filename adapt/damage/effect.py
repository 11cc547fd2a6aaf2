"""`Effect`: what a damage does to one robot, and which of them contradict each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import mujoco

from adapt.damage.parts import settle_gains
from robots.errors import InvalidValueError
from robots.faults import NO_FAULTS, Faults
from robots.robot import Robot


def leave(_spec: mujoco.MjSpec) -> None:
    """Leave a model as it is."""


class Change(NamedTuple):
    """A change to a robot.

    Attributes:
        concerns: what it changes, in words: two damages that change the same contradict each other.
        edit: makes the change to the robot's model; what another damage took away it finds missing.
        faults: what MJCF cannot say.
    """

    concerns: frozenset[str]
    edit: Callable[[mujoco.MjSpec], None] = leave
    faults: Faults = NO_FAULTS


@dataclass(frozen=True)
class Effect:
    """What one damage does to one robot; called with the robot's model, it does it.

    Attributes:
        label: the damage's text.
        kind: of the damage.
        general: whether it befalls all legs: those that there are, whatever else befell them.
        change: the change.
    """

    label: str
    kind: str
    general: bool
    change: Change

    def __call__(self, spec: mujoco.MjSpec) -> None:
        """Do it to a robot's model."""
        settle_gains(spec)
        self.change.edit(spec)


def effects_on(robot: Robot) -> list[Effect]:
    """The damages that a robot has."""
    edits = [modification.edit for modification in robot.modifications]
    return [edit for edit in edits if isinstance(edit, Effect)]


def check_compatible(effects: Sequence[Effect]) -> None:
    """Refuse damages of which two change the same.

    Raises:
        InvalidValueError: there are such.
    """
    for one, other in combinations(effects, 2):
        shared = one.change.concerns & other.change.concerns
        if shared and (one.kind == other.kind or one.general == other.general):
            raise InvalidValueError(
                f"{one.label} and {other.label} cannot be combined: both change {min(shared)}"
            )
