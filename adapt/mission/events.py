"""What the log of a mission says: `MissionFacts`, how it was asked for, and `Event`, what happened."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from adapt.mission.pose import Pose
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.records import Finite, Positive, Record, validate
from robots.files.texts import parse_json, read_text

_Whole = Annotated[int, Field(ge=0, strict=True)]
KINDS = (
    "start", "walk", "change", "alarm", "fall", "stumble", "assistance", "trial", "thought", "relearned",
    "goal", "end",
)  # fmt: skip


class MissionFacts(Record):
    """How a mission was asked for: the first line of its log.

    Attributes:
        format, version: of the log.
        robot: its name.
        repertoire: fingerprint of the repertoire.
        goals: places to reach [m].
        changes: what happens, as DAMAGE@SECONDS.
        seconds, within, think_episodes, refine, cores, max_falls, seed: the options of `surefoot mission`.
        selector: its name; None for the default.
        rehearsal: file of the rehearsal; None for that next to the repertoire's, if there is one.
    """

    format: Literal["surefoot-mission"] = "surefoot-mission"
    version: Literal[1] = 1
    robot: str
    repertoire: str
    goals: tuple[tuple[Finite, Finite], ...] = ()
    changes: tuple[str, ...] = ()
    seconds: Positive
    within: Positive
    think_episodes: _Whole
    refine: _Whole
    cores: _Whole
    max_falls: _Whole
    seed: _Whole
    selector: str | None = None
    rehearsal: str | None = None

    def line(self) -> str:
        """The facts as a line of a log."""
        return json.dumps(self.model_dump())


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        time: when, or when it ended [s].
        kind: one of `KINDS`; `change` alone is what the robot is not told.
        words: a sentence.
        pose: where the robot was then.
        facts: by kind: numbers and texts that JSON takes. Of `walk` and `trial` the gait, how long it was
            driven, where it was expected to lead, and its path.
    """

    time: float
    kind: str
    words: str
    pose: Pose
    facts: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """The event as a line of a log."""
        return json.dumps({**asdict(self), "pose": list(self.pose)})


def read_log(path: Path) -> tuple[MissionFacts, list[Event]]:
    """Read a log.

    Returns:
        How the mission was asked for, and its events.

    Raises:
        InvalidFileError: the file cannot be read, or is no log of a mission.
    """
    try:
        first, *others = log_records(path)
        return validate(MissionFacts, first), list(_events(others))
    except (InvalidValueError, ValueError, KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} is no log of a mission, or not a whole one") from error


def log_records(path: Path) -> list[dict[str, Any]]:
    """The objects in the lines of a log, without a last line that was not finished.

    Raises:
        InvalidFileError: the file cannot be read, or a line is no JSON object of finite numbers.
    """
    found = []
    try:
        text = read_text(path)
        for line in text[: text.rfind("\n") + 1].splitlines():
            record = parse_json(line, finite=True)
            if not isinstance(record, dict):
                raise InvalidValueError("a line is no object")
            found.append(record)
    except InvalidValueError as error:
        raise InvalidFileError(f"{path} is no log of a mission, or not a whole one") from error
    return found


def _events(records: Iterable[dict[str, Any]]) -> Iterable[Event]:
    for record in records:
        if record["kind"] == "poses":  # see `adapt.mission.poses`
            continue
        if record["kind"] not in KINDS:
            raise ValueError("no kind of event")
        time, x, y, yaw = (float(value) for value in (record["time"], *record["pose"]))
        if not all(map(isfinite, (time, x, y, yaw))):  # texts may say nan
            raise ValueError("not all numbers are finite")
        yield Event(time, str(record["kind"]), str(record["words"]), Pose(x, y, yaw), dict(record["facts"]))
