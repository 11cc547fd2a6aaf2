"""`Defect`: one thing wrong with one part; `Combination`: several at once, or none; the table of kinds.

A kind of defect is a subclass of `Defect`, registered by `@register("NAME")`, in a file of its own in
`adapt/damage/kinds/` or in a file of a user's own. Nothing else has to know of it.
"""

import importlib
import math
import pkgutil
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar, final

from adapt.damage import HEALTHY
from adapt.damage.damage import Change, Damage, Effect
from adapt.damage.parts import RobotParts, Sort, Target, sort_words
from robots.errors import InvalidValueError


@dataclass(frozen=True)
class Scale:
    """What the number after a kind of defect, its strength, means.

    Attributes:
        meaning: in words, with the unit.
        low: the lowest strength, or None where it depends on the part.
        high: the highest, or None likewise.
        default: strength where none is given; None where one must be given, or `rest` says what is meant.
        rest: what is meant without a strength where no one number says it, in words.
        whole: whether strengths must be whole numbers.
    """

    meaning: str
    low: float | None
    high: float | None
    default: float | None = None
    rest: str | None = None
    whole: bool = False

    def resolve(self, kind: str, value: float | None) -> float | None:
        """The strength that a value means, None where only `rest` says it.

        Raises:
            InvalidValueError: it is not a possible strength.
        """
        if value is None:
            if self.default is None and self.rest is None:
                raise InvalidValueError(f"{kind} needs a strength: {self.meaning}, {self._range()}")
            return self.default
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        refused = not math.isfinite(value) or (self.whole and value != round(value))
        if refused or not low <= value <= high:
            number = "a whole number, " if self.whole else ""
            raise InvalidValueError(
                f"{kind} takes {number}{self.meaning}, {self._range()}, not {format_strength(value)}"
            )
        return float(value)

    def words(self) -> str:
        """What it means, its range and its default, in a line."""
        default = self.rest if self.default is None else f"{self.default:g}"
        return f"{self.meaning}, {self._range()}" + ("" if default is None else f"; default: {default}")

    def _range(self) -> str:
        """The possible strengths, in words."""
        if self.low is None or self.high is None:
            return "in the joint's range"
        return f"{self.low:g} to {self.high:g}"


def format_strength(value: float) -> str:
    """The shortest text that reads back as the value."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


@dataclass(frozen=True)
class Defect(Damage):
    """One kind of damage to one part. Its text is the part, the kind and the strength: `all:weak@0.5`.

    Attributes:
        target: text of the part, see `RobotParts.find`.
        strength: how bad it is; None means the kind's default, and stays None where that is no number.
        kind: name of the kind, set by `register`.
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

    def __post_init__(self) -> None:
        if self.scale is not None:
            object.__setattr__(self, "strength", self.scale.resolve(self.kind, self.strength))
        elif self.strength is not None:
            raise InvalidValueError(f"{self.kind} has no strength, but {self} gives one")

    @final
    def __str__(self) -> str:
        strength = "" if self.strength is None else f"@{format_strength(self.strength)}"
        return f"{self.target}:{self.kind}{strength}"

    @final
    @property
    def summary(self) -> str:
        """See `Damage`."""
        return self.title

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
    def effects(self, parts: RobotParts) -> tuple[Effect, ...]:
        """See `Damage`."""
        target = parts.find(self.target)
        if target.sort not in self.sorts:
            fitting = " or ".join(sort_words(sort) for sort in self.sorts)
            raise InvalidValueError(f"{self.kind} can happen to {fitting}, not to {self.target}")
        return (Effect.of(str(self), self.kind, target.sort == "all", self._change(parts, target)),)

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

    @property
    def summary(self) -> str:
        """See `Damage`."""
        return "; ".join(dict.fromkeys(defect.summary for defect in self.defects)) or "nothing is wrong"

    def effects(self, parts: RobotParts) -> tuple[Effect, ...]:
        """See `Damage`."""
        return tuple(effect for defect in self.defects for effect in defect.effects(parts))


_Kind = TypeVar("_Kind", bound=type[Defect])
_KINDS: dict[str, type[Defect]] = {}


def register(kind: str) -> Callable[[_Kind], _Kind]:
    """Class decorator that gives a kind of defect its name.

    Raises:
        ValueError: the name is taken.
    """

    def add(defect: _Kind) -> _Kind:
        if kind in _KINDS:
            raise ValueError(f"the damage kind {kind!r} is already registered by {_KINDS[kind].__name__}")
        defect.kind = kind
        _KINDS[kind] = defect
        return defect

    return add


def damage_kinds() -> dict[str, type[Defect]]:
    """All kinds of defects by name: those of `adapt.damage.kinds`, and those that a user has registered."""
    from adapt.damage import kinds

    for module in pkgutil.iter_modules(kinds.__path__):
        importlib.import_module(f"{kinds.__name__}.{module.name}")
    return dict(sorted(_KINDS.items()))
