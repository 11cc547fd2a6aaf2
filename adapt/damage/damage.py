"""`Damage`: what can be wrong with a robot: a `Defect`, one thing wrong with one part, or a `Combination`.

A kind of defect is a subclass of `Defect`, registered by `@register("NAME")`, in a file of
`adapt/damage/kinds/` or in a file of a user's own. Nothing else has to know of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, TypeVar, final

import mujoco

from adapt.damage import HEALTHY
from adapt.damage.edits import limb_geoms, mark
from adapt.damage.parts import RobotParts, Sort, Target, sort_words
from adapt.damage.patches import mark_limbs
from adapt.damage.strength import Scale, format_strength
from robots.errors import InvalidValueError
from robots.motors import settle_gains
from robots.registry import Registry
from robots.robot import NO_FAULTS, Edit, Faults, Modification, Patch, Robot

LIMB_LOSS = frozenset({"lost", "dead", "short", "pair"})  # families that take away what a leg does
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


@dataclass(frozen=True)
class Change(Modification):
    """What one defect does to one robot; its label is the defect's text. See `Defect.change`.

    Attributes:
        kind: of the defect.
        general: whether it applies to all legs: to those that are left, whatever else happened to them.
        subjects: what it changes, in words; two damages that change the same contradict each other.
    """

    kind: str = ""
    general: bool = False
    subjects: frozenset[str] = frozenset()


class Damage(ABC):
    """What is wrong with a robot: nothing, one thing or several.

    Its text is complete, e.g. `front_left:lost+floor:friction@0.4`; `parse_damage` reads it back. Damages are
    equal when their texts are.
    """

    @property
    @abstractmethod
    def defects(self) -> tuple["Defect", ...]:
        """What is wrong, one by one, in the order in which it has to be done to a robot."""

    @abstractmethod
    def __str__(self) -> str:
        """The text."""

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return "; ".join(dict.fromkeys(defect.title for defect in self.defects)) or "nothing is wrong"

    @property
    def families(self) -> frozenset[str]:
        """The families of its defects, and "pair" where more than one leg is lost, dead or short."""
        families = [defect.family for defect in self.defects]
        several = sum(family in LIMB_LOSS for family in families) > 1
        return frozenset(families) | ({"pair"} if several else set())

    def changes(self, parts: RobotParts) -> tuple[Change, ...]:
        """What it does to a robot, in the order in which it has to be done.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: a defect cannot happen to this sort of part, or not with this strength.
        """
        return tuple(defect.change_of(parts) for defect in self.defects)

    def apply(self, robot: Robot) -> Robot:
        """The robot with this damage; the given one stays as it is.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: see `changes`, or this contradicts itself or a damage that the robot has.
            InvalidRobotError: the damaged model does not compile.
        """
        changes = self.changes(RobotParts(robot))
        present = [change for change in robot.modifications if isinstance(change, Change)]
        check_compatible([*present, *changes])
        return robot.with_modifications(*changes)


def check_compatible(changes: Sequence[Change]) -> None:
    """Refuse changes of which two are of the same.

    Raises:
        InvalidValueError: there are such.
    """
    for one, other in combinations(changes, 2):
        shared = one.subjects & other.subjects
        if shared and (one.kind == other.kind or one.general == other.general):
            raise InvalidValueError(
                f"{one.label} and {other.label} cannot be combined: both change {min(shared)}"
            )


@dataclass(frozen=True)
class Defect(Damage):
    """One kind of damage to one part. Its text is the part, the kind and the strength: `all:weak@0.5`.

    Attributes:
        target: text of the part, see `RobotParts.find`.
        strength: how bad it is; None means the kind's default, and stays None where that is no number.
        kind: name of the kind, set by `register`; of one that is not registered, that of its class.
        title: what the kind does, in a line.
        family: name that similar kinds share.
        sorts: sorts of parts that it can happen to.
        scale: what the strength means, or None for a kind without strength.

    Raises:
        InvalidValueError: the strength is not possible.
    """

    target: str
    strength: float | None = None
    kind: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    sorts: ClassVar[tuple[Sort, ...]]
    scale: ClassVar[Scale | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.kind = cls.__name__

    def __post_init__(self) -> None:
        if self.scale is not None:
            object.__setattr__(self, "strength", self.scale.resolve(self.kind, self.strength))
        elif self.strength is not None:
            raise InvalidValueError(f"{self.kind} has no strength, but {self} gives one")

    @final
    @property
    def defects(self) -> tuple["Defect", ...]:
        """See `Damage`."""
        return (self,)

    @final
    def __str__(self) -> str:
        strength = "" if self.strength is None else f"@{format_strength(self.strength)}"
        return f"{self.target}:{self.kind}{strength}"

    @property
    def amount(self) -> float:
        """The strength of a kind whose scale has a default or demands a number."""
        assert self.strength is not None
        return self.strength

    def position(self, parts: RobotParts, joint: str) -> float:
        """The strength as a joint's position [rad], by default where the joint is at rest.

        Raises:
            InvalidValueError: it is outside the joint's range.
        """
        low, high = parts.range(joint)
        angle = parts.rest(joint) if self.strength is None else self.strength
        if not low <= angle <= high:
            raise InvalidValueError(f"{self}: {joint} goes from {low:.3g} to {high:.3g} rad")
        return angle

    @final
    def change_of(self, parts: RobotParts) -> Change:
        """What it does to a robot, see `Damage.changes`."""
        target = parts.find(self.target)
        if target.sort not in self.sorts:
            fitting = " or ".join(sort_words(sort) for sort in self.sorts)
            raise InvalidValueError(f"{self.kind} can happen to {fitting}, not to {self.target}")
        return self._change(parts, target)

    @final
    def change(
        self,
        subjects: frozenset[str],
        edit: Edit | None = None,
        *,
        faults: Faults = NO_FAULTS,
        patch: Patch | None = None,
        red: Iterable[str] = (),
    ) -> Change:
        """A change to a robot, for `_change` to return.

        Args:
            subjects: what it changes, see `Change`.
            edit: makes the change to the robot's model, in which another damage may have left parts missing.
            faults: what MJCF cannot express.
            patch: makes the change in the compiled model, see `Modification`, or the rest of it.
            red: joints of which what they move, up to the next joint each, is coloured.
        """
        joints = tuple(red)

        def settled_edit(spec: mujoco.MjSpec) -> None:
            settle_gains(spec)  # they do not follow from masses any more
            mark(limb_geoms(spec, joints))
            if edit:
                edit(spec)

        def marking_patch(model: mujoco.MjModel) -> None:
            if patch:
                patch(model)
            mark_limbs(model, joints)

        return Change(
            str(self),
            settled_edit if edit else None,
            faults,
            marking_patch if patch or (joints and not edit) else None,
            self.kind,
            self.target == "all",
            subjects,
        )

    @abstractmethod
    def _change(self, parts: RobotParts, target: Target) -> Change:
        """What to do to a robot.

        Args:
            parts: of the whole robot.
            target: one of them, of one of the `sorts`.

        Raises:
            InvalidValueError: the strength is not possible for this part.
        """


@dataclass(frozen=True)
class Combination(Damage):
    """Damages that a robot has at the same time; the order in which they are given makes no difference.

    Attributes:
        defects: the damages, sorted; none for a healthy robot.
    """

    defects: tuple[Defect, ...] = ()

    def __post_init__(self) -> None:
        # locking a joint takes it out of the model, where other kinds look for the limb that it moves
        ordered = sorted(self.defects, key=lambda defect: (defect.kind == "locked", str(defect)))
        object.__setattr__(self, "defects", tuple(ordered))

    def __str__(self) -> str:
        return "+".join(map(str, self.defects)) or HEALTHY


_Kind = TypeVar("_Kind", bound=type[Defect])
# those that are registered so far, see `adapt.damage.kinds.damage_kinds`
KINDS: Registry[type[Defect]] = Registry("kind of damage")


def register(kind: str) -> Callable[[_Kind], _Kind]:
    """Class decorator that gives a kind of defect its name.

    Raises:
        InvalidValueError: the name is that of another class.
    """

    def add(defect: _Kind) -> _Kind:
        KINDS[kind] = defect
        defect.kind = kind
        return defect

    return add
