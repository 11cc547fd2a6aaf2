"""`read_log`: what a gait saw, and what motors were told, of the log of a robot."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from robots.deployment.traces import column_names, read_numbers, read_table, steps_between
from robots.errors import InvalidValueError, installed, naming, one_line, shown
from robots.files.texts import read_bytes
from robots.link.observer import Observer
from robots.robot import Robot
from robots.simulation.state import imu_axes

_LEAST = 20  # control steps of a log
_SETTLES = 5  # control steps until a gait has forgotten that its first observation is not in the log
_MOST_BYTES = 500_000_000  # of an MCAP
_TOPICS = ("/joint_states", "/imu", "/control_step")


class Log(NamedTuple):
    """A row for each control step."""

    seen: np.ndarray  # numbers of the gait's `obs`, (t, n)
    told: np.ndarray  # what motors were told as actions, (t, a); NaN where it is not known what the gait saw
    limited: bool = False  # whether these follow from targets, which keep to what is allowed


def read_log(path: Path, robot: Robot, told: dict[str, Any]) -> Log:
    """Read a log of a robot that a gait drove, from the gait's first control step on.

    It is telemetry of `surefoot deploy`, .csv or .mcap, or a .csv of one's own: in each row the quantities of
    `obs` by their names, and `JOINT target` or `JOINT action` of every joint, that followed from these. What
    the metadata of the gait's file say under `surefoot` is `told`.
    """
    with naming(f"{path} is no log of this gait of the {robot.name}"):
        table = _read_mcap(path) if path.suffix.lower() == ".mcap" else read_table(path)
        return _log(table, robot, told)


def _log(table: pd.DataFrame, robot: Robot, told: dict[str, Any]) -> Log:
    joints = [one["joint"] for one in told["actions"]]
    names = column_names(joints, tuple(robot.description.feet))
    own = names["commands"][0] in table
    actions = _numbers(table, names["commands"]) if own else _actions(table, told["actions"], joints)
    if own:
        table = _quantities(table, robot, names)
    seen = _numbers(table, [column["name"] for column in told["obs"]])
    if own:  # what was sensed at the end of a control step leads to the next one's action
        steps = steps_between(np.diff(_numbers(table, names["times"])[:, 0]), robot.control_step)
        rows = np.repeat(np.arange(len(table)), np.minimum(np.append(steps, 1), 100).astype(int))
        seen, actions = seen[np.append(0, rows[:-1])], actions[rows]
        actions[1:][np.diff(rows) == 0] = np.nan
        if told["obs"]:
            actions[: _SETTLES + max((entry.lag for entry in robot.entries), default=0)] = np.nan
    ago = np.arange(len(seen))[:, None] - np.array([column["lag"] for column in told["obs"]], int)
    seen = np.take_along_axis(seen, np.maximum(ago, 0), axis=0)
    seen = seen - np.array([column["less"] for column in told["obs"]], np.float64)
    known = int(np.isfinite(actions[:, 0]).sum())
    if known < _LEAST:
        raise InvalidValueError(f"it tells of {known} control steps, and a comparison needs {_LEAST}")
    return Log(seen, actions, limited=not own and f"{joints[0]} action" not in table)


def _numbers(table: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Some columns, (rows, columns)."""
    if missing := [name for name in names if name not in table]:
        raise InvalidValueError(f"it has no column {shown(missing[0])}, which this gait needs")
    return read_numbers(table, names, {})


def _actions(table: pd.DataFrame, told: Sequence[dict[str, Any]], joints: Sequence[str]) -> np.ndarray:
    """What motors were told, from -1 to 1, (rows, joints)."""
    if f"{joints[0]} action" in table:
        return _numbers(table, [f"{joint} action" for joint in joints])
    return as_actions(_numbers(table, [f"{joint} target" for joint in joints]), told)


def as_actions(targets: np.ndarray, told: Sequence[dict[str, Any]]) -> np.ndarray:
    """What has these targets, (t, a), by what the metadata of a file say of its actions."""
    offset, scale = (np.array([one[key] for one in told]) for key in ("offset", "scale"))
    return np.asarray((targets - offset) / np.where(scale == 0, 1, scale))


def _quantities(table: pd.DataFrame, robot: Robot, names: dict[str, list[str]]) -> pd.DataFrame:
    """What the robot's channels said by the columns of telemetry, under their names, next to these."""
    observer, imu = Observer(robot), Rotation.from_matrix(imu_axes(robot))
    fields = {"positions": "joint_angles", "speeds": "joint_speeds", "contacts": "contacts"}
    fields |= {"orientation": "angles", "rates": "rates"}
    there = {name: names[field] for name, field in fields.items() if {*names[field]} <= {*table}}
    given = {name: _numbers(table, columns) for name, columns in there.items()}
    if "orientation" in given and "rates" in given:
        turned = Rotation.from_euler("xyz", given["orientation"]) * imu.inv()
        given["rates"] = imu.apply(given["rates"])
        given["orientation"] = turned.as_quat(scalar_first=True)
        # headings count from before the first control step
        start = turned[0] * Rotation.from_rotvec(-robot.control_step * given["rates"][0])
        observer.quantities(orientation=start.as_quat(scalar_first=True))
    rows = (dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True))
    seen = [observer.quantities(**row) for row in rows]
    known = pd.DataFrame(seen, columns=[channel.name for channel in robot.channels]).dropna(axis=1)
    extra = table[[name for name in table if name not in known]]  # such as a command, added by hand
    return pd.concat([known, extra], axis=1)


def _read_mcap(path: Path) -> pd.DataFrame:
    """The columns of telemetry that a log of `McapLog` has."""
    with installed("MCAP needs mcap-ros2-support, which is", "'surefoot[robot]'"):
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory
    found = dict[int, dict[str, Any]]()
    content = io.BytesIO(read_bytes(path, _MOST_BYTES))
    try:
        reader = make_reader(content, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages(topics=_TOPICS):
            found.setdefault(message.log_time, {})[channel.topic] = decoded
    except Exception as error:  # of many kinds, where bytes are not what they should be
        raise InvalidValueError(f"it is no whole MCAP ({one_line(error) or type(error).__name__})") from error
    rows = [_row(time, *map(said.get, _TOPICS)) for time, said in found.items() if said.keys() == {*_TOPICS}]
    if not rows:
        raise InvalidValueError(f"it has no control step with {', '.join(_TOPICS)} of one time")
    return pd.DataFrame(rows)


def _row(time: int, joints: Any, imu: Any, step: Any) -> dict[str, float]:
    names = column_names(step.joints, step.feet)
    angles = Rotation.from_quat([getattr(imu.orientation, axis) for axis in "xyzw"]).as_euler("xyz")
    values = {
        "times": [time / 1e9],
        "angles": angles,
        "rates": [getattr(imu.angular_velocity, axis) for axis in "xyz"],
        "joint_angles": joints.position,
        "joint_speeds": joints.velocity,
        "commands": step.action,
        "contacts": [float(force > 0) for force in step.contact],
    }
    return {name: value for field in values for name, value in zip(names[field], values[field], strict=False)}
