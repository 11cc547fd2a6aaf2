"""What tests of the command line share."""

import os
import signal
import sys
from collections.abc import Iterable, Sequence

import pytest

from surefoot.commands.main import main

# tests in a real browser need one: `make test-browser` names it
collect_ignore = [] if os.environ.get("SUREFOOT_BROWSER") else ["browser"]


def pytest_configure() -> None:
    """Be interruptible: a shell has its background jobs ignore interrupts, which processes inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def shares(item: pytest.Function) -> bool:
    """Whether a test uses a fixture of its module, or is in a module that keeps what its helpers made."""
    own = (found[-1] for found in item._fixtureinfo.name2fixturedefs.values())
    kept = any(hasattr(value, "cache_info") for value in vars(item.module).values())
    return kept or any(fixture.scope == "module" and fixture.baseid == item.parent.nodeid for fixture in own)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs the tests of a file that share something; whoever is free takes the rest."""
    for item in items:
        if (
            item.get_closest_marker("xdist_group") is None
            and isinstance(item, pytest.Function)
            and shares(item)
        ):
            item.add_marker(pytest.mark.xdist_group(item.path.name))


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
