"""What Ctrl-C and SIGTERM do to a command, which is the same. Importing this module loads nothing heavy."""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # exit code, as shells have it
_NUMBERS = (signal.SIGINT, signal.SIGTERM)
# [s] within which interrupts are one and the same: `timeout` signals a process, and then the group it is in
_AGAIN = 0.5


def end_silently() -> None:
    """Have Ctrl-C end this process without a traceback from now on, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def ignore() -> None:
    """Ignore interrupts from now on: the work is done, and they would only hide how."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def raise_and_remember() -> Iterator[list[int]]:
    """Have interrupts raise KeyboardInterrupt within the context; yields a list to which each is added.

    Libraries turn what is raised into errors of their own, which the list tells from others.
    """
    seen: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    with _handled(interrupt):
        yield seen


@contextmanager
def interrupt_flag(
    say: Callable[[str], object], doing: str = "Finishing the current batch, then saving"
) -> Iterator[Callable[[], bool]]:
    """Turn the first interrupt into a flag, and say what is being done; a later one interrupts at once.

    Outside the main thread nothing is turned into a flag.
    """
    first: float | None = None

    def remember(_signal: int, _frame: FrameType | None) -> None:
        nonlocal first
        if first is None:
            first = time.monotonic()
            say(f"{doing} (interrupt again to stop at once).")
        elif time.monotonic() > first + _AGAIN:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    with _handled(remember):
        yield lambda: first is not None


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have a function handle interrupts within the context, but not those that this process ignores."""
    found = {number: signal.getsignal(number) for number in _NUMBERS}
    previous = {number: before for number, before in found.items() if before is not signal.SIG_IGN}
    try:
        for number in previous:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


def leave() -> NoReturn:
    """End an interrupted process at once: threads may still be in compiled code, which aborts otherwise."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # lost, closed, or none from the start
            stream.flush()
    atexit._run_exitfuncs()  # workers end, and temporary folders go
    os._exit(INTERRUPTED)
