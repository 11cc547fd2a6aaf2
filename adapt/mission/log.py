"""What a mission tells: its `Event`s, its `MissionResult`, and the log with every pose of the robot.

A log has a JSON object in each line: `MissionFacts` first, then events, and `Poses` between them.
"""

import base64
import json
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from adapt.mission.world import World
from adapt.requests import LONGEST, MissionRequest
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.atomic import explain_errors, write_text
from robots.files.records import validate
from robots.files.texts import parse_json, read_text
from robots.pose import Pose
from robots.words import counted

KINDS = (
    "start", "walk", "change", "alarm", "fall", "stumble", "assistance", "trial", "thought", "relearned",
    "goal", "end",
)  # fmt: skip
COUNTED = ("fall", "assistance", "trial", "alarm")  # that a result has the numbers of
_POSES = "poses"  # kind of a line that holds these
_SPACING = 0.04  # [s] between two poses, unless a control step is longer
_PACKED = {"times": "<f4", "positions": "<f4", "touching": "u1"}  # base64 of little-endian numbers in rows


class MissionFacts(MissionRequest):
    """How a mission was asked for: the first line of its log.

    Attributes:
        selector: its name; None for the default.
        robot: its name.
        repertoire: fingerprint of the repertoire.
        rehearsal: file of the rehearsal; None for that next to the repertoire's, if there is one.
        format, version: of the log.
    """

    selector: str | None = None
    robot: str
    repertoire: str
    rehearsal: str | None = None
    format: Literal["surefoot-mission"] = "surefoot-mission"
    version: Literal[1] = 1

    def line(self) -> str:
        """The facts as a line of a log."""
        facts = self.model_dump()
        first = {name: facts.pop(name) for name in ("format", "version", "robot", "repertoire")}
        return json.dumps(first | facts)


