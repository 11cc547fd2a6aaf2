"""A slice of the fuzzing, and whether the fuzzing would notice what it is there for."""

import re
from pathlib import Path

import pytest

from benchmarks.fuzz import attempt, fuzz, prepare
from benchmarks.subjects import SUBJECTS, Subject, make_corpus
from robots.errors import InvalidFileError


def test_changed_files_of_all_kinds_are_read_or_refused_in_a_sentence() -> None:
    figures = fuzz(range(len(SUBJECTS)), seed=2, processes=1)
    assert figures.failures == {}
    assert figures.cases == len(SUBJECTS) == figures.accepted.total() + figures.refused.total()
    assert figures.accepted
    assert {*figures.accepted, *figures.refused} == {*SUBJECTS}
    assert figures.memory > 0  # how much depends on what ran in the process before


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ValueError("oh"), r"^ValueError: oh \(.*test_fuzz.py:\d+\)$"),
        (SystemExit(3), "^SystemExit: 3"),
        (InvalidFileError("two\nlines" + "x" * 9999), "^$"),
        (InvalidFileError("one line"), "^$"),
    ],
)
def test_a_case_that_raises_anything_else_is_a_failure(error, failure, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.json").write_text("[1, 2, 3]")
    monkeypatch.setitem(SUBJECTS, next(iter(SUBJECTS)), Subject("a.json", lambda _: _raise(error)))
    outcome = attempt(tmp_path, 1, 0)
    assert re.search(failure, outcome.failure)
    assert not outcome.accepted


def test_a_case_can_be_repeated(tmp_path: Path) -> None:
    make_corpus(tmp_path)
    for number in range(len(SUBJECTS)):
        folders = [tmp_path / f"{number}-{copy}" for copy in "ab"]
        for folder in folders:
            folder.mkdir()
            prepare(tmp_path, folder, 1, number)
        files = [{path.name: path.read_bytes() for path in folder.rglob("*.*")} for folder in folders]
        assert files[0] == files[1]
