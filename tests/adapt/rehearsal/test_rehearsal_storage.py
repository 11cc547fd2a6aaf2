"""Rehearsal tables in files: small, exact where it matters, and refused when unsound."""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from adapt.evidence import evidence_names
from adapt.rehearsal.packing import pack, unpack
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
ARRAYS = pack(TABLE)
IDENTITY = {"repertoire": fingerprint(REPERTOIRE), "seed": 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_table(tmp_path / "table.h5", TABLE, IDENTITY)
    return tmp_path / "table.h5"


def test_what_is_written_is_read(path: Path) -> None:
    table = read_table(path, REPERTOIRE)
    assert table.conditions == TABLE.conditions
    assert table.evidence_names == NAMES
    assert table.episodes == TABLE.episodes
    assert np.array_equal(table.falls, TABLE.falls)
    assert table.objectives == pytest.approx(TABLE.objectives, abs=float(np.ptp(TABLE.objectives)) / 131_000)
    off = np.abs(table.evidence - TABLE.evidence)
    assert (off <= np.ptp(TABLE.evidence, axis=(0, 1)) / 509).all()
    for read, written, axes, steps in (
        (table.noise, TABLE.noise, (0, 1), 255),
        (table.evidence_std, TABLE.evidence_std, (0, 1), 15),
    ):
        roots = np.sqrt([read, written] / written.max(axis=axes))
        assert 0 < np.abs(roots[0] - roots[1]).max() <= 0.501 / steps
    for name in ("objectives", "noise", "falls", "evidence", "evidence_std"):
        assert getattr(table, name).dtype == np.float32


def test_reading_and_writing_again_changes_nothing(path: Path, tmp_path: Path) -> None:
    write_table(tmp_path / "again.h5", read_table(path, REPERTOIRE), IDENTITY)
    assert (tmp_path / "again.h5").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("episodes", [1, 255, 256, 1000])
def test_falls_are_exact_for_any_number_of_episodes(tmp_path: Path, episodes: int) -> None:
    table = made_up_table(k=len(REPERTOIRE), names=NAMES, episodes=episodes)
    write_table(tmp_path / "table.h5", table, IDENTITY)
    assert np.array_equal(read_table(tmp_path / "table.h5", REPERTOIRE).falls, table.falls)


@pytest.mark.parametrize("count", [3, 4])
def test_numbers_that_never_vary_and_ends_of_ranges_are_exact(count: int) -> None:
    table = made_up_table(names=tuple(f"number {i}" for i in range(count)))
    table.evidence[..., 0] = 0.1
    table.evidence_std[..., 1] = 0
    again = unpack(pack(table), table.conditions, table.evidence_names)
    assert (again.evidence[..., 0] == np.float32(0.1)).all()
    assert not again.evidence_std[..., 1].any()
    for name in ("objectives", "evidence"):
        read, written = getattr(again, name), getattr(table, name)
        assert (read.min(), read.max()) == (written.min(), written.max())


def test_a_library_of_96_and_2000_gaits_takes_less_than_4_3_megabytes(tmp_path: Path) -> None:
    names = tuple(f"number {i}" for i in range(12))  # six feet and six others
    write_table(tmp_path / "large.h5", made_up_table(d=96, k=2000, names=names), IDENTITY)
    assert (tmp_path / "large.h5").stat().st_size < 4_300_000


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
    with pytest.raises(InvalidFileError, match="it is not a rehearsal: it has no attribute 'format'"):
        read_table(tmp_path / "repertoire.h5", REPERTOIRE)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = np.int64(1)
    with pytest.raises(InvalidFileError, match="in version 1 of the format, this software reads 2"):
        read_table(path, REPERTOIRE)


def test_damage_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    with h5py.File(path, "r+") as file:
        file["objectives"][0, 0] += 1
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


def put(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


UNSOUND = [
    (lambda file: file.pop("conditions"), "the text 'conditions' is missing"),
    (
        put("conditions", np.bytes_(json.dumps(["a:lost", "healthy", "b:lost"]))),
        "'conditions' must be 'healthy'",
    ),
    (put("conditions", np.bytes_(json.dumps(["healthy", "b:lost", "b:lost"]))), "others, each once"),
    (put("conditions", np.bytes_(json.dumps({"healthy": 1}))), "'conditions' must hold a list of texts"),
    (put("conditions", np.bytes_(b"[")), "damaged or incomplete"),
    (put("evidence_names", np.bytes_(json.dumps([1] * 10))), "'evidence_names' must hold a list of texts"),
    (lambda file: file.pop("noise"), r"the array 'noise' of type \|u1 is missing"),
    (put("objectives", ARRAYS["objectives"].astype(float)), "the array 'objectives' of type <u2 is missing"),
    (put("falls", ARRAYS["falls"].astype("<i8")), r"the array 'falls' of type \|u1 or <u2 is missing"),
    (put("objectives_range", np.array([0, np.nan], "<f4")), "'objectives_range' must be finite"),
    (put("objectives_range", np.array([1, 0], "<f4")), "'objectives_range' must go from low to high"),
    (put("evidence_range", -ARRAYS["evidence_range"]), "'evidence_range' must go from low to high"),
    (put("objectives", ARRAYS["objectives"][0]), r"'objectives' must have shape \(3, 5\), not \(5,\)"),
    (put("objectives", np.uint16(1)), r"'objectives' must have shape \(3, 0\), not \(\)"),
    (put("evidence", ARRAYS["evidence"][:, :, 1:]), r"'evidence' must have shape \(3, 5, 10\)"),
    (put("evidence_std", ARRAYS["evidence"]), r"'evidence_std' must have shape \(3, 5, 5\)"),
    (put("noise_scale", np.float32(-1)), "must not be negative"),
    (put("evidence_scale", -ARRAYS["evidence_scale"]), "must not be negative"),
    (put("episodes", np.int64(0)), "'episodes' must be at least 1"),
    (put("falls", np.full((3, 5), 5, "|u1")), "at least every number of 'falls'"),
    (put("identity", np.bytes_(b"[]")), r"rehearsal of another repertoire \(checksum None"),
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
