"""What tests of the benchmarks share."""

import sys

import pytest

from benchmarks.__main__ import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a benchmark; returns its exit code and what it printed, line breaks of wrapping undone."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), " ".join(printed.out.split()), printed.err

    return command
