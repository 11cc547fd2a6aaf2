"""Repertoires in files: one HDF5 file holds everything, and is believed only after it was checked.

`docs/format.md` describes the file.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import h5py
import numpy as np

from repertoire.archives import Elites
from repertoire.configuration import Configuration, make_configuration
from repertoire.contents import (
    Contents,
    find_group,
    read_attribute,
    read_tree,
    verify,
    write_attribute,
    write_tree,
)
from repertoire.hdf5 import create_file, open_file
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.robot import robot_from_text
from robots.simulation import robot_controller

FORMAT = "surefoot repertoire"
VERSION = 1

# how an MJCF has MuJoCo read other files, whatever their path
_REFERENCE = re.compile(r"<\s*include\b|\bfile\w*\s*=\s*(\"[^\"]*\"|'[^']*')?")
_SEARCH = "search"
_HISTORY = "history/"
_TEXTS = ("configuration", "controller", "robot/mjcf", "robot/yaml", "versions")
# type and rank
_ARRAYS = {
    "elites/cells": ("<i8", 1),
    "elites/solutions": ("<f4", 2),
    "elites/objectives": ("<f8", 1),
    "elites/measures": ("<f8", 2),
    "thresholds": ("<f8", 1),
}


def write_repertoire(
    path: Path, repertoire: Repertoire, *, search: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write a repertoire to a file in one step, replacing what was there.

    Args:
        path: the file; its folder must exist.
        repertoire: what to save.
        search: numeric arrays from which the search can be resumed, '/' in their names making groups; None
            once the run is finished.

    Raises:
        InvalidValueError: the repertoire is not one that could be read again.
        InvalidFileError: the file cannot be written; what was there before is untouched.
    """
    contents = _contents(repertoire)
    _check_texts(contents)
    _check_arrays(contents, repertoire.configuration)
    _check_fit(repertoire)
    with create_file(path) as file:
        write_attribute(file, "format", FORMAT)
        write_attribute(file, "version", VERSION)
        write_tree(file, contents)
        if search is not None:
            state = {name: np.asarray(value) for name, value in search.items()}
            write_tree(file.create_group(_SEARCH), Contents(state))


def read_repertoire(path: Path) -> Repertoire:
    """Read a repertoire.

    Raises:
        InvalidFileError: the file cannot be read, or is not a sound repertoire.
    """
    with open_file(path) as file:
        _check_format(file)
        contents = read_tree(file, without={_SEARCH})
        # what can be named is named before the checksum says only that something changed; MuJoCo's parser
        # comes after it, and so never sees a damaged robot
        _check_texts(contents)
        configuration = make_configuration(_parse_json(contents.texts, "configuration"))
        _check_arrays(contents, configuration)
        verify(file, contents)
        repertoire = _repertoire(contents, configuration)
        _check_fit(repertoire)
    return repertoire


def read_search(path: Path) -> dict[str, np.ndarray] | None:
    """Read the state that a search was saved with, or None if the file holds none: the run is finished.

    Raises:
        InvalidFileError: the file cannot be read, is not a repertoire, or the state is damaged.
    """
    with open_file(path) as file:
        _check_format(file)
        group = find_group(file, _SEARCH)
        if group is None:
            return None
        state = read_tree(group)
        verify(group, state)
        if state.texts:
            raise InvalidValueError(
                f"the search state must be numeric, but holds the text {min(state.texts)!r}"
            )
    return state.arrays


def _contents(repertoire: Repertoire) -> Contents:
    """What a file holds of a repertoire."""
    robot = repertoire.robot
    if robot.modifications:
        changes = ", ".join(change.label for change in robot.modifications)
        raise InvalidValueError(f"a repertoire is saved with the whole robot, but its robot has {changes}")
    elites = {f"elites/{name}": column for name, column in vars(repertoire.elites).items()}
    named = {**elites, "thresholds": repertoire.thresholds}
    arrays = {name: np.asarray(named[name], dtype) for name, (dtype, _) in _ARRAYS.items()}
    history = {_HISTORY + name: np.asarray(column) for name, column in repertoire.history.items()}
    texts = {
        "configuration": repertoire.configuration.model_dump_json(),
        "controller": repertoire.controller,
        "robot/mjcf": robot.xml,
        "robot/yaml": robot.yaml,
        "versions": json.dumps(repertoire.versions),
    }
    return Contents(arrays | history, texts)


def _repertoire(contents: Contents, configuration: Configuration) -> Repertoire:
    """The repertoire that checked contents describe."""
    arrays, texts = contents.arrays, contents.texts
    versions = _parse_json(texts, "versions")
    if not all(isinstance(version, str) for version in versions.values()):
        raise InvalidValueError("'versions' must map names to texts")
    return Repertoire(
        robot=robot_from_text(texts["robot/mjcf"], texts["robot/yaml"], origin="its robot"),
        controller=texts["controller"],
        configuration=configuration,
        elites=Elites(*(arrays[f"elites/{field.name}"] for field in fields(Elites))),
        thresholds=arrays["thresholds"],
        history={name.removeprefix(_HISTORY): arrays[name] for name in _columns(contents)},
        versions={name: str(version) for name, version in versions.items()},
    )


