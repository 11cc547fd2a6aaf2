"""What Ctrl-C and SIGTERM do to a command, which is the same. Importing this module loads nothing heavy."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # exit code, as shells have it
_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_LAST_SECONDS = 10.0  # after an interrupt, in which a command must end, or the system ends it


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

    If the context goes on for long after the first one, the system ends the process, where it can: callbacks
    of libraries can swallow what is raised, and keep locks.
    """
    seen: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        _end_after(_LAST_SECONDS)
        raise KeyboardInterrupt

    with _handled(interrupt):
        try:
            yield seen
        finally:
            if seen:
                _end_after(0)


@contextmanager
def interrupt_flag(
    say: Callable[[str], object], doing: str = "Finishing the current batch, then saving"
) -> Iterator[Callable[[], bool]]:
    """Turn the first interrupt into a flag, so that the current batch is finished and saved.

    The second one interrupts at once. Outside the main thread nothing is turned into a flag.

    Args:
        say: told what goes on.
        doing: that, in words.
    """
    seen = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def remember(_signal: int, _frame: FrameType | None) -> None:
        nonlocal seen
        if seen:
            raise KeyboardInterrupt
        seen = True
        say(f"{doing} (interrupt again to stop at once).")

    with _handled(remember):
        yield lambda: seen


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


def _end_after(seconds: float) -> None:
    """Have the system end this process so many seconds from now, where it can; with 0, no more."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def leave() -> NoReturn:
    """End an interrupted process at once.

    Threads that were not waited for may still be in compiled code, which aborts when the interpreter is
    taken down under them.
    """
    _end_after(_LAST_SECONDS)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # lost, closed, or none from the start
            stream.flush()
    atexit._run_exitfuncs()  # workers end, and temporary folders go
    os._exit(INTERRUPTED)
