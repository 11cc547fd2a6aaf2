"""Where everything is printed: as it is, unwrapped."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console


def _printer(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


console = _printer()
complaints = _printer(stderr=True)


def note(text: str) -> None:
    """Print what the library says while it works."""
    console.print(text)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns that are as wide as their longest text; all but the first end at the right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *others in lines:
        columns = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        console.print("  ".join([first.ljust(widths[0]), *columns]).rstrip())


def or_dash(value: float, write: Callable[[float], str]) -> str:
    """A number as it is to be written, or a dash where there is none."""
    return "-" if math.isnan(value) else write(value)


def print_facts(facts: Mapping[str, str | Sequence[str]], width: int = 16) -> None:
    """Print facts, each of a line or several, next to its name."""
    for name, lines in facts.items():
        for number, line in enumerate([lines] if isinstance(lines, str) else lines):
            console.print(f"{'' if number else name:<{width}} {line}")
