"""Repertoire files: one HDF5 file holds everything. `docs/reference/format.md` describes it."""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, FiniteFloat

from repertoire.algorithms.settings import Settings
from repertoire.archives.archive import Elites
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire, Specialists, Spread
from repertoire.storage.formats import SUM, Array, Contents, Format
from robots.description import Randomization
from robots.errors import InvalidValueError, UnknownNameError, shown
from robots.files.records import Record, Steps, not_registered, validate
from robots.mjcf.screening import screen
from robots.robot import robot_from_text

_MOST_DAMAGES = 1000  # of one training
_DAMAGES = "specialists/damages"
_ROBOT_TEXTS = ("controller", "robot/mjcf", "robot/yaml")  # all of them, or none without a robot
_FILES = "robot/files"  # base64 by their names, of a robot that has further ones
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
        "specialists/cells": Array("<i8", ("specialists",), optional=True),
        "specialists/solutions": Array("<f4", ("specialists", "parameters"), optional=True),
        "specialists/objectives": Array("<f8", ("specialists",), optional=True),
        "specialists/measures": Array("<f8", ("specialists", "measures"), optional=True),
        "specialists/parents": Array("<i8", ("specialists",), optional=True),
        "specialists/episodes": Array("<i8", ("specialists",), low=0, optional=True),
        "history/*": Array(None, ("iterations",), low=-SUM, high=SUM, finite=False, optional=True),
    },
    texts=("problem", "settings", "versions"),
    optional_texts=(*_ROBOT_TEXTS, _FILES, _DAMAGES),
    separate="search",
)


class _ProblemFacts(Record):
    """The JSON text of a problem's facts.

    `episode_steps` is that of its robot, and missing without one; damages and randomization are missing where
    there are none. The task holds keys of the robot's YAML that have other values.
    """

    name: str
    solution_dim: Annotated[int, Field(gt=0, strict=True)]
    measure_ranges: Annotated[tuple[tuple[FiniteFloat, FiniteFloat], ...], Field(min_length=1)]
    measure_names: tuple[str, ...]
    measure_meaning: str
    objective_name: str
    episode_steps: Steps | None = None
    task: dict[Literal["measures", "reward"], Any] = Field(default={})
    damage_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    damages: Annotated[tuple[str, ...], Field(max_length=_MOST_DAMAGES)] = ()
    randomization: Randomization | None = None


def write_repertoire(
    path: str | Path, repertoire: Repertoire, *, search: Mapping[str, np.ndarray] | None = None
) -> None:
    """Write a repertoire to a file in one step, with what resumes its search unless it is finished."""
    contents = _contents(repertoire)
    _check(contents, repertoire.problem, repertoire.settings)
    FORMAT.write(path, contents, search)


def read_repertoire(path: str | Path) -> Repertoire:
    """Read a repertoire."""
    with FORMAT.read(path) as contents:
        settings = _settings(contents.json("settings", dict))
        problem = _problem(contents)
        _check(contents, problem, settings)
        spread = contents.group("spread")
        return Repertoire(
            problem=problem,
            settings=settings,
            elites=Elites(**contents.group("elites")),
            thresholds=contents.arrays["thresholds"],
            history=contents.group("history"),
            versions={name: str(value) for name, value in contents.json("versions", dict).items()},
            spread=_spread(**spread) if spread else None,
            specialists=_specialists(contents),
        )


def read_search(path: str | Path) -> dict[str, np.ndarray] | None:
    """Read the state that a search was saved with, or None if the file holds none: the run is finished."""
    return FORMAT.read_separate(path)


def fingerprint(repertoire: Repertoire) -> str:
    """Checksum of what an evaluation of a repertoire depends on: its gaits, its robot and their controllers.

    Results that were computed from a repertoire carry it, so that they are not used with another one.
    """
    contents = _contents(repertoire)
    arrays = {
        name: array for name, array in contents.arrays.items() if name.startswith(("elites/", "specialists/"))
    }
    texts = {name: contents.texts.get(name, "") for name in _ROBOT_TEXTS}
    texts |= {_FILES: contents.texts[_FILES]} if _FILES in contents.texts else {}
    robot = repertoire.problem.robot
    task = {"task": json.dumps(robot.task)} if robot and robot.task else {}
    return Contents(arrays, texts | task).checksum()


