"""Registries: tables of things by name, to which plugins may add others."""

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from robots.errors import InvalidValueError, UnknownNameError

Entry = TypeVar("Entry")


class Registry(dict[str, Entry]):
    """Things of one sort by name; none takes the place of another, but a new version of one does.

    Args:
        what: what to call one of them in an error, such as "strategy".
        entries: the first ones.
        code: the class or function of an entry, which tells versions of it from another one; by default the
            entry itself, which is compared if it is neither.
    """

    def __init__(
        self,
        what: str,
        entries: Iterable[tuple[str, Entry]] = (),
        code: Callable[[Entry], Any] = lambda entry: entry,
    ) -> None:
        super().__init__()
        self.what = what
        self._code = code
        for name, entry in entries:
            self[name] = entry

    def __setitem__(self, name: str, entry: Entry) -> None:
        """Add a thing."""
        codes = [self._code(one) for one in (self.get(name, entry), entry)]
        if codes[0] != codes[1] and _origin(codes[0]) != _origin(codes[1]):
            files = " and ".join(filter(None, map(_file, codes)))
            places = f", in {files}" if files else ""
            raise InvalidValueError(
                f"the {self.what} {name!r} is registered twice{places}: choose another name"
            )
        super().__setitem__(name, entry)

    def find(self, name: str) -> Entry:
        """Look one up."""
        if name not in self:
            raise UnknownNameError(self.what, name, self)
        return self[name]


def _origin(code: Any) -> object:
    """Module and name of a class or function, the same when a plugin or a cell of a notebook ran again."""
    named = hasattr(code, "__qualname__")
    return (code.__module__, code.__qualname__) if named else id(code)


def _file(code: Any) -> str:
    """Where a class or function was written; empty for anything else."""
    module = sys.modules.get(code.__module__) if hasattr(code, "__qualname__") else None
    return str(getattr(module, "__file__", module)) if module else ""
