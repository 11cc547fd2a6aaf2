"""`Damage`: what can be wrong with a robot: one thing wrong with one part, a `SingleDamage`, or several.

A kind of damage is a subclass of `SingleDamage`, registered by `@register("NAME")`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, TypeVar, final

import mujoco

from adapt.damage import HEALTHY
from adapt.damage.edits import limb_geoms, mark, mark_limbs
from adapt.damage.parts import RobotParts, Sort, Sorts, Target, sort_words
from adapt.damage.strength import NO_STRENGTH, Scale, Strengths, format_strength
from robots.errors import InvalidValueError
from robots.motors import settle_gains
from robots.registry import Registry
from robots.robot import NO_FAULTS, Edit, Faults, Modification, Patch, Robot

LIMB_LOSS = frozenset({"lost", "dead", "short", "pair"})  # families that take away what a leg does
_STILL = 0.06  # [rad] range in which what the sensor of a stuck joint reads mostly stays
_SUBJECTS = {
    "motor": "the motor of {}",
    "limb": "the limb that {} moves",  # up to the next joint
    "joint sensor": "the sensor of joint {}",
    "sole": "the sole of foot {}",
    "contact sensor": "the sensor of foot {}",
}


def subjects(
    what: Literal["motor", "limb", "joint sensor", "sole", "contact sensor"], names: Iterable[str]
) -> frozenset[str]:
    """Words for what a damage modifies of some joints or feet, for `SingleDamage.modify`."""
    return frozenset(_SUBJECTS[what].format(name) for name in names)


@dataclass(frozen=True)
class DamageModification(Modification):
    """What a single damage does to one robot; its label is the damage's text. See `SingleDamage.modify`."""

    kind: str = ""
    general: bool = False  # whether it applies to all legs that are left, whatever else happened to them
    # what it modifies, in words; two damages that modify the same contradict each other
    subjects: frozenset[str] = frozenset()


class Damage(ABC):
    """What is wrong with a robot: nothing, one thing or several.

    Its text is complete, e.g. `front_left:lost+floor:friction@0.4`; `parse_damage` reads it back. Damages are
    equal when their texts are.
    """

    @property
    @abstractmethod
    def singles(self) -> tuple["SingleDamage", ...]:
        """What is wrong, one by one, in the order in which it has to be done to a robot."""

    @abstractmethod
    def __str__(self) -> str:
        """The text."""

    def __repr__(self) -> str:
        return f"<Damage {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Damage) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return "; ".join(dict.fromkeys(single.title for single in self.singles)) or "nothing is wrong"

    @property
    def families(self) -> frozenset[str]:
        """The families of what is wrong, and "pair" where more than one leg is lost, dead or short."""
        families = [single.family for single in self.singles]
        several = sum(family in LIMB_LOSS for family in families) > 1
        return frozenset(families) | ({"pair"} if several else set())

    def modifications(self, parts: RobotParts) -> tuple[DamageModification, ...]:
        """What it does to a robot, in the order in which it has to be done; raises what `apply` does."""
        return tuple(single.modification(parts) for single in self.singles)

    def apply(self, robot: Robot) -> Robot:
        """The robot with this damage; the given one stays as it is.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: it cannot happen to the part, or contradicts itself or a damage of the robot.
            InvalidRobotError: the damaged model does not compile.
        """
        made = self.modifications(RobotParts(robot))
        present = [one for one in robot.modifications if isinstance(one, DamageModification)]
        check_compatible([*present, *made])
        return robot.with_modifications(*made)


def check_compatible(modifications: Sequence[DamageModification]) -> None:
    """Refuse, by an `InvalidValueError`, modifications of which two are of the same."""
    for one, other in combinations(modifications, 2):
        shared = one.subjects & other.subjects
        if shared and (one.kind == other.kind or one.general == other.general):
            raise InvalidValueError(
                f"{one.label} and {other.label} cannot be combined: both change {min(shared)}"
            )


@dataclass(frozen=True)
class JointReading:
    """What the sensors of a joint showed in a trial; as of a healthy one where the robot lacks the sensor."""

    angle: float = 0.0  # median of what the encoder read [rad]
    moved: float = math.inf  # width of the range in which that was most of the time [rad]
    error: float = 0.0  # mean of how far a servo is from where it was told to go [rad]
    torque_share: float = 1.0  # share of the usual torque that the motor gave


