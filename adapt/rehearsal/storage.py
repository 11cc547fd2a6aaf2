"""Rehearsal tables in files: small, and believed only after they were checked.

`docs/format.md` describes the file.
"""

import json
from pathlib import Path

from adapt.damage import HEALTHY
from adapt.evidence import evidence_names
from adapt.rehearsal.packing import check_arrays, pack, unpack
from adapt.rehearsal.table import Table
from repertoire.evaluation import robot_label
from repertoire.repertoire import Repertoire
from repertoire.storage.contents import (
    Contents,
    read_attribute,
    read_tree,
    verify,
    write_attribute,
    write_tree,
)
from repertoire.storage.hdf5 import create_file, open_file
from repertoire.storage.repertoires import fingerprint
from repertoire.storage.unfinished import Identity
from robots.errors import InvalidValueError
from robots.robot import Robot

_FORMAT = "surefoot rehearsal"
_VERSION = 2
_TEXTS = ("conditions", "evidence_names", "identity")


def rehearsal_path(repertoire: Path) -> Path:
    """Where a repertoire's rehearsal is kept: beside it, under its name and `-rehearsal`.

    Args:
        repertoire: its file.
    """
    return repertoire.with_name(f"{repertoire.stem}-rehearsal{repertoire.suffix}")


def write_table(path: Path, table: Table, identity: Identity) -> None:
    """Write a table to a file in one step.

    Args:
        path: the file; its folder must exist.
        table: what a rehearsal found.
        identity: what it is a function of, by name; `repertoire` is that repertoire's fingerprint.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    texts = {
        "conditions": json.dumps(table.conditions),
        "evidence_names": json.dumps(table.evidence_names),
        "identity": json.dumps(dict(identity)),
    }
    with create_file(path) as file:
        write_attribute(file, "format", _FORMAT)
        write_attribute(file, "version", _VERSION)
        write_tree(file, Contents(pack(table), texts))


def read_table(path: Path, repertoire: Repertoire, *, robot: Robot | None = None) -> Table:
    """Read a table.

    Its numbers are those that were written but for their precision, see `packing`.

    Args:
        path: the file.
        repertoire: that was rehearsed.
        robot: on which, if not on the repertoire's.

    Raises:
        InvalidFileError: the file cannot be read, is no sound table, or is that of another repertoire or of
            another robot.
    """
    with open_file(path) as file:
        if read_attribute(file, "format", "S") != _FORMAT:
            raise InvalidValueError(
                f"it is not a rehearsal: it has no attribute 'format' that says {_FORMAT!r}"
            )
        version = read_attribute(file, "version", "i")
        if version != _VERSION:
            raise InvalidValueError(
                f"it is a rehearsal in version {version} of the format, this software reads {_VERSION}: "
                "rehearse the repertoire with it"
            )
        contents = read_tree(file)
        _check_texts(contents)
        conditions, names = (tuple(_names(contents, text)) for text in ("conditions", "evidence_names"))
        check_arrays(contents.arrays, conditions=len(conditions), evidence=len(names))
        verify(file, contents)
        _check_identity(contents, repertoire, robot or repertoire.robot)
        return unpack(contents.arrays, conditions, names)


def _names(contents: Contents, text: str) -> list[str]:
    """The names that a text lists."""
    names = json.loads(contents.texts[text])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidValueError(f"{text!r} must hold a list of texts")
    return names


def _check_texts(contents: Contents) -> None:
    """Raise if a text is missing, or the conditions are impossible."""
    for name in _TEXTS:
        if name not in contents.texts:
            raise InvalidValueError(f"the text {name!r} is missing")
    conditions = _names(contents, "conditions")
    if conditions[:1] != [HEALTHY] or len(set(conditions)) < len(conditions):
        raise InvalidValueError(f"'conditions' must be {HEALTHY!r} and then others, each once")


def _check_identity(contents: Contents, repertoire: Repertoire, robot: Robot) -> None:
    """Raise if a table is not of the repertoire, or not on the robot."""
    identity = json.loads(contents.texts["identity"])
    found = identity.get("repertoire") if isinstance(identity, dict) else None
    expected = fingerprint(repertoire)
    if found != expected:
        raise InvalidValueError(
            f"it is the rehearsal of another repertoire (checksum {str(found)[:16]}, not {expected[:16]}): "
            "rehearse this one"
        )
    ran_on = identity.get("robot", robot_label(repertoire.robot))
    if ran_on != robot_label(robot):
        raise InvalidValueError(
            f"it was rehearsed on another robot ({str(ran_on)[:40]}, not {robot_label(robot)})"
        )
    k, names = contents.arrays["objectives"].shape[1], _names(contents, "evidence_names")
    if k != len(repertoire) or tuple(names) != evidence_names(repertoire.robot):
        raise InvalidValueError(
            f"it has {k} controllers and {len(names)} kinds of evidence, which is not what the repertoire "
            f"of {len(repertoire)} has"
        )
