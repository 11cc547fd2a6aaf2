"""Numbers, times and names in words: texts that a person reads."""

import math
import textwrap
from collections.abc import Mapping

_WIDTH = 92  # of a line of a fact [characters]


def short(value: float) -> str:
    """A number in about three digits, e.g. 1234, 56.7 or 0.89; a dash for nan."""
    if math.isnan(value):
        return "-"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{decimals}f}"


def duration(seconds: float) -> str:
    """A time span in at most two units, e.g. `45 s`, `12 min`, `3 h 20 min` or `2 d 4 h`."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def counted(number: int, noun: str) -> str:
    """A number of things, e.g. `1 fall`, `0 falls` or `1,200 falls`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def version_words(versions: Mapping[str, str]) -> str:
    """Versions of software by their names, in a line."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def nameless(name: str) -> str:
    """How records call an object that is registered under no name."""
    return f"{name} (not registered)"


def foot_words(foot: str) -> str:
    """A foot's name in words: `front_left` and `front_left_foot` are the front left foot."""
    words = foot.replace("_", " ")
    return words if words.endswith("foot") else f"{words} foot"


def wrapped(text: str) -> list[str]:
    """A text, broken into lines of at most 92 characters."""
    return textwrap.wrap(" ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
