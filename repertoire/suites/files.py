"""Trials in files: one small HDF5 file each, written in one step and believed only after it was checked."""

import json
from dataclasses import fields
from pathlib import Path

from repertoire.storage.hdf5 import Contents, create_file, open_file
from repertoire.storage.schema import Array, Format, parse_json
from repertoire.suites.results import TrialResult
from robots.errors import InvalidValueError

_FORMAT = Format(
    "surefoot trial",
    version=2,
    arrays={
        "objectives": Array("<f4", None, finite=False),
        "history/*": Array(None, ("rows",), finite=False),
    },
    texts=("scalars",),
)
_COLUMNS = {"evaluations", "qd_score", "coverage", "best"}
_TYPES = {"str": str, "int": int, "float": float}


def write_trial(path: Path, result: TrialResult) -> None:
    """Write a trial's result to a file in one step.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    history = {f"history/{name}": column for name, column in result.history.items()}
    scalars = {name: getattr(result, name) for name in _scalars()}
    with create_file(path) as file:
        _FORMAT.save(
            file, Contents({"objectives": result.objectives, **history}, {"scalars": json.dumps(scalars)})
        )


def read_trial(path: Path) -> TrialResult:
    """Read a trial's result.

    Raises:
        InvalidFileError: the file cannot be read, or is not a sound result of a trial.
    """
    with open_file(path) as file:
        contents = _FORMAT.load(file)
        return _result(contents)


def _result(contents: Contents) -> TrialResult:
    """The result that verified contents describe."""
    scalars, expected = parse_json(contents, "scalars", dict), _scalars()
    if scalars.keys() != expected.keys():
        raise InvalidValueError(f"its scalars must be {', '.join(expected)}")
    for name, wanted in expected.items():
        if type(scalars[name]) is not wanted:
            raise InvalidValueError(f"{name!r} must be of type {wanted.__name__}, not {scalars[name]!r}")
    history = contents.group("history")
    if not history.keys() >= _COLUMNS:
        raise InvalidValueError(f"the history must have the columns {', '.join(sorted(_COLUMNS))}")
    if any(column.dtype.kind not in "iuf" for column in history.values()):
        raise InvalidValueError("the columns of the history must hold real numbers")
    return TrialResult(**scalars, history=history, objectives=contents.arrays["objectives"])


def _scalars() -> dict[str, type]:
    """Names and types of the fields that are one value each."""
    types = {field.name: getattr(field.type, "__name__", field.type) for field in fields(TrialResult)}
    return {name: _TYPES[kind] for name, kind in types.items() if kind in _TYPES}