def _parse_json(texts: Mapping[str, str], name: str) -> dict[str, object]:
    """Parse a text that holds a JSON object."""
    try:
        value = json.loads(texts[name])
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{name!r} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidValueError(f"{name!r} must hold a JSON object")
    return value


def _check_format(file: h5py.File) -> None:
    """Raise if a file is not a repertoire in the version that is read here."""
    if read_attribute(file, "format", "S") != FORMAT:
        raise InvalidValueError(f"it is not a repertoire: it has no attribute 'format' that says {FORMAT!r}")
    version = read_attribute(file, "version", "i")
    if version is None:
        raise InvalidValueError(
            "it is a repertoire of unknown version: it has no attribute 'version' that is an integer"
        )
    if version != VERSION:
        raise InvalidValueError(
            f"it was written in version {version} of the format, this software reads version {VERSION}"
        )


def _check_texts(contents: Contents) -> None:
    """Raise if a text is missing, or the robot needs a file that is not in this one."""
    for name in _TEXTS:
        if name not in contents.texts:
            raise InvalidValueError(f"the text {name!r} is missing")
    reference = _REFERENCE.search(contents.texts["robot/mjcf"])
    if reference:
        raise InvalidValueError(
            f"'robot/mjcf' refers to another file ({reference[0]!r}), "
            "but a repertoire must need nothing beside it"
        )


def _check_arrays(contents: Contents, configuration: Configuration) -> None:
    """Raise if the arrays are not what the format says they are."""
    for name in _ARRAYS:
        if name not in contents.arrays:
            raise InvalidValueError(f"the array {name!r} is missing")
    for name in (*_ARRAYS, *_columns(contents)):
        array = contents.arrays[name]
        dtype, rank = _ARRAYS.get(name, (array.dtype, 1))
        if array.dtype != dtype or array.ndim != rank:
            raise InvalidValueError(
                f"{name!r} must be {np.dtype(dtype)} of rank {rank}, not {array.dtype} of rank {array.ndim}"
            )
    _check_elites(contents.arrays, configuration.archive)
    _check_thresholds(contents.arrays, configuration.archive)
    _check_history(contents)


def _check_elites(arrays: Mapping[str, np.ndarray], grid: tuple[int, ...]) -> None:
    """Raise if the elites' columns do not fit each other and the grid, or are not finite."""
    cells, total = arrays["elites/cells"], math.prod(grid)
    k = len(cells)
    _check_shape(arrays, "elites/solutions", (k, arrays["elites/solutions"].shape[1]))
    _check_shape(arrays, "elites/objectives", (k,))
    _check_shape(arrays, "elites/measures", (k, len(grid)))
    if k and not (cells[0] >= 0 and cells[-1] < total and (cells[1:] > cells[:-1]).all()):
        raise InvalidValueError(
            f"'elites/cells' must be different numbers from 0 to {total - 1} in ascending order"
        )
    for name in ("elites/solutions", "elites/objectives", "elites/measures"):
        finite = np.isfinite(arrays[name]).all(axis=tuple(range(1, arrays[name].ndim)))
        if not finite.all():
            raise InvalidValueError(f"{name!r} must be finite, but {k - finite.sum()} of {k} rows are not")


def _check_thresholds(arrays: Mapping[str, np.ndarray], grid: tuple[int, ...]) -> None:
    """Raise if the thresholds are not one per cell, or impossible."""
    thresholds, total = arrays["thresholds"], math.prod(grid)
    _check_shape(arrays, "thresholds", (total,))
    wrong = np.isnan(thresholds) | (thresholds == np.inf)  # -inf: nothing was accepted there yet
    if wrong.any():
        raise InvalidValueError(f"'thresholds' must be finite or -inf, but {wrong.sum()} of {total} are not")


def _check_history(contents: Contents) -> None:
    """Raise if the history's columns are not of equal length."""
    rows = {name: len(contents.arrays[name]) for name in _columns(contents)}
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name!r} has {length}" for name, length in rows.items())
        raise InvalidValueError(f"the columns of the history must have equally many rows, but {lengths}")


def _check_fit(repertoire: Repertoire) -> None:
    """Raise if a repertoire's parts do not fit its robot."""
    robot, controller = repertoire.robot, robot_controller(repertoire.robot)
    if repertoire.controller != controller.shape:
        raise InvalidValueError(
            f"its controllers are {repertoire.controller!r}, but those of its robot, {robot.name}, "
            f"are {controller.shape!r}"
        )
    if len(repertoire.grid) != robot.measure_dim:
        raise InvalidValueError(
            f"its grid has {len(repertoire.grid)} dimensions, but its robot, {robot.name}, "
            f"has {robot.measure_dim} measures"
        )
    arrays = {"elites/solutions": repertoire.elites.solutions}
    _check_shape(arrays, "elites/solutions", (len(repertoire), controller.parameter_count))


def _check_shape(arrays: Mapping[str, np.ndarray], name: str, expected: tuple[int, ...]) -> None:
    """Raise if an array has another shape."""
    if arrays[name].shape != expected:
        raise InvalidValueError(f"{name!r} must have shape {expected}, not {arrays[name].shape}")


def _columns(contents: Contents) -> list[str]:
    """Names of the history's columns."""
    return [name for name in contents.arrays if name.startswith(_HISTORY)]
