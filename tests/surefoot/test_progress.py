"""Progress of long commands."""

import time

import pytest

from suites.study import StudyProgress
from surefoot import progress
from surefoot.progress import ProgressBar, study_bar


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch):
    """A clock that the test sets, for the bar."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_say_how_long_it_takes_and_never_more_than_there_is(clock, capsys) -> None:
    with ProgressBar("episodes", 1000) as bar:
        for seconds, done in ((0, 10), (5, 20), (12, 130), (20, 210), (30, 1072)):
            clock[0] = 1000.0 + seconds
            bar(done, note="best 3.1")
    assert capsys.readouterr().out.splitlines() == [
        "130/1,000 episodes  best 3.1  10/s  1 min left",
        "1,000/1,000 episodes  best 3.1  33/s  0 s left",
    ]


def test_shares_and_totals_that_change(clock, capsys) -> None:
    with ProgressBar("replays") as bar:
        for seconds, share in ((0, 0.0), (9, 0.09), (20, 0.2)):
            clock[0] = 1000.0 + seconds
            bar(share)
    with ProgressBar("trials", line_seconds=0) as bar:
        bar(1.5, total=12)
    assert capsys.readouterr().out.splitlines() == ["replays: 20%  1 min left", "1.5/12 trials"]


def test_a_resumed_study_does_not_count_what_earlier_commands_did(clock, capsys) -> None:
    study = StudyProgress(4, ended=set())
    with study_bar() as show:
        show(study)
        for seconds, trial, share in ((1, 0, 0.5), (2, 0, 0.51), (3, 1, 0.5), (60, 0, 0.7), (120, 1, 0.7)):
            clock[0] = 1000.0 + seconds
            study.update(("hopper", "me-es", trial), share)
            show(study)
    assert capsys.readouterr().out.splitlines() == ["1.2/4 trials  14 min left", "1.4/4 trials  13 min left"]


def test_compilation_is_said_where_nothing_happens_at_first(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0)
    with ProgressBar("episodes", 1000):
        time.sleep(0.2)
    assert capsys.readouterr().out.startswith("compiling")