class SingleDamage(Damage):
    """One kind of damage to one part. Its text is the part, the kind and the strength: `all:weak@0.5`.

    Args:
        target: text of the part, see `RobotParts.find`.
        strength: how bad it is; None means the kind's default, and stays None where that is no number.

    Attributes:
        kind: name of the kind, set by `register`; of one that is not registered, that of its class.
        title: what the kind does, in a line.
        family: name that similar kinds share.
        sorts: sorts of parts that it can happen to.
        scale: what the strength means, or None for a kind without strength.
        order: place among the kinds where several are listed or tried in turn; own ones come last.
        powerless: whether the motors of the part give no torque.
        of_sensors: whether it changes nothing but what a controller sees.
        takes_out: whether it takes joints out of the model, where other kinds look for what these move.
        suspected: in which strengths a self-model suspects it, by the sorts of parts; None where that is a
            joint's position, which its sensor shows. See `suspects`.
        in_library: with which strength the default library holds it, likewise; see `library`.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    sorts: ClassVar[tuple[Sort, ...]]
    scale: ClassVar[Scale | None] = None
    order: ClassVar[int] = 100
    powerless: ClassVar[bool] = False
    of_sensors: ClassVar[bool] = False
    takes_out: ClassVar[bool] = False
    suspected: ClassVar[Mapping[Sorts, Strengths | None]] = {}
    in_library: ClassVar[Mapping[Sorts, float | None]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.kind = cls.__name__

    def __init__(self, target: str, strength: float | None = None) -> None:
        self.target = target
        self.strength = self.scale.resolve(self.kind, strength) if self.scale else strength
        if self.scale is None and strength is not None:
            raise InvalidValueError(f"{self.kind} has no strength, but {self} gives one")

    @final
    @property
    def singles(self) -> tuple["SingleDamage", ...]:
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
        """The strength as a joint's position [rad], by default where the joint is at rest."""
        low, high = parts.range(joint)
        angle = parts.rest(joint) if self.strength is None else self.strength
        if not low <= angle <= high:
            raise InvalidValueError(f"{self}: {joint} goes from {low:.3g} to {high:.3g} rad")
        return angle

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterable["Suspect"]:
        """What a self-model may suspect of this kind: by default what is in `suspected`."""
        for sort, strengths in cls.suspected.items():
            for part in parts.every(sort):
                known = strengths or Strengths((), *parts.range(parts.find(part).name))
                yield Suspect(cls, part, known)

    @classmethod
    def read_off(cls, reading: JointReading) -> float | None:
        """The strength that a joint's sensors show; None where they do not speak for this kind.

        By default where the joint stands still, of a kind whose strength is a position, see `suspected`.
        """
        is_position = cls.suspected.get("joint", NO_STRENGTH) is None
        return reading.angle if is_position and reading.moved < _STILL else None

    @classmethod
    def library(cls, parts: RobotParts) -> Iterable[Damage]:
        """What the default library holds of this kind: by default what is in `in_library`."""
        for sort, strength in cls.in_library.items():
            yield from (cls(part, strength) for part in parts.every(sort))

    @final
    def modification(self, parts: RobotParts) -> DamageModification:
        """What it does to a robot, see `Damage.modifications`."""
        target = parts.find(self.target)
        if target.sort not in self.sorts:
            fitting = " or ".join(sort_words(sort) for sort in self.sorts)
            raise InvalidValueError(f"{self.kind} can happen to {fitting}, not to {self.target}")
        return self._modification(parts, target)

    @final
    def modify(
        self,
        subjects: frozenset[str],
        edit: Edit | None = None,
        *,
        faults: Faults = NO_FAULTS,
        patch: Patch | None = None,
        red: Iterable[str] = (),
    ) -> DamageModification:
        """A modification of a robot, for `_modification` to return.

        An `edit` modifies its model, in which another damage may have left parts missing, and a `patch` the
        compiled one; what the joints `red` move, up to the next joint each, is coloured.
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

        return DamageModification(
            str(self),
            settled_edit if edit else None,
            faults,
            marking_patch if patch or (joints and not edit) else None,
            kind=self.kind,
            general=self.target == "all",
            subjects=subjects,
        )

    @abstractmethod
    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        """What to do to a part of the whole robot, which is of one of the `sorts`; returns `modify`."""


class Combination(Damage):
    """Damages that a robot has at the same time, in any order; none for a healthy robot."""

    def __init__(self, singles: Iterable[SingleDamage] = ()) -> None:
        self._singles = tuple(sorted(singles, key=lambda single: (single.takes_out, str(single))))

    @property
    def singles(self) -> tuple[SingleDamage, ...]:
        return self._singles

    def __str__(self) -> str:
        return "+".join(map(str, self.singles)) or HEALTHY


@dataclass(frozen=True)
class Suspect:
    """A kind of damage to a part of a robot that may be what is wrong, in a range of strengths."""

    kind: type[SingleDamage]
    target: str  # text of the part
    strengths: Strengths = NO_STRENGTH

    def at(self, place: float) -> SingleDamage:
        """The damage at a place in the range of strengths, from 0 to 1."""
        return self.of(self.strengths.at(place))

    def of(self, strength: float | None) -> SingleDamage:
        """The damage of a strength, which is rounded to three digits, and to a whole number where need be."""
        if strength is None or self.kind.scale is None:
            return self.kind(self.target)
        whole = self.kind.scale.whole
        return self.kind(self.target, round(strength) if whole else self.strengths.rounded(strength))


_Kind = TypeVar("_Kind", bound=type[SingleDamage])
# those that are registered so far, see `adapt.damage.kinds.damage_kinds`
KINDS: Registry[type[SingleDamage]] = Registry("kind of damage")


def register(kind: str) -> Callable[[_Kind], _Kind]:
    """Class decorator that gives a kind of damage its name, which no other class may have."""

    def add(damage: _Kind) -> _Kind:
        KINDS[kind] = damage
        damage.kind = kind
        return damage

    return add
