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
from repertoire.evaluation import robot_label
from repertoire.storage.repertoires import fingerprint, write_repertoire
from robots.errors import InvalidFileError
from tests.adapt.rehearsal.made_up import made_up_table
from tests.adapt.rehearsal.small import small_repertoire, small_robot
from tests.repertoire.test_storage import seal

DOCS = Path(__file__).parents[3] / "docs" / "format.md"
REPERTOIRE = small_repertoire()
NAMES = evidence_names(small_robot())
TABLE = made_up_table(k=len(REPERTOIRE), names=NAMES)
IDENTITY = {"repertoire": fingerprint(REPERTOIRE), "seed": 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_table(tmp_path / "table.h5", TABLE, IDENTITY)
    return tmp_path / "table.h5"


def test_what_is_written_is_read_but_for_rounding(path: Path) -> None:
    table = read_table(path, REPERTOIRE)
    assert (table.conditions, table.evidence_names, table.episodes) == (TABLE.conditions, NAMES, 4)
    steps = {"objectives": 1e-4, "noise": 0.1, "falls": 0, "evidence": 0.03, "evidence_std": 0.1}
    for name, step in steps.items():
        read, written = getattr(table, name), getattr(TABLE, name)
        assert read.dtype == np.float32
        assert (np.abs(read - written) <= step / 2 * written.std(axis=(0, 1))).all(), name


def test_numbers_that_never_vary_are_exact(path: Path) -> None:
    evidence = TABLE.evidence.copy()
    evidence[..., 0] = 0.1
    write_table(path, replace(TABLE, evidence=evidence), IDENTITY)
    assert (read_table(path, REPERTOIRE).evidence[..., 0] == np.float32(0.1)).all()


def test_the_values_of_a_large_library_take_less_than_two_bytes_each(tmp_path: Path) -> None:
    names = tuple(f"number {i}" for i in range(12))
    write_table(tmp_path / "large.h5", made_up_table(d=96, k=500, names=names), IDENTITY)
    assert (tmp_path / "large.h5").stat().st_size < 1.3 * 96 * 500 * 27


def test_the_table_of_another_repertoire_is_refused(path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"table\.h5: it is the rehearsal of another repertoire"):
        read_table(path, small_repertoire(seed=1))


def test_the_table_of_another_robot_is_refused(tmp_path: Path) -> None:
    heavy = REPERTOIRE.robot.modified("heavy", lambda spec: None)
    other = tmp_path / "heavy.h5"
    write_table(other, TABLE, IDENTITY | {"robot": robot_label(heavy)})
    with pytest.raises(InvalidFileError, match=r"was rehearsed on another robot \(heavy, not as trained\)"):
        read_table(other, REPERTOIRE)
    assert read_table(other, REPERTOIRE, robot=heavy).conditions == TABLE.conditions


def test_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"none\.h5 cannot be read: no such file"):
        read_table(tmp_path / "none.h5", REPERTOIRE)
    (tmp_path / "text.h5").write_text("a table")
    with pytest.raises(InvalidFileError, match="it is not an HDF5 file"):
        read_table(tmp_path / "text.h5", REPERTOIRE)
    write_repertoire(tmp_path / "repertoire.h5", REPERTOIRE)
    with pytest.raises(InvalidFileError, match="it is no rehearsal file"):
        read_table(tmp_path / "repertoire.h5", REPERTOIRE)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = np.int64(2)
    with pytest.raises(
        InvalidFileError,
        match="in version 2 of the format 'surefoot rehearsal', but this software reads only version 3",
    ):
        read_table(path, REPERTOIRE)


def test_damage_is_noticed(path: Path) -> None:
    whole, sound = path.read_bytes(), read_table(path, REPERTOIRE)
    with h5py.File(path, "r+") as file:
        file["episodes"][()] += 1
    with pytest.raises(InvalidFileError, match="does not match its checksum"):
        read_table(path, REPERTOIRE)
    for start in range(0, len(whole), 97):  # wherever it is
        path.write_bytes(
            whole[:start] + bytes(b ^ 255 for b in whole[start : start + 1]) + whole[start + 1 :]
        )
        try:
            table = read_table(path, REPERTOIRE)
        except InvalidFileError:
            continue
        assert np.array_equal(table.falls, TABLE.falls), f"byte {start}"
        assert np.array_equal(table.objectives, sound.objectives), f"byte {start}"


