"""`Strength`: what the number after a kind of damage means."""

import math
from dataclasses import dataclass

from robots.errors import InvalidValueError


@dataclass(frozen=True)
class Strength:
    """A number that says how bad a damage is.

    Attributes:
        meaning: in words, with the unit.
        low: the least, or None where it depends on the part.
        high: the most, or None likewise.
        default: where none is given; None where one must be, or `rest` is.
        rest: what is meant where none is given and there is no number for it, in words.
        whole: whether it must be a whole number.
    """

    meaning: str
    low: float | None
    high: float | None
    default: float | None = None
    rest: str | None = None
    whole: bool = False

    def checked(self, kind: str, value: float | None) -> float | None:
        """The value, or the default for None.

        Raises:
            InvalidValueError: it is none of the possible ones.
        """
        if value is None:
            if self.default is None and self.rest is None:
                raise InvalidValueError(f"{kind} needs a strength: {self.meaning}, {self._range()}")
            return self.default
        refused = not math.isfinite(value) or (self.whole and value != round(value))
        if refused or not (self._least <= value <= self._most):
            number = "a whole number, " if self.whole else ""
            raise InvalidValueError(
                f"{kind} takes {number}{self.meaning}, {self._range()}, not {format_strength(value)}"
            )
        return float(value)

    @property
    def _least(self) -> float:
        return -math.inf if self.low is None else self.low

    @property
    def _most(self) -> float:
        return math.inf if self.high is None else self.high

    def _range(self) -> str:
        """The possible values, in words."""
        if self.low is None or self.high is None:
            return "in the joint's range"
        return f"{self.low:g} to {self.high:g}"

    def words(self) -> str:
        """What it means, what it may be and what it is if not given, in a line."""
        default = self.rest if self.default is None else f"{self.default:g}"
        return f"{self.meaning}, {self._range()}" + ("" if default is None else f"; {default} if not given")


def format_strength(value: float) -> str:
    """The shortest text that reads back as the value."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
