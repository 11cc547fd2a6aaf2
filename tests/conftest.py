"""What tests of the command line share."""

import os
import signal
import sys
from collections.abc import Iterable, Sequence

import pytest

from surefoot.commands.main import main

# tests in a real browser need one: `make test-browser` names it
collect_ignore = [] if os.environ.get("SUREFOOT_BROWSER") else ["browser"]

# tests that take long and share nothing: whoever has finished all else takes the next
APART = ("test_examples.py", "test_readme.py", "test_results.py", "test_tutorials.py")


def pytest_configure() -> None:
    """Be interruptible: a shell has its background jobs ignore interrupts, which processes inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of several processes one runs all tests of a file, so that fixtures of the file are made once."""
    for item in items:
        if item.path.name not in APART and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(item.config.rootpath))))


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


@pytest.fixture
def refused(run):
    """Checks that commands end in one sentence, which holds a message, and in exit code 2."""

    def check(cases: Iterable[tuple[Sequence[object], str]], *command: object) -> None:
        for arguments, message in cases:
            code, _, err = run(*command, *arguments)
            assert (code, message in err) == (2, True), f"{arguments}: exit {code}, {err!r}"
            assert err.startswith("surefoot: "), err
            assert err.count("\n") == 1, f"{arguments}: more than one line: {err!r}"

    return check
