"""Write the tables of the reference that follow from code into their pages: `make docs` does so first.

A table stands below a comment such as `<!-- docs/tables.py: selectors -->` and ends at an empty line.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from adapt.mission.states import TRANSITIONS
from adapt.selectors.catalogue import selector_entries
from robots.task.measures import KINDS
from robots.task.observations import TERMS

DOCS = Path(__file__).parent
Table = Iterator[Sequence[object]]


def selectors() -> Table:
    """Every selector, and what it does."""
    yield "selector", "what it does"
    yield from ((f"`{name}`", entry.summary) for name, entry in selector_entries().items())


def observations() -> Table:
    """Every term of an observation, and its scale."""
    yield "term", "what it is", "scale"
    yield from ((f"`{name}`", meaning, f"{scale:g}") for name, (meaning, scale) in TERMS.items())


def measures() -> Table:
    """Every measure."""
    yield "measure", "what it is", "unit"
    yield "the name of a foot", "control steps in contact divided by control steps survived", "share, 0 to 1"
    yield from ((f"`{name}`", kind.meaning, kind.unit) for name, kind in KINDS.items())


def states() -> Table:
    """What a robot on a mission does after each state."""
    yield "state", "how it ended", "next state"
    yield from (
        (f"*{now.value}*", how.value, f"*{after.value}*") for (now, how), after in TRANSITIONS.items()
    )


def numbers() -> Table:
    """The constants by which a robot on a mission decides, as the files say themselves."""
    yield "file", "constant", "value", "what it is"
    for name in ("planner", "steering", "outcomes", "monitor", "surprises", "diagnosis", "knowledge"):
        text = (DOCS.parent / "adapt" / "mission" / f"{name}.py").read_text()
        for constant, value, words in re.findall(r"^_?([A-Z_]+) = (.+?)  # (.+)$", text, re.MULTILINE):
            yield f"`{name}`", f"`{constant}`", f"`{value}`", words


TABLES: dict[str, Callable[[], Table]] = {
    one.__name__: one for one in (selectors, observations, measures, states, numbers)
}


def filled(page: str) -> str:
    """A page with its tables as they follow from the code."""

    def table(found: re.Match[str]) -> str:
        head, *rows = (f"| {' | '.join(map(str, row))} |" for row in TABLES[found[2]]())
        return "\n".join([found[1], head, re.sub(r"[^|]+", "---", head), *rows, "", ""])

    return re.sub(r"(<!-- docs/tables\.py: (\w+) -->)\n(?:.+\n)*\n", table, page)


if __name__ == "__main__":
    for path in DOCS.rglob("*.md"):
        if (new := filled(text := path.read_text())) != text:
            path.write_text(new)