def put(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


def compress(name, shape, chunks, *, chunk=None, shuffle=False):
    """Puts a compressed dataset in place of another, without its chunk or with one."""

    def change(file):
        del file[name]
        dataset = file.create_dataset(name, shape, "<f4", chunks=chunks, compression="gzip", shuffle=shuffle)
        if chunk is not None:
            dataset.id.write_direct_chunk((0, 0), chunk)

    return change


UNSOUND = [
    (lambda file: file.pop("conditions"), "the text 'conditions' is missing"),
    (
        put("conditions", np.bytes_(json.dumps(["a:lost", "healthy", "b:lost"]))),
        "'conditions' must be 'healthy'",
    ),
    (
        put("conditions", np.bytes_(json.dumps(["healthy", "b:lost", "b:lost"]))),
        "first, and all different",
    ),
    (put("conditions", np.bytes_(json.dumps({"healthy": 1}))), "'conditions' must hold a JSON list"),
    (put("conditions", np.bytes_(b"[")), "'conditions' is not valid JSON"),
    (put("evidence_names", np.bytes_(json.dumps([1] * 10))), "'evidence_names' must hold a list of texts"),
    (lambda file: file.pop("noise"), "the array 'noise' is missing"),
    (
        put("objectives", TABLE.objectives.astype(float)),
        "'objectives' must be float32 of rank 2, not float64",
    ),
    (put("objectives", np.full((3, 5), np.nan, "<f4")), "'objectives' must be finite"),
    (put("objectives", TABLE.objectives[0]), "'objectives' must be float32 of rank 2, not float32 of rank 1"),
    (put("evidence", TABLE.evidence[:, :, 1:]), r"'evidence' must have shape \(3, 5, 10\)"),
    (put("noise", TABLE.noise[1:]), r"'noise' must have shape \(3, 5\), not \(2, 5\)"),
    (put("noise", -TABLE.noise), "'noise' must be finite and from 0 to inf"),
    (put("falls", TABLE.falls + 1), "'falls' must be finite and from 0 to 1"),
    (put("episodes", np.int64(0)), "'episodes' must be finite and from 1 to inf"),
    (compress("noise", (10**6, 10**6), (1000, 1000)), r"'noise' claims shape \(1000000, 1000000\)"),
    (compress("noise", (3, 5), (3, 5), shuffle=True), "'noise' must be compressed with gzip"),
    (compress("noise", (3, 5), (3, 5), chunk=bytes(60)), "damaged or incomplete"),
    (put("identity", np.bytes_(b"[]")), "'identity' must hold a JSON object"),
]


@pytest.mark.parametrize(("change", "message"), UNSOUND)
def test_what_is_not_a_sound_table_is_refused(path: Path, change, message: str) -> None:
    with h5py.File(path, "r+") as file:
        change(file)
        seal(file)
    with pytest.raises(InvalidFileError, match=message):
        read_table(path, REPERTOIRE)


@pytest.mark.parametrize("table", [made_up_table(k=4, names=NAMES), made_up_table(k=5)])
def test_a_table_that_does_not_fit_its_repertoire_is_refused(tmp_path: Path, table) -> None:
    write_table(tmp_path / "table.h5", table, IDENTITY)
    with pytest.raises(InvalidFileError, match=r"it has \d controllers and \d+ kinds of evidence"):
        read_table(tmp_path / "table.h5", REPERTOIRE)


def test_the_documentation_lists_what_is_there(path: Path) -> None:
    section = DOCS.read_text().split("## Rehearsals")[1].split("\n## ")[0]
    with h5py.File(path) as file:
        assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(file)
