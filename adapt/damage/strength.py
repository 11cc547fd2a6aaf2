"""`Scale`: what the strength of a damage means, and which are possible; `Strengths`: which are suspected."""

import math
from dataclasses import dataclass

from robots.errors import InvalidValueError


@dataclass(frozen=True)
class Scale:
    """What the number after a kind of damage, its strength, means."""

    meaning: str  # in words, with the unit
    low: float | None  # the lowest strength; None of either where it depends on the part
    high: float | None
    default: float | None = None  # where none is given; None where one must be, or `rest` says what is meant
    rest: str | None = None  # what is meant without a strength where no one number says it, in words
    whole: bool = False  # whether strengths must be whole numbers

    def resolve(self, kind: str, value: float | None) -> float | None:
        """The strength that a value means, None where only `rest` says it; raises an `InvalidValueError`."""
        if value is None:
            if self.default is None and self.rest is None:
                raise InvalidValueError(f"{kind} needs a strength: {self.meaning}, {self._range()}")
            return self.default
        refused = not math.isfinite(value) or (self.whole and value != round(value))
        if refused or self.nearest(value) != value:
            number = "a whole number, " if self.whole else ""
            raise InvalidValueError(
                f"{kind} takes {number}{self.meaning}, {self._range()}, not {format_strength(value)}"
            )
        return float(value)

    def nearest(self, value: float) -> float:
        """The value, or the end of the range that it is beyond; every value where the part has the range."""
        low = value if self.low is None else max(value, self.low)
        return low if self.high is None else min(low, self.high)

    def words(self) -> str:
        """What it means, its range and its default, in a line."""
        default = self.rest if self.default is None else f"{self.default:g}"
        return f"{self.meaning}, {self._range()}" + ("" if default is None else f"; default: {default}")

    def _range(self) -> str:
        if self.low is None or self.high is None:
            return "in the joint's range"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Strengths:
    """A range of strengths in which a damage is suspected."""

    # to begin a search with: None alone for a kind without strength, nothing where they are only read off
    grid: tuple[float | None, ...] = (None,)
    low: float = 0.0
    high: float = 0.0  # the same as `low` where only those of the grid are possible
    logarithmic: bool = False  # whether the ratios of strengths count, not their differences

    @property
    def graded(self) -> bool:
        """Whether there is a range to be searched."""
        return self.high > self.low and bool(self.grid)

    def at(self, place: float) -> float:
        """The strength at a place in the range, from 0 to 1."""
        place = min(max(place, 0.0), 1.0)
        linear = self.low + place * (self.high - self.low)
        strength = self.low * (self.high / self.low) ** place if self.logarithmic else linear
        return min(max(strength, self.low), self.high)  # rounding may lead beyond them

    def place(self, strength: float) -> float:
        """Where in the range a strength is, from 0 to 1: at its end where the strength is beyond it."""
        strength = min(max(strength, self.low), self.high)
        if self.logarithmic:
            return math.log(strength / self.low) / math.log(self.high / self.low)
        return (strength - self.low) / (self.high - self.low)

    def rounded(self, strength: float) -> float:
        """A strength with three digits; rounded the other way where that would leave the range."""
        rounded = float(f"{strength:.3g}")
        if self.low <= strength <= self.high and not self.low <= rounded <= self.high:
            digit = 10.0 ** (math.floor(math.log10(abs(rounded))) - 2)
            return float(f"{rounded - math.copysign(digit, rounded - strength):.3g}")
        return rounded


NO_STRENGTH = Strengths()


def format_strength(value: float) -> str:
    """The shortest text that reads back as the value."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
