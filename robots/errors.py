"""Errors that a user can cause: each message is one sentence that helps."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_MOST = 2000  # characters of a message
_LONGEST = 200  # characters of a value in it


class SurefootError(Exception):
    """The root of every error a user can cause; its message is fit to print as it is.

    Names and values in it may come from a file: line breaks become spaces, and very long messages are cut.
    """

    def __str__(self) -> str:
        text = " ".join(super().__str__().splitlines())
        return text if len(text) <= _MOST else f"{text[: _MOST // 2]} ... {text[-_MOST // 2 :]}"


class UnknownNameError(SurefootError):
    """A name that no thing of a kind, such as "robot", is known by."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = list(known)
        self.name = str(name)
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        self._arguments = kind, name, known
        super().__init__(f"unknown {kind} {shown(str(name))}{hint}; available: {', '.join(known) or 'none'}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._arguments  # so that a worker process can pass it on


class InvalidValueError(SurefootError):
    """A value outside what an argument accepts."""


class InvalidRobotError(SurefootError):
    """A robot description or model that cannot be used."""


class InvalidFileError(SurefootError):
    """A file that is not what it should be, or cannot be read or written."""


class InUseError(SurefootError):
    """A file or folder that another process works on; `holder` says which, since when."""

    def __init__(self, path: object, holder: str) -> None:
        self._arguments = path, holder
        super().__init__(f"{path} is in use by {holder}: wait until that has finished, or choose another one")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._arguments


class RenderingError(SurefootError):
    """A picture that cannot be drawn, or a video that cannot be encoded, on this machine."""


@contextmanager
def installed(what: str, package: str) -> Iterator[None]:
    """Say how to install a package that the body cannot import; `what` ends in "which is" or "which are"."""
    try:
        yield
    except ImportError as error:
        raise SurefootError(f"{what} not installed: pip install {package}") from error


@contextmanager
def naming(
    origin: object, kind: type[SurefootError] = InvalidFileError, of: type[SurefootError] = InvalidValueError
) -> Iterator[None]:
    """Have errors `of` a class name the origin of what is wrong, as errors of a `kind`."""
    try:
        yield
    except of as error:
        raise kind(f"{origin}: {error}") from error


def one_line(error: BaseException) -> str:
    """An error's message without line breaks."""
    return " ".join(str(error).split())


def shown(value: object) -> str:
    """A value as Python writes it, cut if it is long; Python refuses to write very long numbers and lists."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):
        return f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
