"""Repertoires in files: one HDF5 file holds everything, and is believed only after it was checked.

`docs/format.md` describes the file.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import h5py
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from repertoire.archives.archive import Elites
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire, Spread
from repertoire.storage.arrays import (
    HISTORY,
    KINDS,
    SPREAD,
    check_arrays,
    check_shape,
    columns_of_history,
    has_spread,
)
from repertoire.storage.contents import (
    Contents,
    checksum,
    find_group,
    read_attribute,
    read_tree,
    verify,
    write_attribute,
    write_tree,
)
from repertoire.storage.hdf5 import create_file, open_file
from repertoire.training.settings import Settings, make_settings, validate
from robots.errors import InvalidValueError
from robots.importing.mjcf import find_reference
from robots.robot import robot_from_text
from robots.validation import Steps

FORMAT = "surefoot repertoire"
VERSION = 2

_SEARCH = "search"
_TEXTS = ("problem", "settings", "versions")
_ROBOT_TEXTS = (
    "controller",
    "robot/mjcf",
    "robot/yaml",
)  # all of them, or none without a robot
_NO_ROBOT = {"robot", "controller"}  # the facts of a problem that are stored as texts of their own


class _ProblemFacts(BaseModel):
    """The JSON text of a problem's facts; `episode_steps` is that of its robot, and null without one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    solution_dim: Annotated[int, Field(gt=0, strict=True)]
    measure_ranges: Annotated[tuple[tuple[FiniteFloat, FiniteFloat], ...], Field(min_length=1)]
    measure_names: tuple[str, ...]
    measure_meaning: str
    objective_name: str
    episode_steps: Steps | None = None


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
    check_arrays(contents.arrays, repertoire.grid)
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
        settings = make_settings(_parse_json(contents.texts, "settings"))
        check_arrays(contents.arrays, settings.archive)
        verify(file, contents)
        repertoire = _repertoire(contents, settings)
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


def fingerprint(repertoire: Repertoire) -> str:
    """The checksum that a repertoire's file has: two with the same are the same.

    Raises:
        InvalidValueError: the repertoire is not one that could be saved.
    """
    return checksum(_contents(repertoire))


def _contents(repertoire: Repertoire) -> Contents:
    """What a file holds of a repertoire."""
    spread = vars(repertoire.spread) if repertoire.spread is not None else {}
    named = {
        **{f"elites/{name}": column for name, column in vars(repertoire.elites).items()},
        "thresholds": repertoire.thresholds,
        **{SPREAD + name: value for name, value in spread.items()},
    }
    arrays = {name: np.asarray(value, KINDS[name].dtype) for name, value in named.items()}
    history = {HISTORY + name: np.asarray(column) for name, column in repertoire.history.items()}
    texts = {
        **_problem_texts(repertoire.problem),
        "settings": repertoire.settings.model_dump_json(),
        "versions": json.dumps(repertoire.versions),
    }
    return Contents(arrays | history, texts)


def _problem_texts(problem: ProblemRecord) -> dict[str, str]:
    """The texts that a file holds of a problem: its facts, and its robot if it has one."""
    names = {field.name for field in fields(ProblemRecord)} - _NO_ROBOT
    facts = {name: getattr(problem, name) for name in sorted(names)}
    robot = problem.robot
    if robot is None:
        return {"problem": json.dumps(facts)}
    if robot.modifications:
        changes = ", ".join(change.label for change in robot.modifications)
        raise InvalidValueError(f"a repertoire is saved with the whole robot, but its robot has {changes}")
    facts["episode_steps"] = robot.description.episode_steps
    return {
        "problem": json.dumps(facts),
        "controller": problem.controller,
        "robot/mjcf": robot.xml,
        "robot/yaml": robot.yaml,
    }


def _repertoire(contents: Contents, settings: Settings) -> Repertoire:
    """The repertoire that checked contents describe."""
    arrays, texts = contents.arrays, contents.texts
    versions = _parse_json(texts, "versions")
    if not all(isinstance(version, str) for version in versions.values()):
        raise InvalidValueError("'versions' must map names to texts")
    return Repertoire(
        problem=_problem(texts),
        settings=settings,
        elites=Elites(*(arrays[f"elites/{field.name}"] for field in fields(Elites))),
        thresholds=arrays["thresholds"],
        history={name.removeprefix(HISTORY): arrays[name] for name in columns_of_history(arrays)},
        versions={name: str(version) for name, version in versions.items()},
        spread=_spread(arrays) if has_spread(arrays) else None,
    )


def _problem(texts: Mapping[str, str]) -> ProblemRecord:
    """The problem that checked texts describe."""
    facts = validate(_ProblemFacts, _parse_json(texts, "problem"))
    values = dict(facts)
    steps = values.pop("episode_steps")
    if steps is None:
        return ProblemRecord(**values)
    robot = robot_from_text(texts["robot/mjcf"], texts["robot/yaml"], origin="its robot")
    robot = robot.with_controller(texts["controller"]).with_episode_steps(steps)
    return ProblemRecord(**values, robot=robot, controller=texts["controller"])


def _spread(arrays: Mapping[str, np.ndarray]) -> Spread:
    """The spread that checked arrays describe."""
    return Spread(
        objective_std=arrays["spread/objective_std"],
        measure_std=arrays["spread/measure_std"],
        reproducibility=arrays["spread/reproducibility"],
        episodes=int(arrays["spread/episodes"]),
        seed=int(arrays["spread/seed"]),
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
    texts = contents.texts
    has_robot = any(name in texts for name in _ROBOT_TEXTS)
    for name in _TEXTS + (_ROBOT_TEXTS if has_robot else ()):
        if name not in texts:
            raise InvalidValueError(f"the text {name!r} is missing")
    if ("episode_steps" in _parse_json(texts, "problem")) != has_robot:
        raise InvalidValueError("'problem' must have 'episode_steps' if and only if there is a robot")
    reference = find_reference(texts["robot/mjcf"]) if has_robot else None
    if reference is not None:
        raise InvalidValueError(
            f"'robot/mjcf' refers to another file ({reference!r}), "
            "but a repertoire must contain everything that it needs"
        )


def _check_fit(repertoire: Repertoire) -> None:
    """Raise if a repertoire's parts do not fit its problem."""
    problem = repertoire.problem
    measures, dim = len(problem.measure_names), problem.solution_dim
    if problem.robot is not None:
        robot = problem.robot.with_controller(problem.controller)
        measures, dim = robot.measure_dim, robot.controller.parameter_count
    if len(repertoire.grid) != measures:
        raise InvalidValueError(
            f"its grid has {len(repertoire.grid)} dimensions, but {problem.name} has {measures} measures"
        )
    arrays = {"elites/solutions": repertoire.elites.solutions}
    check_shape(arrays, "elites/solutions", (len(repertoire), dim))
