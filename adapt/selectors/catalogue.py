"""The table of selectors by name: each registers itself by a decorator, here or in a file of a user's own."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from adapt import selectors
from adapt.rehearsal.storage import read_table
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Context, Selector
from repertoire.repertoire import Repertoire
from repertoire.storage.files import RunFiles
from robots.errors import InvalidValueError
from robots.registry import Registry
from robots.words import nameless


@dataclass(frozen=True)
class SelectorEntry:
    """A selector that can be asked for."""

    name: str  # under which it is registered; of one that is not registered, what records call it
    summary: str  # what it is, in a line
    kind: Callable[[Context], Selector]  # its class, or whatever else makes one in a context
    needs_table: bool = False  # whether it needs a rehearsal
    # whether it simulates between trials; a rehearsal is of use to it, but it does without
    thinks: bool = False
    unregistered: bool = False  # whether it is of a user's own; it is given a rehearsal if there is one

    @property
    def takes_table(self) -> bool:
        """Whether it makes use of a rehearsal."""
        return self.needs_table or self.thinks or self.unregistered

    def check_table(self, table: Table | None) -> None:
        """Refuse to go without the rehearsal that it needs."""
        if self.needs_table and table is None:
            raise InvalidValueError(
                f"the {self.name} selector needs a rehearsal of the repertoire: make one with "
                "`surefoot rehearse`, or choose another selector"
            )


DEFAULT_SELECTOR = "self-model"
# a name, a class of selectors, anything else that makes one in a context, or the entry of one
AnySelector = str | Callable[[Context], Selector] | SelectorEntry
_Class = TypeVar("_Class", bound=Callable[[Context], Selector])
_SELECTORS: Registry[SelectorEntry] = Registry("selector", code=attrgetter("kind"))


def register(
    name: str, summary: str, *, needs_table: bool = False, thinks: bool = False
) -> Callable[[_Class], _Class]:
    """Class decorator that enters a selector in the table under a name, see `SelectorEntry`."""

    def add(selector: _Class) -> _Class:
        _SELECTORS[name] = SelectorEntry(name, summary, selector, needs_table, thinks)
        return selector

    return add


def selector_entries() -> Registry[SelectorEntry]:
    """All selectors by name: those of `adapt.selectors` and those that a user registered.

    Selectors that know more, by a rehearsal or by thinking, come after those that know less.
    """
    for module in pkgutil.walk_packages(selectors.__path__, f"{selectors.__name__}."):
        importlib.import_module(module.name)
    order = sorted(_SELECTORS.values(), key=lambda entry: (entry.thinks, entry.needs_table, entry.name))
    return Registry(_SELECTORS.what, [(entry.name, entry) for entry in order])


def find_selector(selector: AnySelector) -> SelectorEntry:
    """The selector of a name, or one of a user's own."""
    if isinstance(selector, SelectorEntry):
        return selector
    entries = selector_entries()
    if isinstance(selector, str):
        return entries.find(selector)
    known = (entry for entry in entries.values() if entry.kind is selector)
    name = nameless(getattr(selector, "__name__", type(selector).__name__))
    return next(known, SelectorEntry(name, "a selector of a user's own", selector, unregistered=True))


def choose_selector(selector: AnySelector, table: Table | None) -> SelectorEntry:
    """The selector to use with a rehearsal, or with none; refused if it needs one, or makes no use of one."""
    entry = find_selector(selector)
    entry.check_table(table)
    if table is not None and not entry.takes_table:
        raise InvalidValueError(
            f"the {entry.name} selector makes no use of a rehearsal: leave it out, or choose the rehearsed "
            "selector"
        )
    return entry


def find_table(
    repertoire: Repertoire,
    file: Path | None,
    selector: AnySelector | None,
    rehearsal: Table | str | Path | None,
) -> tuple[Table | None, Path | None]:
    """The rehearsal that a selector uses, and its file if it is from one; None if there is none.

    Args:
        repertoire: that was rehearsed.
        file: of the repertoire, next to which its rehearsal is looked for; None if it is in no file.
        selector: None for the default.
        rehearsal: the table or its file, if the user gave one.
    """
    if isinstance(rehearsal, Table):
        return rehearsal, None
    used = selector is None or find_selector(selector).takes_table
    if rehearsal is None and file is not None and used and RunFiles(file).rehearsal.exists():
        rehearsal = RunFiles(file).rehearsal
    return (None, None) if rehearsal is None else (read_table(Path(rehearsal), repertoire), Path(rehearsal))


def make_selector(selector: AnySelector, context: Context) -> Selector:
    """Start a selector; refused if the context lacks what it needs."""
    entry = find_selector(selector)
    entry.check_table(context.table)
    if entry.thinks and context.thinking is None:
        raise InvalidValueError(f"the {entry.name} selector needs a model of the robot to think with")
    return entry.kind(context)
