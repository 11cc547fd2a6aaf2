"""`Event`: something that happened on a mission, or that the robot decided, as its log has it."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adapt.mission.pose import Pose
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.texts import parse_json, read_text

FORMAT = "surefoot-mission"
VERSION = 1
KINDS = (
    "start", "walk", "change", "alarm", "fall", "stumble", "assistance", "trial", "thought", "relearned",
    "goal", "end",
)  # fmt: skip


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


def header(facts: dict[str, Any]) -> str:
    """The first line of a log."""
    return json.dumps({"format": FORMAT, "version": VERSION, **facts})


def read_log(path: Path) -> tuple[dict[str, Any], list[Event]]:
    """Read a log.

    Returns:
        What the mission was, and its events.

    Raises:
        InvalidFileError: the file cannot be read, or is no log of a mission.
    """
    try:
        first, *others = log_records(path)
        if first["format"] != FORMAT or first["version"] != VERSION:
            raise ValueError("another format")
        events = list(_events(others))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} is no log of a mission, or not a whole one") from error
    return first, events


def log_records(path: Path) -> list[Any]:
    """What each line of a log holds, whatever that is, without a last line that was not finished.

    Raises:
        InvalidFileError: the file cannot be read, or a line is no JSON of finite numbers.
    """
    try:
        text = read_text(path)
        return [parse_json(line, finite=True) for line in text[: text.rfind("\n") + 1].splitlines()]
    except InvalidValueError as error:
        raise InvalidFileError(f"{path} is no log of a mission, or not a whole one") from error


def _events(records: Iterable[dict[str, Any]]) -> Iterable[Event]:
    for record in records:
        if record["kind"] in ("poses", "observed"):  # of `adapt.mission.poses` and `recording`
            continue
        if record["kind"] not in KINDS:
            raise ValueError("no kind of event")
        x, y, yaw = (float(value) for value in record["pose"])
        facts = dict(record["facts"])
        yield Event(float(record["time"]), str(record["kind"]), str(record["words"]), Pose(x, y, yaw), facts)
