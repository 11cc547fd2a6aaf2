"""Rehearsal tables in files: small, exact where it matters, and refused when unsound."""

import json
from dataclasses import replace

import h5py
import numpy as np
import pytest

from adapt.evidence import evidence_names
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table, survivals
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidFileError, UnknownNameError
from tests.adapt.rehearsal.small import small_repertoire, small_robot
from tests.repertoire.storage.test_storage import seal


def made_up_table(d: int = 3, k: int = 5, names: tuple[str, ...] = ("a", "b"), episodes: int = 4) -> Table:
    rng = np.random.default_rng(0)
    shown = (d, k, len(names))
    return Table(
        conditions=("healthy", *(f"leg_{i}:lost" for i in range(1, d))),
        objectives=rng.normal(1, 1, (d, k)).astype(np.float32),
        noise=rng.exponential(0.05, (d, k)).astype(np.float32),
        falls=(rng.integers(0, episodes + 1, (d, k)) / episodes).astype(np.float32),
        evidence=rng.normal(0, 1, shown).astype(np.float32),
        evidence_std=rng.exponential(0.1, shown).astype(np.float32),
        evidence_names=names,
        episodes=episodes,
    )


REPERTOIRE = small_repertoire()
NAMES = evidence_names(small_robot())
TABLE = made_up_table(k=len(REPERTOIRE), names=NAMES)
IDENTITY = {"repertoire": fingerprint(REPERTOIRE), "seed": 3}


@pytest.fixture
def path(tmp_path):
    write_table(tmp_path / "table.h5", TABLE, IDENTITY)
    return tmp_path / "table.h5"


def test_what_is_written_is_read_but_for_rounding(tmp_path) -> None:
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


UNSOUND = {  # what the format of all files does not check by itself, and an example of what it does
    "healthy is not first": ("conditions", ["a:lost", "healthy", "b:lost"]),
    "a condition twice": ("conditions", ["healthy", "b:lost", "b:lost"]),
    "an unknown kind": ("conditions", ["healthy", "a:lost", "b:gone"]),
    "half a damage": ("conditions", ["healthy", "a:lost", "b:weak"]),
    "names that are no texts": ("evidence_names", [1] * 10),
    "other names": ("evidence_names", list("abcdefghij")),
    "a gait less": ("objectives", TABLE.objectives[:, 1:]),
    "fewer conditions": ("noise", TABLE.noise[1:]),
    "less evidence": ("evidence", TABLE.evidence[:, :, 1:]),
    "shares above 1": ("falls", TABLE.falls + 1),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_what_is_not_a_sound_table_is_refused(path, case: str) -> None:
    name, value = UNSOUND[case]
    with h5py.File(path, "r+") as file:
        del file[name]
        file[name] = np.bytes_(json.dumps(value)) if isinstance(value, list) else value
        seal(file)
    with pytest.raises(InvalidFileError, match=f"{name}|unknown kind of damage"):
        read_table(path, REPERTOIRE)


# Tables: how they come from episodes, their parts, and what they say is left under each damage.


OBJECTIVES = np.array([[2.0, 1.5, 1.7, 0], [0.2, 1.0, 0.79, 0.8], [-2, -3, -2, -1]], np.float32)
LEFT = replace(
    made_up_table(d=3, k=4),
    objectives=OBJECTIVES,
    falls=np.array([[0, 0, 0, 0], [0, 0.5, 0, 0], [1, 1, 1, 0]], np.float32),
)


def test_some_conditions_in_another_order() -> None:
    table = made_up_table(d=4)
    part = table.take(["leg_3:lost", "healthy"])
    assert len(part) == 2
    assert part.conditions == ("leg_3:lost", "healthy")
    for name in ("objectives", "noise", "falls", "evidence", "evidence_std"):
        assert np.array_equal(getattr(part, name), getattr(table, name)[[3, 0]])
    assert (part.evidence_names, part.episodes) == (table.evidence_names, table.episodes)
    with pytest.raises(UnknownNameError, match=r"the rehearsal 'leg_9:lost'.*available: healthy"):
        table.take(["leg_9:lost"])


def test_what_survives_by_hand() -> None:
    left = survivals(LEFT)
    assert left.index.tolist() == ["healthy", "leg_1:lost", "leg_2:lost"]
    assert left["best gait"].tolist() == [2, 1, -1]
    assert left["of healthy"].tolist() == [1, 0.5, -0.5]
    assert left["incumbent"].tolist() == pytest.approx([1, 0.1, -1])
    assert left["good gaits"].tolist() == [2, 2, 1]
    assert left["falls"].tolist() == [0, 0.125, 0.75]
    nothing = survivals(replace(LEFT, objectives=OBJECTIVES - 3))
    assert nothing[["of healthy", "incumbent"]].isna().all(axis=None)
    assert nothing["good gaits"].tolist() == [1, 1, 1]
