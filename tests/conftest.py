"""What tests of the command line share."""

import sys

import pytest

from surefoot.commands.main import main


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
