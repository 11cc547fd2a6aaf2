"""`surefoot` and `python -m surefoot` are the command line."""

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from robots.errors import SurefootError
from surefoot.interrupts import INTERRUPTED
from surefoot.startup import prepare_process


def run() -> None:
    """Run the command line; as long as it is being imported, Ctrl-C ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        prepare_process()
    except SurefootError as error:
        print(f"surefoot: {error}", file=sys.stderr)
        sys.exit(2)
    from surefoot.commands.main import main

    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        for number in (signal.SIGINT, signal.SIGTERM):  # the work is done: an interrupt would only hide how
            signal.signal(number, signal.SIG_IGN)
        if isinstance(end, KeyboardInterrupt) or end.code == INTERRUPTED:
            _leave()
        raise


def _leave() -> NoReturn:
    """End an interrupted process at once.

    Threads that were not waited for may still be in compiled code, which aborts when the interpreter is
    taken down under them.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # lost, closed, or none from the start
            stream.flush()
    atexit._run_exitfuncs()  # workers end, and temporary folders go
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
