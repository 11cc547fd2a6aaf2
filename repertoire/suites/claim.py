"""`claim`: a folder belongs to one study, and says to which."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robots.errors import InvalidFileError, InvalidValueError
from robots.files import file_exists, make_folder, write_text

_NAME = "study.json"


def claim(folder: Path, identity: Mapping[str, object], *, dry: bool = False) -> None:
    """Write down what the trials in a folder have in common, or check it.

    Args:
        folder: made if it is missing.
        identity: by name. What is a mapping itself, such as the evaluations by robot, may have gained or lost
            entries since: those in the folder and those given must agree where both have one, and are kept.
        dry: whether only to check, and to make and write nothing.

    Raises:
        InvalidValueError: the folder belongs to another study.
        InvalidFileError: the folder cannot be made, or its file cannot be read or written.
    """
    if not dry:
        make_folder(folder)
    path = folder / _NAME
    found = _read(path) if file_exists(path) else {}
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


def _read(path: Path) -> dict[str, Any]:
    """What is written down; a single entry of something else if it is not an object."""
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(
            f"{path} does not describe a study ({error}): choose another folder with --out"
        ) from error
    return found if isinstance(found, dict) and found else {"of": "unknown kind"}


def _agree(found: Mapping[str, Any], identity: Mapping[str, object]) -> bool:
    """Whether two identities can be those of one study."""
    if found.keys() != identity.keys():
        return False
    for name, value in identity.items():
        other = found[name]
        if not isinstance(value, Mapping):
            same = other == value
        else:
            same = isinstance(other, dict) and all(
                other.get(key, part) == part for key, part in value.items()
            )
        if not same:
            return False
    return True


def _describe(identity: Mapping[str, object]) -> str:
    """A study's identity in words."""
    return ", ".join(
        f"{name} ({_describe(value)})" if isinstance(value, Mapping) else f"{name} {value}"
        for name, value in identity.items()
    )
