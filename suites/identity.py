"""`study.json`, which says what all results in a folder have in common."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robots.errors import InvalidFileError, InvalidValueError, shown
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.locks import locked
from robots.files.texts import parse_json, read_text

_STUDY = "study.json"
_PATIENCE = 30.0  # [s] for other processes that begin at the same moment


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
    path = folder / _STUDY
    if dry:
        _unite(path, identity)
        return
    make_folder(folder)
    if file_exists(path) and _unite(path, identity) == _read_identity(path):
        return  # as for most of many processes that share the folder
    with locked(path, patience=_PATIENCE):
        write_text(path, json.dumps(_unite(path, identity), indent=2) + "\n")


def _unite(path: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity with the entries of the one in a file, if there is one; raise if they disagree."""
    found = _read_identity(path) if file_exists(path) else {}
    if found and not _agree(found, identity):
        raise InvalidValueError(
            f"{path.parent} holds another study ({_describe(found)}), not this one "
            f"({_describe(identity)}): choose another folder"
        )
    return {
        name: {**found.get(name, {}), **value} if isinstance(value, Mapping) else value
        for name, value in identity.items()
    }


def _read_identity(path: Path) -> dict[str, Any]:
    """Read what is written down; an entry that fits no study if it is something else."""
    text = read_text(path)
    try:
        found = parse_json(text)
    except InvalidValueError as error:
        raise InvalidFileError(
            f"{path} does not describe a study ({error}): choose another folder"
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
        f"{name} ({_describe(value)})"
        if isinstance(value, Mapping)
        else f"{name} {value if isinstance(value, str) else shown(value)}"
        for name, value in identity.items()
    )