def _contents(repertoire: Repertoire) -> Contents:
    groups = {"elites": vars(repertoire.elites), "history": repertoire.history}
    groups |= {"spread": vars(repertoire.spread)} if repertoire.spread else {}
    found, damages = repertoire.specialists, {}
    if found is not None:
        groups["specialists"] = vars(found.gaits) | {"parents": found.origins, "episodes": found.episodes}
        damages = {_DAMAGES: json.dumps(found.damages)}
    arrays = {
        f"{group}/{name}": value for group, members in groups.items() for name, value in members.items()
    }
    arrays["thresholds"] = repertoire.thresholds
    texts = {
        **_problem_texts(repertoire.problem),
        "settings": repertoire.settings.model_dump_json(),
        "versions": json.dumps(repertoire.versions),
        **damages,
    }
    dtypes = {name: FORMAT.declared(name).dtype for name in arrays}
    return Contents({name: np.asarray(value, dtypes[name]) for name, value in arrays.items()}, texts)


def _problem_texts(problem: ProblemRecord) -> dict[str, str]:
    """The texts that a file holds of a problem: its facts, and its robot if it has one."""
    robot = problem.robot
    values = {name: value for name, value in vars(problem).items() if name in _ProblemFacts.model_fields}
    if robot is not None:
        values |= {"episode_steps": robot.description.episode_steps, "task": dict(robot.task)}
    facts = _ProblemFacts(**values)
    text = {"problem": facts.model_dump_json(exclude_defaults=True)}
    if robot is None:
        return text
    problem.check_storable()
    if robot.kept_xml:
        screen(robot.kept_xml, "its robot")  # without any other file
    texts = dict(zip(_ROBOT_TEXTS, (problem.controller, robot.kept_xml, robot.yaml), strict=True))
    files = {name: b64encode(content).decode() for name, content in robot.files.items()}
    return text | texts | ({_FILES: json.dumps(files)} if files else {})


def _settings(entries: Mapping[str, Any]) -> Settings:
    """The settings that a file holds; emitters and strategies that are not registered stay as they are."""
    try:
        return validate(Settings, entries)
    except UnknownNameError as error:  # only an archive, without which cells mean nothing, must be registered
        raise not_registered(f"the archive {shown(error.name)}") from error


def _problem(contents: Contents) -> ProblemRecord:
    values = dict(validate(_ProblemFacts, contents.json("problem", dict)))
    steps, task, texts = values.pop("episode_steps"), values.pop("task"), contents.texts
    for name in _ROBOT_TEXTS:
        if (name in texts) != (steps is not None):
            raise InvalidValueError(
                f"the text {name!r} must be there if, and only if, the problem has a robot"
            )
    if steps is None:
        return ProblemRecord(**values)
    files = _files(contents.json(_FILES, dict)) if _FILES in texts else {}
    robot = robot_from_text(texts["robot/mjcf"], texts["robot/yaml"], origin="its robot", files=files)
    robot = robot.with_task(**task).with_controller(texts["controller"]).with_episode_steps(steps)
    return ProblemRecord(**values, robot=robot, controller=texts["controller"])


def _files(texts: Mapping[str, Any]) -> dict[str, bytes]:
    """The files that a robot has besides its MJCF and YAML."""
    try:
        return {name: b64decode(text, validate=True) for name, text in texts.items()}
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{_FILES!r} must hold texts in base64") from error


def _spread(*, episodes: np.ndarray, seed: np.ndarray, **columns: np.ndarray) -> Spread:
    return Spread(episodes=int(episodes), seed=int(seed), **columns)


def _specialists(contents: Contents) -> Specialists | None:
    columns = contents.group("specialists")
    if (_DAMAGES in contents.texts) != bool(columns):
        raise InvalidValueError(f"the text {_DAMAGES!r} must be there if, and only if, there are specialists")
    if not columns:
        return None
    origins, episodes = columns.pop("parents"), columns.pop("episodes")
    damages = contents.json(_DAMAGES, list)
    if len(damages) != len(origins) or not all(
        isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
        for texts in damages
    ):
        raise InvalidValueError(
            f"{_DAMAGES!r} must hold a list of texts for each of {len(origins)} specialists"
        )
    return Specialists(Elites(**columns), origins, episodes, tuple(map(tuple, damages)))


def _check(contents: Contents, problem: ProblemRecord, settings: Settings) -> None:
    measures, parameters = len(problem.measure_names), problem.solution_dim
    if problem.robot is not None:
        robot = problem.robot.with_controller(problem.controller)
        measures, parameters = robot.measure_dim, robot.controller.parameter_count
    divided, total = settings.archive.measure_dim, math.prod(settings.archive.shape)
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
    for name in ("specialists/cells", "specialists/parents"):
        places = contents.arrays.get(name, cells)
        if len(places) and not (places.min() >= 0 and places.max() < total):
            raise InvalidValueError(f"{name!r} must be numbers of cells from 0 to {total - 1}")
    wrong = np.count_nonzero(np.isnan(thresholds) | (thresholds == np.inf))  # -inf: nothing was accepted yet
    if wrong:
        raise InvalidValueError(f"'thresholds' must be finite or -inf, but {wrong} of {total} are not")
