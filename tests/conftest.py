"""What tests of the command line share."""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from surefoot.commands.main import main

# tests in a real browser need one: `make test-browser` names it
collect_ignore = [] if os.environ.get("SUREFOOT_BROWSER") else ["browser"]


def pytest_configure() -> None:
    """Be interruptible: a shell has its background jobs ignore interrupts, which processes inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take longest, in the order in which workers take them. Of the first two, one compiles the
# kernels of episodes while the other needs none: after that nobody compiles them again.
LONG = (
    "robots/simulation/test_environment.py",
    "suites/test_study.py",
    "robots/link/test_link_faults.py",
    "robots/test_compilation.py",
    "adapt/self_model/test_self_model.py",
    "surefoot/explorer/test_explorer.py",
    "surefoot/test_train_command.py",
    "repertoire/algorithms/test_algorithms.py",
    "adapt/test_strengthening.py",
    "repertoire/execution/test_cluster.py",
    "surefoot/test_refusals.py",
    "test_changed_files.py",
    "suites/paper/test_analysis.py",
    "adapt/mission/test_mission.py",
    "adapt/mission/test_linked.py",
    "repertoire/training/test_training.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with long files, so that workers end at about the same time."""
    tests = Path(__file__).parent
    order = {tests / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.fixture
def program() -> Callable[[], None]:
    """What `run` runs; tests of another program have another one."""
    return main


@pytest.fixture
def run(monkeypatch, capsys, program):
    """Runs a command, which is a line or its words; returns its exit code and what it printed in one line."""

    def command(*arguments: object) -> tuple[int, str, str]:
        if len(arguments) == 1:
            arguments = tuple(shlex.split(str(arguments[0])))
        monkeypatch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            program()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), " ".join(printed.out.split()), printed.err

    return command


@pytest.fixture
def works(run):
    """Runs a command that ends well and complains of nothing; returns what it printed in one line."""

    def command(*arguments: object) -> str:
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        return out

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
            assert len(err) < 2100

    return check
