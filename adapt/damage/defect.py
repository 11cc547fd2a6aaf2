"""`Defect`: one thing that is wrong with one part of a robot, and the table of the kinds there are."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar, final

from adapt.damage.anatomy import Anatomy
from adapt.damage.damage import Damage
from adapt.damage.effect import Change, Effect
from adapt.damage.strength import Strength, format_strength
from adapt.damage.target import Sort, Target, find_target, sort_words
from robots.errors import InvalidValueError


@dataclass(frozen=True)
class Defect(Damage):
    """One kind of damage to one part. Its text is the part, the kind and the strength: `all:weak@0.5`.

    Attributes:
        target: the part, see `adapt.damage.target`.
        strength: how bad; None stands for the kind's default, and is all there is where a kind has none.
        kind: name of the kind, set by `register`.
        title: what the kind does, in a line.
        family: name that similar kinds share.
        sorts: sorts of parts that it befalls.
        scale: what the strength means, or None where there is none.

    Raises:
        InvalidValueError: the strength is outside what is possible.
    """

    target: str
    strength: float | None = None
    kind: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    sorts: ClassVar[tuple[Sort, ...]]
    scale: ClassVar[Strength | None]

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", self._checked())

    @final
    def __str__(self) -> str:
        strength = "" if self.strength is None else f"@{format_strength(self.strength)}"
        return f"{self.target}:{self.kind}{strength}"

    @final
    @property
    def summary(self) -> str:
        """See `Damage`."""
        return self.title

    @final
    def effects(self, anatomy: Anatomy) -> tuple[Effect, ...]:
        """See `Damage`."""
        target = find_target(self.target, anatomy.robot)
        if target.sort not in self.sorts:
            fitting = " or ".join(sort_words(sort) for sort in self.sorts)
            raise InvalidValueError(f"{self.kind} befalls {fitting}, not {self.target}")
        return (Effect(str(self), self.kind, target.sort == "all", self._change(anatomy, target)),)

    @abstractmethod
    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """What to do to a robot.

        Args:
            anatomy: of the whole robot.
            target: a part of it, of one of the `sorts`.

        Raises:
            InvalidValueError: the strength is not for this part.
        """

    def _checked(self) -> float | None:
        """The strength, once it is known to be possible."""
        if self.scale is not None:
            return self.scale.checked(self.kind, self.strength)
        if self.strength is not None:
            raise InvalidValueError(f"{self.kind} has no strength, but {self} gives one")
        return None


_Kind = TypeVar("_Kind", bound=type[Defect])
_KINDS: dict[str, type[Defect]] = {}


def register(kind: str) -> Callable[[_Kind], _Kind]:
    """Class decorator that gives a kind of damage its name.

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
    """All kinds of damage by name."""
    return dict(sorted(_KINDS.items()))
