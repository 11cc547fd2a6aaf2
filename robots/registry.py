"""Registries: tables of things by name, to which plugins may add others."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from robots.errors import InvalidValueError, UnknownNameError

Entry = TypeVar("Entry")


class Registry(dict[str, Entry]):
    """Things of one sort by name; none takes the place of another, but a new version of one does.

    `what` is what errors call one of them, and `code` gives the class or function of an entry, by which a new
    version of it is recognised.
    """

    def __init__(
        self,
        what: str,
        entries: Iterable[tuple[str, Entry]] = (),
        code: Callable[[Entry], Any] = lambda entry: entry,
    ) -> None:
        super().__init__()
        self.what, self._code = what, code
        for name, entry in entries:
            self[name] = entry

    def __setitem__(self, name: str, entry: Entry) -> None:
        codes = [self._code(one) for one in (self.get(name, entry), entry)]
        if codes[0] != codes[1] and _origin(codes[0]) != _origin(codes[1]):
            modules = " and ".join(code.__module__ for code in codes if hasattr(code, "__qualname__"))
            places = f", in {modules}" if modules else ""
            raise InvalidValueError(
                f"the {self.what} {name!r} is registered twice{places}: choose another name"
            )
        super().__setitem__(name, entry)

    def find(self, name: str) -> Entry:
        """Look one up; the error of an unknown name lists those that are known."""
        if name not in self:
            raise UnknownNameError(self.what, name, self)
        return self[name]


def _origin(code: Any) -> object:
    """Module and name of a class or function, the same when a plugin or a cell of a notebook ran again."""
    return (code.__module__, code.__qualname__) if hasattr(code, "__qualname__") else id(code)
