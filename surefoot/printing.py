"""Where everything is printed: as it is, without what would steer a terminal."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar

from rich.console import Console
from rich.text import Text

# all characters with which a text could steer a terminal, but tabs and new lines; or reverse what is read
_STEERING = [*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SHOWN = {number: chr(number).encode("unicode_escape").decode() for number in _STEERING}
_Result = TypeVar("_Result")


class Printer(Console):
    """Prints text as it is, unwrapped."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.width = self.width or 80  # COLUMNS=0 means that the width is not known

    def render_str(self, text: str, **options: Any) -> Text:
        """Show control characters of a text, which may come from a file, instead of obeying them."""
        return super().render_str(text.translate(_SHOWN), **options)


class LastingStream:
    """A text stream that writes to nowhere from its first failure on, so that no command ends for it.

    Args:
        stream: standard output or standard error.

    Attributes:
        failure: why the stream could not be written; None as long as it can be.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream or Path(os.devnull).open("w")  # noqa: SIM115 - None where it is closed
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write text."""
        return self._attempt(lambda: self._stream.write(text), len(text))

    def flush(self) -> None:
        """Write what is buffered."""
        self._attempt(self._stream.flush, None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _attempt(self, action: Callable[[], _Result], otherwise: _Result) -> _Result:
        """Do something that may fail."""
        try:
            return action()
        except OSError as error:
            self.failure = self.failure or error
            with suppress(OSError):  # or else the buffer would fail again at the end of the process
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            return otherwise


console = Printer()
complaints = Printer(stderr=True)


def note(text: str) -> None:
    """Print what the library says while it works."""
    console.print(text)
