"""Files of a study: `study.json`, which describes it, and a small HDF5 file for the result of each trial."""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from repertoire.storage.formats import Array, Contents, Format
from repertoire.suites.results import TrialResult
from robots.errors import InvalidFileError, InvalidValueError
from robots.files import file_exists, make_folder, write_text

_STUDY = "study.json"
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
    contents = Contents({"objectives": result.objectives, **history}, {"scalars": json.dumps(scalars)})
    _FORMAT.check(contents)
    _FORMAT.write(path, contents)


def read_trial(path: Path) -> TrialResult:
    """Read a trial's result.

    Raises:
        InvalidFileError: the file cannot be read, or is not a sound result of a trial.
    """
    with _FORMAT.read(path) as contents:
        _FORMAT.check(contents)
        return _result(contents)


def _result(contents: Contents) -> TrialResult:
    """The result that verified contents describe."""
    scalars, expected = contents.json("scalars", dict), _scalars()
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


def keep_identity(folder: Path, identity: Mapping[str, Any], *, dry: bool = False) -> None:
    """Write what all results in a folder have in common to its `study.json`, or check it against that.

    Args:
        folder: made if it is missing.
        identity: by name. A value that is a mapping, such as the evaluations by robot, may have other entries
            than in the folder: entries of both must agree, and all are kept.
        dry: whether only to check, and to write nothing.

    Raises:
        InvalidValueError: the folder belongs to another study.
        InvalidFileError: the folder cannot be made, or its file cannot be read or written.
    """
    if not dry:
        make_folder(folder)
    path = folder / _STUDY
    found = _read_identity(path) if file_exists(path) else {}
    if found and not _agree(found, identity):
        raise InvalidValueError(
            f"{folder} holds another study ({_describe(found)}), not this one "
            f"({_describe(identity)}): choose another folder with --out"
        )
    united = {
        name: {**found.get(name, {}), **value} if isinstance(value, Mapping) else value
        for name, value in identity.items()
    }
    if united != found and not dry:
        write_text(path, json.dumps(united, indent=2) + "\n")


def _read_identity(path: Path) -> dict[str, Any]:
    """Read what is written down; an entry that fits no study if it is something else."""
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(
            f"{path} does not describe a study ({error}): choose another folder with --out"
        ) from error
    return found if isinstance(found, dict) and found else {"of": "unknown kind"}


def _agree(found: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Return whether two identities can be those of one study."""
    if found.keys() != identity.keys():
        return False
    return all(
        isinstance(found[name], dict)
        and all(found[name].get(key, part) == part for key, part in value.items())
        if isinstance(value, Mapping)
        else found[name] == value
        for name, value in identity.items()
    )


def _describe(identity: Mapping[str, Any]) -> str:
    """Return an identity in words."""
    return ", ".join(
        f"{name} ({_describe(value)})" if isinstance(value, Mapping) else f"{name} {value}"
        for name, value in identity.items()
    )
