"""Where a mission's robot is from moment to moment, as its log has it: `PoseRecorder` and `read_poses`."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adapt.mission.events import log_records
from adapt.mission.plan import LONGEST
from adapt.mission.simulated import SimulatedWorld
from robots.errors import InvalidFileError

KIND = "poses"  # of such a line of a log
_SPACING = 0.04  # [s] between two poses, unless a control step is longer


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of the robot as long as nothing further broke.

    Attributes:
        damage: its text.
        times: since the mission began, (t,) [s].
        positions: of the joints, the torso's in the world, (t, n), as MuJoCo's `qpos` has them.
        touching: which feet touched the floor, (t, f).
    """

    damage: str
    times: np.ndarray
    positions: np.ndarray
    touching: np.ndarray


@dataclass
class PoseRecorder:
    """Records poses for a log; to be called with the world after every control step."""

    _robot: object = None
    _parts: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, world: SimulatedWorld) -> None:
        """Take in where the robot is, if it is time to."""
        if world.steps % max(1, round(_SPACING / world.robot.control_step)):
            return
        if self._robot is not world.robot:
            self._robot = world.robot
            self._parts.append({"damage": world.damage, "times": [], "positions": [], "touching": []})
        part = self._parts[-1]
        part["times"].append(world.clock)
        part["positions"].append(world.posed_data().qpos)
        part["touching"].append(world.touching.copy())

    def lines(self) -> Iterator[str]:
        """Lines of a log with what was recorded since this was called last."""
        for part in self._parts:
            numbers = {name: _packed(part[name]) for name in ("times", "positions")}
            touching = _packed(part["touching"], "u1")
            yield json.dumps({"kind": KIND, "damage": part["damage"], **numbers, "touching": touching})
        self._parts, self._robot = [], None


def read_poses(path: Path) -> list[Poses]:
    """Read the poses of a log, in the order of their times.

    Raises:
        InvalidFileError: the file cannot be read, has no poses, or they cannot be those of a robot.
    """
    try:
        found = [_unpacked(record) for record in log_records(path) if record.get("kind") == KIND]
        times = np.concatenate([poses.times for poses in found]) if found else np.zeros(0)
        if not ((np.diff(times) > 0).all() and (abs(times) <= LONGEST).all()):
            raise ValueError("no times of a mission")
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} holds poses that are damaged") from error
    if not found:
        raise InvalidFileError(f"{path} holds no poses of the robot: write it with surefoot mission --log")
    return found


def _unpacked(record: dict[str, Any]) -> Poses:
    """What a line holds.

    Raises:
        ValueError, KeyError, TypeError: it is no such line.
    """
    times, positions, touching = (
        np.frombuffer(base64.b64decode(record[name], validate=True), kind)
        for name, kind in (("times", "<f4"), ("positions", "<f4"), ("touching", "u1"))
    )
    count = len(times)
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ValueError("not all numbers are finite")
    if count == 0 or len(positions) % count or len(touching) % count:
        raise ValueError("not as many poses as times")
    return Poses(
        str(record["damage"]), times, positions.reshape(count, -1), touching.reshape(count, -1).astype(bool)
    )


def _packed(rows: list[Any], kind: str = "<f4") -> str:
    """Numbers as text: base64 of little-endian numbers in rows."""
    return base64.b64encode(np.array(rows, kind).tobytes()).decode("ascii")
