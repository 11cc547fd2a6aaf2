"""Trials in files: one small HDF5 file each, written in one step and believed only after it was checked."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from repertoire.storage.contents import (
    Contents,
    read_attribute,
    read_tree,
    verify,
    write_attribute,
    write_tree,
)
from repertoire.storage.hdf5 import create_file, open_file
from repertoire.suites.results import TrialResult
from robots.errors import InvalidValueError

_FORMAT = "surefoot trial"
_VERSION = 2
_HISTORY = "history/"
_COLUMNS = {"evaluations", "qd_score", "coverage", "best"}
_TYPES = {"str": str, "int": int, "float": float}


def write_trial(path: Path, result: TrialResult) -> None:
    """Write a trial's result to a file in one step.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    history = {_HISTORY + name: column for name, column in result.history.items()}
    scalars = {name: getattr(result, name) for name in _scalars()}
    with create_file(path) as file:
        write_attribute(file, "format", _FORMAT)
        write_attribute(file, "version", _VERSION)
        write_tree(
            file, Contents({"objectives": result.objectives, **history}, {"scalars": json.dumps(scalars)})
        )


def read_trial(path: Path) -> TrialResult:
    """Read a trial's result.

    Raises:
        InvalidFileError: the file cannot be read, or is not a sound result of a trial.
    """
    with open_file(path) as file:
        if read_attribute(file, "format", "S") != _FORMAT or read_attribute(file, "version", "i") != _VERSION:
            raise InvalidValueError(f"it is not the result of a trial in version {_VERSION} of the format")
        contents = read_tree(file)
        verify(file, contents)
        return _result(contents)


def _result(contents: Contents) -> TrialResult:
    """The result that verified contents describe."""
    scalars = json.loads(contents.texts.get("scalars", "null"))
    expected = _scalars()
    if not isinstance(scalars, dict) or scalars.keys() != expected.keys():
        raise InvalidValueError(f"its scalars must be {', '.join(expected)}")
    for name, wanted in expected.items():
        if type(scalars[name]) is not wanted:
            raise InvalidValueError(f"{name!r} must be of type {wanted.__name__}, not {scalars[name]!r}")
    history = {
        name.removeprefix(_HISTORY): column
        for name, column in contents.arrays.items()
        if name.startswith(_HISTORY)
    }
    objectives = contents.arrays.get("objectives")
    if objectives is None or objectives.dtype != np.float32:
        raise InvalidValueError("'objectives' must be float32")
    if not history.keys() >= _COLUMNS:
        raise InvalidValueError(f"the history must have the columns {', '.join(sorted(_COLUMNS))}")
    rows = history["evaluations"].size
    if any(column.shape != (rows,) or column.dtype.kind not in "iuf" for column in history.values()):
        raise InvalidValueError("the columns of the history must hold equally many real numbers")
    return TrialResult(**scalars, history=history, objectives=objectives)


def _scalars() -> dict[str, type]:
    """Names and types of the fields that are one value each."""
    types = {field.name: getattr(field.type, "__name__", field.type) for field in fields(TrialResult)}
    return {name: _TYPES[kind] for name, kind in types.items() if kind in _TYPES}
