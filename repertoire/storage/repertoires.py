"""Repertoire files: one HDF5 file holds everything. `docs/format.md` describes it."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from repertoire.archives.archive import Elites
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire, Spread
from repertoire.storage.hdf5 import Contents, create_file, open_file, read_tree, write_tree
from repertoire.storage.schema import Array, Format, parse_json
from repertoire.training.settings import make_settings, validate
from robots.errors import InvalidValueError
from robots.importing.mjcf import find_reference
from robots.robot import robot_from_text
from robots.validation import Steps

_ROBOT_TEXTS = ("controller", "robot/mjcf", "robot/yaml")  # all of them, or none without a robot
FORMAT = Format(
    "surefoot repertoire",
    version=2,
    arrays={
        "elites/cells": Array("<i8", ("elites",)),
        "elites/solutions": Array("<f4", ("elites", "parameters")),
        "elites/objectives": Array("<f8", ("elites",)),
        "elites/measures": Array("<f8", ("elites", "measures")),
        "thresholds": Array("<f8", ("cells",), finite=False),
        "spread/objective_std": Array("<f8", ("elites",), low=0, optional=True),
        "spread/measure_std": Array("<f8", ("elites", "measures"), low=0, optional=True),
        "spread/reproducibility": Array("<f8", ("elites",), low=0, high=1, optional=True),
        "spread/episodes": Array("<i8", low=1, optional=True),
        "spread/seed": Array("<i8", low=0, optional=True),
        "history/*": Array(None, ("iterations",), finite=False, optional=True),
    },
    texts=("problem", "settings", "versions"),
    optional_texts=_ROBOT_TEXTS,
)
_SEARCH = "search"


class _ProblemFacts(BaseModel):
    """The JSON text of a problem's facts; `episode_steps` is that of its robot, and missing without one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    solution_dim: Annotated[int, Field(gt=0, strict=True)]
    measure_ranges: Annotated[tuple[tuple[FiniteFloat, FiniteFloat], ...], Field(min_length=1)]
    measure_names: tuple[str, ...]
    measure_meaning: str
    objective_name: str
    episode_steps: Steps | None = None