@dataclass(frozen=True)
class Event:
    """Something that happened."""

    time: float  # when, or when it ended [s]
    kind: str  # one of `KINDS`; `change` alone is what the robot is not told
    words: str  # a sentence
    pose: Pose  # where the robot was then
    # by kind: numbers and texts that JSON takes. Of `walk` and `trial` the gait, how long it was driven,
    # where it was expected to lead, and its path.
    facts: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """The event as a line of a log."""
        return json.dumps({**asdict(self), "pose": list(self.pose)})


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of the robot as long as nothing further broke."""

    damage: str  # its text
    times: np.ndarray  # since the mission began, (t,) [s]
    positions: np.ndarray  # of the joints, the torso's in the world, (t, n), as MuJoCo's `qpos` has them
    touching: np.ndarray  # which feet touched the floor, (t, f)


@dataclass(frozen=True)
class MissionResult:
    """How a mission went.

    Attributes:
        reached: goals.
        unaided: of these, how many before the robot was set upright for the first time.
        goals: how many there were.
        seconds: that it took.
        distance: of the last pose from the first [m].
        falls, assistances, trials, alarms: how many there were; it was set upright by each assistance.
        thinking: seconds of the mission in which the robot thought.
    """

    reached: int
    unaided: int
    goals: int
    seconds: float
    distance: float
    falls: int
    assistances: int
    trials: int
    alarms: int
    thinking: float

    @property
    def words(self) -> str:
        """In a sentence."""
        went = f"walked {self.distance:.1f} m"
        if self.goals:
            went = f"reached {self.reached} of {counted(self.goals, 'goal')}{self._help}"
        counts = ", ".join(counted(getattr(self, f"{kind}s"), kind) for kind in COUNTED[:3])
        return f"{went} in {self.seconds:.1f} s: {counts}, {self.thinking:.1f} s of thinking"

    @property
    def _help(self) -> str:
        """Whether what was reached was reached with help, in words."""
        if self.unaided in (0, self.reached):
            return " without help" if self.unaided else " with help" * bool(self.reached)
        return f", {self.unaided} of them without help,"


class LogWriter:
    """Writes the log of a mission, a file that is open no longer than for an event.

    Args:
        path: of the file, which `begin` replaces.
        facts: its first line.
    """

    def __init__(self, path: Path, facts: MissionFacts) -> None:
        self._path, self._facts = path, facts
        self._robot: object = None  # of the last poses
        self._parts: list[dict[str, Any]] = []  # poses since the last event

    def begin(self) -> None:
        """Write the first line."""
        write_text(self._path, f"{self._facts.line()}\n")

    def note(self, world: World) -> None:
        """Take in where the robot is after a control step, if it is time to."""
        if world.steps % max(1, round(_SPACING / world.robot.control_step)):
            return
        if self._robot is not world.robot:
            self._robot = world.robot
            self._parts.append({"damage": world.damage, **{name: [] for name in _PACKED}})
        rows = (world.clock, world.posed_data().qpos, world.touching.copy())
        for name, row in zip(_PACKED, rows, strict=True):
            self._parts[-1][name].append(row)

    def add(self, event: Event) -> None:
        """Write the poses before an event, and the event."""
        lines = []
        for part in self._parts:
            packed = {
                name: base64.b64encode(np.array(part[name], kind).tobytes()).decode("ascii")
                for name, kind in _PACKED.items()
            }
            lines.append(json.dumps({"kind": _POSES, "damage": part["damage"], **packed}))
        self._parts, self._robot = [], None
        with (
            explain_errors(f"{self._path} cannot be written"),
            self._path.open("a", encoding="utf-8") as file,
        ):
            file.writelines(f"{line}\n" for line in [*lines, event.line()])


def read_log(path: Path) -> tuple[MissionFacts, list[Event]]:
    """Read how a mission was asked for, and its events."""
    try:
        first, *others = _records(path)
        events = [_event(record) for record in others if record["kind"] != _POSES]
        return validate(MissionFacts, first), events
    except (InvalidValueError, ValueError, KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} is no log of a mission, or not a whole one") from error


def read_poses(path: Path) -> list[Poses]:
    """Read the poses of a log, in the order of their times."""
    try:
        found = [_poses(record) for record in _records(path) if record.get("kind") == _POSES]
        times = np.concatenate([np.zeros(0), *(poses.times for poses in found)])
        if not ((np.diff(times) > 0).all() and (abs(times) <= LONGEST).all()):
            raise ValueError("no times of a mission")
    except (InvalidValueError, ValueError, KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} holds poses that are damaged") from error
    if not found:
        raise InvalidFileError(f"{path} holds no poses of the robot: write it with surefoot mission --log")
    return found


def _records(path: Path) -> list[dict[str, Any]]:
    """The objects in the lines of a log, without a last line that was not finished."""
    text = read_text(path)
    found: list[Any] = [parse_json(line, finite=True) for line in text[: text.rfind("\n") + 1].splitlines()]
    if not all(isinstance(record, dict) for record in found):
        raise ValueError("a line is no object")
    return found


def _event(record: dict[str, Any]) -> Event:
    if record["kind"] not in KINDS:
        raise ValueError("no kind of event")
    time, x, y, yaw = (float(value) for value in (record["time"], *record["pose"]))
    if not all(map(isfinite, (time, x, y, yaw))):  # texts may say nan
        raise ValueError("not all numbers are finite")
    return Event(time, str(record["kind"]), str(record["words"]), Pose(x, y, yaw), dict(record["facts"]))


def _poses(record: dict[str, Any]) -> Poses:
    times, positions, touching = (
        np.frombuffer(base64.b64decode(record[name], validate=True), kind) for name, kind in _PACKED.items()
    )
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ValueError("not all numbers are finite")
    positions, touching = (rows.reshape(len(times), -1) for rows in (positions, touching))  # as many as times
    return Poses(str(record["damage"]), times, positions, touching.astype(bool))
