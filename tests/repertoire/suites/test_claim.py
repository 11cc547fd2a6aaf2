"""Whose a folder is."""

import json
import re
from pathlib import Path

import pytest

from repertoire.suites.claim import claim
from robots.errors import InvalidValueError

IDENTITY = {"study": "small", "seed": 1, "evaluations": {"hopper": 400}}


def written(folder: Path) -> dict:
    return json.loads((folder / "study.json").read_text())


def test_a_folder_may_gain_entries(tmp_path):
    claim(tmp_path / "new", IDENTITY)
    assert written(tmp_path / "new") == IDENTITY
    claim(tmp_path / "new", {**IDENTITY, "evaluations": {"ant": 200}})
    assert written(tmp_path / "new")["evaluations"] == {"hopper": 400, "ant": 200}
    claim(tmp_path / "new", {**IDENTITY, "evaluations": {"hopper": 400, "walker": 100}})
    assert written(tmp_path / "new")["evaluations"] == {"hopper": 400, "ant": 200, "walker": 100}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"evaluations": {"ant": 200, "hopper": 600}},
            "study small, seed 1, evaluations (ant 200, hopper 600)",
        ),
        ({"seed": 2}, "study small, seed 2, evaluations (hopper 400)"),
        ({"episodes": 5}, "study small, seed 1, evaluations (hopper 400), episodes 5"),
        ({"evaluations": 400}, "study small, seed 1, evaluations 400"),
    ],
)
def test_another_study_is_refused(tmp_path, changes, words):
    claim(tmp_path, IDENTITY)
    message = (
        f"(study small, seed 1, evaluations (hopper 400)), not this one ({words}): choose another folder"
    )
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        claim(tmp_path, {**IDENTITY, **changes})
    assert written(tmp_path) == IDENTITY


def test_looking_writes_nothing(tmp_path):
    claim(tmp_path / "none", IDENTITY, dry=True)
    assert list(tmp_path.iterdir()) == []
    claim(tmp_path, IDENTITY)
    claim(tmp_path, {**IDENTITY, "evaluations": {"ant": 200}}, dry=True)
    assert written(tmp_path) == IDENTITY
    with pytest.raises(InvalidValueError, match="another study"):
        claim(tmp_path, {**IDENTITY, "seed": 2}, dry=True)
