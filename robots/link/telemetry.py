"""`McapLog`: telemetry as MCAP with messages of ROS 2, which Foxglove and Rerun decode; no ROS is needed.

What cannot be written is an `InvalidFileError`, a missing mcap-ros2-support a `SurefootError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from robots.deployment.deployment import Telemetry
from robots.errors import InvalidFileError, SurefootError
from robots.files.atomic import explain_errors, replace_file, write_text
from robots.link.driving import DrivenStep

_CHUNK = 65_536  # bytes, of which those of the last chunk are lost when the process is killed
_HEADER = """std_msgs/Header header
"""
_GEOMETRY = """
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
_VECTOR = """================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""
_QUATERNION = """================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
"""
_JOINT_STATE = "string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
_IMU = """geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance"""
_TF = """geometry_msgs/TransformStamped[] transforms
================================================================================
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
================================================================================
MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation"""
_STEP = "string gait\nstring mode\nstring[] joints\nfloat64[] action\nstring[] feet\nfloat64[] contact"
DEFINITIONS = {
    "sensor_msgs/msg/JointState": _HEADER + _JOINT_STATE + _GEOMETRY,
    "sensor_msgs/msg/Imu": _HEADER + _IMU + _GEOMETRY + _QUATERNION + _VECTOR,
    "tf2_msgs/msg/TFMessage": _TF + _GEOMETRY + _QUATERNION + _VECTOR,
    "surefoot_msgs/msg/ControlStep": _HEADER + _STEP + _GEOMETRY,
}
_TOPICS = ("/joint_states", "/imu", "/tf", "/control_step")


class Reading(NamedTuple):
    """A control step for the log: what `DrivenStep` or a row of `Telemetry` tells; None where unknown.

    Attributes:
        time: [s].
        positions, speeds, torques: of the joints, (j,).
        quaternion: of the torso, w, x, y, z.
        rates: about its own axes [rad/s].
        acceleration: less that of free fall, along its own axes [m/s²].
        place: of the torso [m].
        action: what the controller told each joint, (j,).
        contacts: of each foot: force [N], or 0 and 1, (f,).
        mode: of the robot.
    """

    time: float
    positions: Sequence[float]
    speeds: Sequence[float]
    torques: Sequence[float]
    quaternion: Sequence[float]
    rates: Sequence[float]
    acceleration: Sequence[float] | None
    place: Sequence[float] | None
    action: Sequence[float]
    contacts: Sequence[float]
    mode: str

    @classmethod
    def of(cls, moment: DrivenStep) -> Reading:
        """That of a control step over a link."""
        state = moment.state
        return cls(
            state.time,
            [motor.q for motor in state.motor_state],
            [motor.dq for motor in state.motor_state],
            [motor.tau_est for motor in state.motor_state],
            state.imu_state.quaternion,
            state.imu_state.gyroscope,
            state.imu_state.accelerometer,
            state.odometry.position if state.odometry else None,
            moment.action.tolist(),
            state.foot_force,
            state.mode,
        )


class McapLog:
    """Writes readings to an MCAP as they come: a log that was cut off can be read up to its last chunk.

    Args:
        path: the file; it is replaced.
        joints: names, in the order of readings.
        feet: likewise.
        gait: what to call it.
        into: a temporary file that is written instead.
    """

    def __init__(
        self, path: Path, joints: Sequence[str], feet: Sequence[str], *, gait: str, into: Path | None = None
    ) -> None:
        try:
            from mcap_ros2.writer import Writer
        except ImportError as error:
            raise SurefootError(
                "MCAP needs mcap-ros2-support, which is not installed: pip install 'surefoot[robot]'"
            ) from error
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
        with explain_errors(f"{self._path} cannot be written"):
            for topic, schema, message in zip(
                _TOPICS, self._schemas, self._messages(reading, stamp), strict=True
            ):
                if message is not None:
                    self._writer.write_message(
                        topic, schema, message, nanoseconds, nanoseconds, self._sequence
                    )
            self._file.flush()
        self._sequence += 1

    def _messages(self, reading: Reading, stamp: dict[str, int]) -> tuple[dict[str, Any] | None, ...]:
        """The message of each topic."""
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
    """Write the telemetry of a run in the simulation, whose joint speeds it does not have."""
    turned = Rotation.from_euler("xyz", telemetry.angles.reshape(-1, 3)).as_quat(scalar_first=True)
    with (
        replace_file(path) as temporary,
        McapLog(path, telemetry.joints, telemetry.feet, gait=gait, into=temporary) as log,
    ):
        for i, time in enumerate(telemetry.times.tolist()):
            log.write(
                Reading(
                    time,
                    telemetry.joint_angles[i],
                    (),
                    telemetry.torques[i],
                    turned[i],
                    telemetry.rates[i],
                    None,
                    telemetry.positions[i],
                    telemetry.commands[i],
                    telemetry.contacts[i],
                    "driven",
                )
            )


def write_link_csv(
    moments: Sequence[DrivenStep], path: Path, joints: Sequence[str], feet: Sequence[str], *, gait: str
) -> None:
    """Write control steps over a link as a CSV: the columns of `Telemetry.write_csv` that a robot has."""
    rows = []
    for moment in moments:
        reading = Reading.of(moment)
        angles = Rotation.from_quat(reading.quaternion, scalar_first=True).as_euler("xyz")
        columns = {"time [s]": reading.time}
        columns |= zip(("x [m]", "y [m]", "z [m]"), reading.place or 3 * [np.nan], strict=True)
        for axis, angle, rate in zip(("roll", "pitch", "yaw"), angles, reading.rates, strict=True):
            columns |= {f"{axis} [rad]": angle, f"{axis} rate [rad/s]": rate}
        told = zip(joints, reading.positions, reading.torques, reading.action, strict=True)
        for joint, q, torque, action in told:
            columns |= {f"{joint} angle [rad]": q, f"{joint} torque [N m]": torque}
            columns[f"{joint} command [-1..1]"] = action
        columns |= {
            f"{foot} contact [0/1]": float(f > 0) for foot, f in zip(feet, reading.contacts, strict=True)
        }
        rows.append(columns)
    table = pd.DataFrame(rows)
    table["gait"] = gait
    write_text(path, table.to_csv(index=False, float_format="%.9g", na_rep="nan"))


def _vector(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))
