"""What tests of the command line share."""

import signal
import sys
from collections.abc import Iterator

import pytest

from surefoot.commands.main import main


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """A command that ran in this process leaves its handlers, and after an interrupt a timer that ends it."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command; returns its exit code and what it printed, line breaks of wrapping undone."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), " ".join(printed.out.split()), printed.err

    return command