def write_repertoire(
    path: str | Path, repertoire: Repertoire, *, search: Mapping[str, np.ndarray] | None = None
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
    _check_robot(contents)
    _check_fit(repertoire, contents)
    with create_file(path) as file:
        FORMAT.save(file, contents)
        if search is not None:
            state = {name: np.asarray(value) for name, value in search.items()}
            write_tree(file.create_group(_SEARCH), Contents(state))


def read_repertoire(path: str | Path) -> Repertoire:
    """Read a repertoire.

    Raises:
        InvalidFileError: the file cannot be read, or does not hold a valid repertoire.
    """
    with open_file(path) as file:
        contents = FORMAT.load(file, without={_SEARCH})
        _check_robot(contents)
        repertoire = _repertoire(contents)
        _check_fit(repertoire, contents)
    return repertoire


def read_search(path: str | Path) -> dict[str, np.ndarray] | None:
    """Read the state that a search was saved with, or None if the file holds none: the run is finished.

    Raises:
        InvalidFileError: the file cannot be read, is not a repertoire, or the state is damaged.
    """
    with open_file(path) as file:
        FORMAT.check_version(file)
        return read_tree(file, _SEARCH).arrays if _SEARCH in set(file) else None


def fingerprint(repertoire: Repertoire) -> str:
    """Checksum of what an evaluation of a repertoire depends on: its elites, its robot and their controllers.

    Results that were computed from a repertoire carry it, so that they are not used with another one.
    """
    contents = _contents(repertoire)
    arrays = {name: array for name, array in contents.arrays.items() if name.startswith("elites/")}
    return Contents(arrays, {name: contents.texts.get(name, "") for name in _ROBOT_TEXTS}).checksum()


def _contents(repertoire: Repertoire) -> Contents:
    """The content of a repertoire's file."""
    spread = repertoire.spread
    arrays = {
        **{f"elites/{name}": column for name, column in vars(repertoire.elites).items()},
        "thresholds": repertoire.thresholds,
        **{f"spread/{name}": value for name, value in (vars(spread) if spread else {}).items()},
        **{f"history/{name}": column for name, column in repertoire.history.items()},
    }
    texts = {
        **_problem_texts(repertoire.problem),
        "settings": repertoire.settings.model_dump_json(),
        "versions": json.dumps(repertoire.versions),
    }
    return Contents(
        {name: np.asarray(value, FORMAT.declared(name).dtype) for name, value in arrays.items()}, texts
    )


def _problem_texts(problem: ProblemRecord) -> dict[str, str]:
    """The texts that a file holds of a problem: its facts, and its robot if it has one."""
    names = {field.name for field in fields(ProblemRecord)} - {"robot", "controller"}
    facts = {name: getattr(problem, name) for name in sorted(names)}
    robot = problem.robot
    if robot is None:
        return {"problem": json.dumps(facts)}
    if robot.modifications:
        changes = ", ".join(change.label for change in robot.modifications)
        raise InvalidValueError(f"a repertoire is saved with the whole robot, but its robot has {changes}")
    facts["episode_steps"] = robot.description.episode_steps
    texts = dict(zip(_ROBOT_TEXTS, (problem.controller, robot.xml, robot.yaml), strict=True))
    return {"problem": json.dumps(facts)} | texts


def _repertoire(contents: Contents) -> Repertoire:
    """The repertoire that checked contents describe."""
    spread, versions = contents.group("spread"), parse_json(contents, "versions", dict)
    return Repertoire(
        problem=_problem(contents),
        settings=make_settings(parse_json(contents, "settings", dict)),
        elites=Elites(**contents.group("elites")),
        thresholds=contents.arrays["thresholds"],
        history=contents.group("history"),
        versions={name: str(version) for name, version in versions.items()},
        spread=_spread(spread) if spread else None,
    )


def _problem(contents: Contents) -> ProblemRecord:
    """The problem that checked contents describe."""
    values = dict(validate(_ProblemFacts, parse_json(contents, "problem", dict)))
    steps, texts = values.pop("episode_steps"), contents.texts
    if steps is None:
        return ProblemRecord(**values)
    robot = robot_from_text(texts["robot/mjcf"], texts["robot/yaml"], origin="its robot")
    robot = robot.with_controller(texts["controller"]).with_episode_steps(steps)
    return ProblemRecord(**values, robot=robot, controller=texts["controller"])


def _spread(arrays: Mapping[str, np.ndarray]) -> Spread:
    """The spread that checked arrays describe."""
    columns = {name: array for name, array in arrays.items() if array.ndim}
    return Spread(episodes=int(arrays["episodes"]), seed=int(arrays["seed"]), **columns)


def _check_robot(contents: Contents) -> None:
    """Refuse a robot that is incomplete, or that needs another file."""
    texts = contents.texts
    has_robot = "episode_steps" in parse_json(contents, "problem", dict)
    for name in _ROBOT_TEXTS:
        if (name in texts) != has_robot:
            raise InvalidValueError(
                f"the text {name!r} must be there if, and only if, the problem has a robot"
            )
    reference = find_reference(texts["robot/mjcf"]) if has_robot else None
    if reference is not None:
        raise InvalidValueError(
            f"'robot/mjcf' refers to another file ({reference!r}), which would be missing"
        )


def _check_fit(repertoire: Repertoire, contents: Contents) -> None:
    """Refuse a repertoire whose parts do not fit each other."""
    problem, total = repertoire.problem, math.prod(repertoire.grid)
    measures, parameters = len(problem.measure_names), problem.solution_dim
    if problem.robot is not None:
        robot = problem.robot.with_controller(problem.controller)
        measures, parameters = robot.measure_dim, robot.controller.parameter_count
    divided = repertoire.settings.archive.measure_dim
    if divided not in (None, measures):
        raise InvalidValueError(
            f"its archive has cells along {divided} measures, but {problem.name} has {measures} measures"
        )
    FORMAT.check(contents, cells=total, measures=measures, parameters=parameters)
    cells, thresholds = contents.arrays["elites/cells"], contents.arrays["thresholds"]
    if len(cells) and not (cells[0] >= 0 and cells[-1] < total and (cells[1:] > cells[:-1]).all()):
        raise InvalidValueError(
            f"'elites/cells' must be different numbers from 0 to {total - 1}, in ascending order"
        )
    wrong = np.count_nonzero(np.isnan(thresholds) | (thresholds == np.inf))  # -inf: nothing was accepted yet
    if wrong:
        raise InvalidValueError(f"'thresholds' must be finite or -inf, but {wrong} of {total} are not")
