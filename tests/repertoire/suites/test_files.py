"""Trials in files: exact round trips, and refusals of what is not a sound result."""

import dataclasses
import json
import re

import h5py
import numpy as np
import pytest

from repertoire.storage.formats import read_group, write_group
from repertoire.suites.files import read_trial, write_trial
from repertoire.suites.results import TrialResult
from robots.errors import InvalidFileError, InvalidValueError

RESULT = TrialResult(
    domain="sphere-10",
    algorithm="sep-cma-mae",
    trial=3,
    seed=2**31,
    evaluations=400,
    qd_score=12345.678901234567,
    coverage=0.1,
    best=1e300,
    seconds=2.0,
    cpu_seconds=1.5,
    search_seconds=1e-9,
    evaluation_seconds=0.1 + 0.2,
    search_bytes=2**40,
    restarts=0,
    machine="a processor é",
    saving_seconds=0.0,
    versions="python 3",
    threads=1,
    learning_rate=0.001,
    min_objective=0.0,
    steps=0,
    episode_steps=0,
    episodes=0,
    left_out=0,
    raw_qd_score=1.0,
    raw_coverage=0.1,
    raw_best=2.0,
    history={
        "evaluations": np.array([200, 400]),
        "qd_score": np.array([1.5, 2.5]),
        "coverage": np.array([0.1, 0.2]),
        "best": np.array([np.nan, 99.9]),
    },
    objectives=np.array([[1.5, np.nan], [2.5, -np.inf]], np.float32),
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "trial.h5"
    write_trial(path, RESULT)
    return path


def assert_same(actual: TrialResult, expected: TrialResult) -> None:
    for field in dataclasses.fields(TrialResult):
        found, wanted = getattr(actual, field.name), getattr(expected, field.name)
        assert type(found) is type(wanted)
        np.testing.assert_equal(found, wanted, err_msg=field.name, strict=isinstance(wanted, np.ndarray))


def test_a_result_comes_back_exactly(path):
    assert_same(read_trial(path), RESULT)
    assert read_trial(path).history["evaluations"].dtype == np.int64


@pytest.mark.parametrize("changes", [{"qd_score": float("nan")}, {"best": float("-inf")}, {"machine": ""}])
def test_special_values_come_back_exactly(path, changes):
    result = dataclasses.replace(RESULT, **changes)
    write_trial(path, result)
    assert_same(read_trial(path), result)


def test_an_empty_history_comes_back(path):
    result = dataclasses.replace(RESULT, history={name: np.zeros(0) for name in RESULT.history})
    write_trial(path, result)
    assert_same(read_trial(path), result)


def test_the_same_result_gives_the_same_bytes(path, tmp_path):
    write_trial(tmp_path / "other.h5", RESULT)
    assert path.read_bytes() == (tmp_path / "other.h5").read_bytes()


def scalar(name, value):
    def edit(contents):
        contents.texts["scalars"] = json.dumps(json.loads(contents.texts["scalars"]) | {name: value})

    return edit


def column(name, value):
    return lambda contents: contents.arrays.update({f"history/{name}": value})


DOCTORED = {
    "no scalars": (lambda c: c.texts.clear(), "the text 'scalars' is missing"),
    "scalars cut": (lambda c: c.texts.update(scalars="{"), ""),
    "scalars deep": (lambda c: c.texts.update(scalars="[" * 10**5), ""),
    "scalars a list": (lambda c: c.texts.update(scalars="[]"), "'scalars' must hold a JSON object"),
    "a scalar more": (scalar("colour", 1), "its scalars must be domain"),
    "text for a count": (scalar("trial", "3"), "'trial' must be of type int, not '3'"),
    "truth for a count": (scalar("trial", True), "'trial' must be of type int, not True"),
    "fraction for a count": (scalar("seed", 1.5), "'seed' must be of type int, not 1.5"),
    "list for a text": (scalar("domain", ["x"]), r"'domain' must be of type str, not \['x'\]"),
    "nothing for a number": (scalar("qd_score", None), "'qd_score' must be of type float, not None"),
    "no objectives": (lambda c: c.arrays.pop("objectives"), "the array 'objectives' is missing"),
    "wide objectives": (
        lambda c: c.arrays.update(objectives=np.zeros((2, 2))),
        "'objectives' must be float32",
    ),
    "no history": (
        lambda c: [c.arrays.pop(name) for name in [*c.arrays] if name.startswith("history/")],
        "the history must have the columns best, coverage, evaluations, qd_score",
    ),
    "no evaluations": (
        lambda c: c.arrays.pop("history/evaluations"),
        "the history must have the columns best",
    ),
    "uneven columns": (column("best", np.zeros(3)), r"'history/coverage' must have shape \(3,\), not \(2,\)"),
    "a table": (column("best", np.zeros((2, 2))), "'history/best' must be float64 of rank 1"),
    "a number": (
        column("evaluations", np.array(2)),
        "'history/evaluations' must be int64 of rank 1",
    ),
    "complex numbers": (column("best", np.zeros(2, complex)), "the columns of the history must hold"),
}


@pytest.mark.parametrize("case", DOCTORED)
def test_what_is_not_a_sound_result_is_refused(path, case):
    edit, message = DOCTORED[case]
    with h5py.File(path) as file:
        contents = read_group(file)
    edit(contents)
    with h5py.File(path, "w", libver="v108") as file:
        file.attrs["format"], file.attrs["version"] = np.bytes_(b"surefoot trial"), np.int64(2)
        write_group(file, contents)
    with pytest.raises(InvalidFileError, match=f"^{re.escape(str(path))}.*{message}") as refusal:
        read_trial(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("format", np.bytes_(b"surefoot repertoire")), ("format", 3), ("version", 1), ("version", 1.0)],
)
def test_another_format_or_version_is_refused(path, attribute, value):
    with h5py.File(path, "r+") as file:
        file.attrs[attribute] = value
    with pytest.raises(InvalidFileError, match="surefoot trial"):
        read_trial(path)


def test_what_does_not_match_its_checksum_is_refused(path):
    with h5py.File(path, "r+") as file:
        file["objectives"][0, 0] = 7
    with pytest.raises(InvalidFileError, match="does not match its checksum"):
        read_trial(path)


def test_what_is_not_a_whole_file_is_refused(path, tmp_path):
    whole = path.read_bytes()
    for size, message in ((0, "it is not an HDF5 file"), (len(whole) // 2, "damaged"), (-1, "damaged")):
        path.write_bytes(whole[:size])
        with pytest.raises(InvalidFileError, match=f"{re.escape(str(path))}.*{message}"):
            read_trial(path)
    with pytest.raises(InvalidFileError, match="no such file"):
        read_trial(tmp_path / "none.h5")


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(InvalidFileError, match="cannot be written"):
        write_trial(tmp_path / "missing" / "trial.h5", RESULT)
    texts = dataclasses.replace(RESULT, history={"evaluations": np.array(["x"])})
    with pytest.raises(InvalidValueError, match="'history/evaluations' must be numeric to be saved"):
        write_trial(tmp_path / "trial.h5", texts)
    assert list(tmp_path.iterdir()) == []
