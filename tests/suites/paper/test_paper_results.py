"""Trials in files: exact round trips, and refusals of what is not a sound result."""

import json
import re

import h5py
import numpy as np
import pytest

from repertoire.storage.formats import read_group, write_group
from robots.errors import InvalidFileError
from suites.paper.results import read_trial, write_trial
from tests.suites.paper.made_results import make_result

HISTORY = {
    "evaluations": np.array([200, 400]),
    "qd_score": np.array([1.5, 2.5]),
    "coverage": np.array([0.1, 0.2]),
    "best": np.array([np.nan, 99.9]),
}
CELLS = np.array([[1.5, np.nan], [2.5, -np.inf]], np.float32)
RESULT = make_result(
    "sphere-10", "sep-cma-mae", 3, qd_score=12345.678901234567, machine="é", history=HISTORY, objectives=CELLS
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "trial.h5"
    write_trial(path, RESULT)
    return path


def test_a_result_comes_back_exactly(path):
    for name, found in read_trial(path):
        wanted = getattr(RESULT, name)
        assert type(found) is type(wanted)
        np.testing.assert_equal(found, wanted, err_msg=name, strict=isinstance(wanted, np.ndarray))
    assert read_trial(path).history["evaluations"].dtype == np.int64


def scalar(name, value):
    def edit(contents):
        contents.texts["scalars"] = json.dumps(json.loads(contents.texts["scalars"]) | {name: value})

    return edit


def column(name, value):
    return lambda contents: contents.arrays.update({f"history/{name}": value})


DOCTORED = {
    "no scalars": (lambda c: c.texts.clear(), "the text 'scalars' is missing"),
    "a scalar more": (scalar("colour", 1), "unknown key 'colour'"),
    "nothing for a number": (scalar("qd_score", None), "qd_score: input should be a valid number, not None"),
    "uneven columns": (column("best", np.zeros(3)), r"'history/coverage' must have shape \(3,\), not \(2,\)"),
    "no numbers": (column("best", np.zeros(2, bool)), "the history must have numbers of best"),
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
    with pytest.raises(InvalidFileError, match=f"^{re.escape(str(path))}.*{message}"):
        read_trial(path)
