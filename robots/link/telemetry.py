"""`McapLog`: telemetry as MCAP with messages of ROS 2, which Foxglove and Rerun decode; no ROS is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.deployment.deployment import Telemetry
from robots.deployment.traces import column_names, write_table
from robots.errors import InvalidFileError, installed
from robots.files.atomic import explain_errors, replace_file
from robots.link.driving import DrivenStep, angles

_CHUNK = 65_536  # bytes, of which those of the last chunk are lost when the process is killed
# Definitions of ROS 2, of which a message's own stands before those of its parts
_PARTS = {
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/Transform transform",
}
_MESSAGES = {
    "sensor_msgs/msg/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\n"
    "float64[] velocity\nfloat64[] effort",
    "sensor_msgs/msg/Imu": "std_msgs/Header header\n"
    "geometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
    "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
    "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "surefoot_msgs/msg/ControlStep": "std_msgs/Header header\nstring gait\nstring mode\nstring[] joints\n"
    "float64[] action\nstring[] feet\nfloat64[] contact",
}
_ALL_PARTS = "".join(f"\n{80 * '='}\nMSG: {name}\n{text}" for name, text in _PARTS.items())
DEFINITIONS = {name: text + _ALL_PARTS for name, text in _MESSAGES.items()}
_TOPICS = ("/joint_states", "/imu", "/tf", "/control_step")


class Reading(NamedTuple):
    """A control step for the log: what `DrivenStep` or a row of `Telemetry` tells; None where unknown."""

    time: float  # [s]
    positions: Sequence[float]  # of the joints, (j,)
    speeds: Sequence[float]  # of the joints, (j,)
    torques: Sequence[float]  # of the joints, (j,)
    quaternion: Sequence[float]  # of the torso, w, x, y, z
    rates: Sequence[float]  # about its own axes [rad/s]
    acceleration: Sequence[float] | None  # less that of free fall, along its own axes [m/s²]
    place: Sequence[float] | None  # of the torso [m]
    action: Sequence[float]  # what the controller told each joint, (j,)
    contacts: Sequence[float]  # of each foot: force [N], or 0 and 1, (f,)
    mode: str  # of the robot

    @classmethod
    def of(cls, moment: DrivenStep) -> Reading:
        """That of a control step over a link."""
        state, motors, imu = moment.state, moment.state.motor_state, moment.state.imu_state
        positions, speeds, torques = ([getattr(m, name) for m in motors] for name in ("q", "dq", "tau_est"))
        return cls(
            state.time,
            positions,
            speeds,
            torques,
            imu.quaternion,
            imu.gyroscope,
            imu.accelerometer,
            state.odometry.position if state.odometry else None,
            moment.action.tolist(),
            state.foot_force,
            state.mode,
        )


class McapLog:
    """Writes readings to an MCAP as they come: a log that was cut off can be read up to its last chunk.

    The file is replaced, or `into`, a temporary one, is written instead.
    """

    def __init__(
        self, path: Path, joints: Sequence[str], feet: Sequence[str], *, gait: str, into: Path | None = None
    ) -> None:
        with installed("MCAP needs mcap-ros2-support, which is", "'surefoot[robot]'"):
            from mcap_ros2.writer import Writer
        if path.suffix.lower() != ".mcap":
            raise InvalidFileError(f"a log must end in .mcap, not {path.name}")
        self._path, self._names = path, {"joints": list(joints), "feet": list(feet), "gait": gait}
        with explain_errors(f"{path} cannot be written"):
            self._file = (into or path).open("wb")
        self._writer = Writer(self._file, chunk_size=_CHUNK)
        self._schemas = [self._writer.register_msgdef(name, text) for name, text in DEFINITIONS.items()]
        self._sequence = 0

    def write(self, reading: Reading) -> None:
        """Add a control step."""
        nanoseconds = round(reading.time * 1e9)
        stamp = {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
        messages = zip(_TOPICS, self._schemas, self._messages(reading, stamp), strict=True)
        with explain_errors(f"{self._path} cannot be written"):
            for told in messages:
                if told[2] is not None:
                    self._writer.write_message(*told, nanoseconds, nanoseconds, self._sequence)
            self._file.flush()
        self._sequence += 1

    def _messages(self, reading: Reading, stamp: dict[str, int]) -> tuple[dict[str, Any] | None, ...]:
        world, torso = ({"stamp": stamp, "frame_id": name} for name in ("world", "torso"))
        turned = dict(zip("wxyz", map(float, reading.quaternion), strict=True))
        felt = reading.acceleration
        unknown = [-1.0] + 8 * [0.0]  # as ROS says that something is not measured
        joints = {
            "header": torso,
            "name": self._names["joints"],
            "position": list(map(float, reading.positions)),
            "velocity": list(map(float, reading.speeds)),
            "effort": list(map(float, reading.torques)),
        }
        imu = {
            "header": torso,
            "orientation": turned,
            "orientation_covariance": 9 * [0.0],
            "angular_velocity": _vector(reading.rates),
            "angular_velocity_covariance": 9 * [0.0],
            "linear_acceleration": _vector((0, 0, 0) if felt is None else felt),
            "linear_acceleration_covariance": unknown if felt is None else 9 * [0.0],
        }
        move = None
        if reading.place is not None:
            transform = {"translation": _vector(reading.place), "rotation": turned}
            move = {"transforms": [{"header": world, "child_frame_id": "torso", "transform": transform}]}
        action, contact = list(map(float, reading.action)), list(map(float, reading.contacts))
        step = {"header": torso, **self._names, "mode": reading.mode, "action": action, "contact": contact}
        return joints, imu, move, step

    def close(self) -> None:
        """Finish the file."""
        with explain_errors(f"{self._path} cannot be written"):
            self._writer.finish()
            self._file.close()

    def __enter__(self) -> McapLog:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def write_mcap(telemetry: Telemetry, path: Path, *, gait: str) -> None:
    """Write the telemetry of a run in the simulation."""
    turned = Rotation.from_euler("xyz", telemetry.angles.reshape(-1, 3)).as_quat(scalar_first=True)
    joints = telemetry.joint_angles, telemetry.joint_speeds, telemetry.torques
    told, count = (telemetry.commands, telemetry.contacts), len(telemetry)
    seen = (telemetry.times.tolist(), *joints, turned, telemetry.rates, [None] * count, telemetry.positions)
    rows = zip(*seen, *told, ["driven"] * count, strict=True)
    with (
        replace_file(path) as temporary,
        McapLog(path, telemetry.joints, telemetry.feet, gait=gait, into=temporary) as log,
    ):
        for row in rows:
            log.write(Reading(*row))


def write_link_csv(
    moments: Sequence[DrivenStep], path: Path, joints: Sequence[str], feet: Sequence[str], *, gait: str
) -> None:
    """Write control steps over a link as a CSV: the columns of `Telemetry.write_csv` that a robot has."""
    readings, names = [Reading.of(moment) for moment in moments], column_names(joints, feet)
    rows = {
        "times": [reading.time for reading in readings],
        "positions": [reading.place or 3 * [np.nan] for reading in readings],
        "angles": [angles(moment.state) for moment in moments],
        "rates": [reading.rates for reading in readings],
        "joint_angles": [reading.positions for reading in readings],
        "joint_speeds": [reading.speeds for reading in readings],
        "torques": [reading.torques for reading in readings],
        "commands": [reading.action for reading in readings],
        "contacts": [[force > 0 for force in reading.contacts] for reading in readings],
    }
    columns = dict[str, np.ndarray]()
    for field, table in rows.items():
        columns |= zip(names[field], np.asarray(table).reshape(-1, len(names[field])).T, strict=True)
    write_table(columns, path, gait)


def _vector(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))
