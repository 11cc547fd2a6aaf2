"""Rehearsal tables in files: small, exact where it matters, and refused when unsound."""

import json
import re
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from adapt.evidence import evidence_names
from adapt.rehearsal.storage import read_table, write_table
from repertoire.evaluation.evaluator import robot_label
from repertoire.storage.repertoires import fingerprint, write_repertoire
from robots.errors import InvalidFileError
from tests.adapt.rehearsal.made_up import made_up_table
from tests.adapt.rehearsal.small import small_repertoire, small_robot
from tests.repertoire.storage.test_storage import seal

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "format.md"
REPERTOIRE = small_repertoire()
NAMES = evidence_names(small_robot())
TABLE = made_up_table(k=len(REPERTOIRE), names=NAMES)
IDENTITY = {"repertoire": fingerprint(REPERTOIRE), "seed": 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_table(tmp_path / "table.h5", TABLE, IDENTITY)
    return tmp_path / "table.h5"


def test_what_is_written_is_read_but_for_rounding(tmp_path: Path) -> None:
    evidence = TABLE.evidence.copy()
    evidence[..., 0] = 0.1  # what never varies is exact
    written = replace(TABLE, evidence=evidence)
    write_table(tmp_path / "table.h5", written, IDENTITY)
    table = read_table(tmp_path / "table.h5", REPERTOIRE)
    assert (table.conditions, table.evidence_names, table.episodes) == (TABLE.conditions, NAMES, 4)
    steps = {"objectives": 1e-4, "noise": 0.1, "falls": 0, "evidence": 0.03, "evidence_std": 0.1}
    for name, step in steps.items():
        found, expected = getattr(table, name), getattr(written, name)
        assert found.dtype == np.float32
        assert (np.abs(found - expected) <= step / 2 * expected.std(axis=(0, 1))).all(), name
    assert (table.evidence[..., 0] == np.float32(0.1)).all()


def test_the_values_of_a_large_library_take_less_than_two_bytes_each(tmp_path: Path) -> None:
    names = tuple(f"number {i}" for i in range(12))
    write_table(tmp_path / "large.h5", made_up_table(d=96, k=500, names=names), IDENTITY)
    assert (tmp_path / "large.h5").stat().st_size < 1.3 * 96 * 500 * 27


def test_tables_of_other_repertoires_and_robots_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"table\.h5: it is the rehearsal of another repertoire"):
        read_table(path, small_repertoire(seed=1))
    heavy = REPERTOIRE.robot.modified("heavy", lambda spec: None)
    other = tmp_path / "heavy.h5"
    write_table(other, TABLE, IDENTITY | {"robot": robot_label(heavy)})
    with pytest.raises(InvalidFileError, match=r"was rehearsed on another robot \(heavy, not as trained\)"):
        read_table(other, REPERTOIRE)
    write_repertoire(other, REPERTOIRE)
    with pytest.raises(InvalidFileError, match="it is no rehearsal file"):
        read_table(other, REPERTOIRE)


UNSOUND = {  # what the format of all files does not check by itself, and an example of what it does
    "healthy is not first": (
        "conditions",
        ["a:lost", "healthy", "b:lost"],
        "must be 'healthy' first",
    ),
    "a condition twice": ("conditions", ["healthy", "b:lost", "b:lost"], "first, and all different"),
    "an unknown kind": ("conditions", ["healthy", "a:lost", "b:gone"], "unknown kind of damage 'gone'"),
    "half a damage": ("conditions", ["healthy", "a:lost", "b:weak"], "must be damages as they are written"),
    "conditions that are no list": ("conditions", {"healthy": 1}, "'conditions' must hold a JSON list"),
    "names that are no texts": ("evidence_names", [1] * 10, "'evidence_names' must hold a list of texts"),
    "other names": ("evidence_names", list("abcdefghij"), "'evidence_names' must be those of the ant"),
    "a gait less": ("objectives", TABLE.objectives[:, 1:], r"'objectives' must have shape \(3, 5\)"),
    "no identity": ("identity", [], "'identity' must hold a JSON object"),
    "no noise": ("noise", None, "the array 'noise' is missing"),
    "other types": ("objectives", TABLE.objectives.astype(float), "'objectives' must be float32 of rank 2"),
    "nan": ("objectives", np.full((3, 5), np.nan, "<f4"), "'objectives' must be finite"),
    "less evidence": ("evidence", TABLE.evidence[:, :, 1:], r"'evidence' must have shape \(3, 5, 10\)"),
    "fewer conditions": ("noise", TABLE.noise[1:], r"'noise' must have shape \(3, 5\), not \(2, 5\)"),
    "negative noise": ("noise", -TABLE.noise, r"'noise' must be finite and from 0 to 1e\+30"),
    "shares above 1": ("falls", TABLE.falls + 1, "'falls' must be finite and from 0 to 1"),
    "no episodes": ("episodes", np.int64(0), r"'episodes' must be finite and from 1 to "),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_what_is_not_a_sound_table_is_refused(path: Path, case: str) -> None:
    name, value, message = UNSOUND[case]
    with h5py.File(path, "r+") as file:
        del file[name]
        if value is not None:
            file[name] = np.bytes_(json.dumps(value)) if isinstance(value, list | dict) else value
        seal(file)
    with pytest.raises(InvalidFileError, match=message):
        read_table(path, REPERTOIRE)


def test_the_documentation_lists_what_is_there(path: Path) -> None:
    section = DOCS.read_text().split("## Rehearsals")[1].split("\n## ")[0]
    with h5py.File(path) as file:
        assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(file)
