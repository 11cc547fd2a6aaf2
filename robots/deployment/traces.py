"""Tables of telemetry: `column_names`, `write_table`, and `read_trace`, which makes a trace of one."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from robots.errors import InvalidValueError, naming, shown
from robots.files.atomic import write_text
from robots.files.texts import read_text
from robots.robot import Robot
from robots.simulation.trace import SENSORS

_OFF = 0.02  # share by which the usual time between two rows may differ from a control step
_ROUNDING = 1e-6  # by which a command may exceed its range
_MOST = 1e9  # of any number, far from what a sensor shows
_TIME = "time [s]"


def column_names(joints: Sequence[str], feet: Sequence[str]) -> dict[str, list[str]]:
    """Names of the columns of a table of telemetry, by the attribute of `Telemetry` that they show."""
    axes = ("roll", "pitch", "yaw")
    return {
        "times": [_TIME],
        "positions": ["x [m]", "y [m]", "z [m]"],
        "angles": [f"{axis} [rad]" for axis in axes],
        "rates": [f"{axis} rate [rad/s]" for axis in axes],
        "speeds": ["forward speed [m/s]"],
        "joint_angles": [f"{joint} angle [rad]" for joint in joints],
        "joint_speeds": [f"{joint} speed [rad/s]" for joint in joints],
        "torques": [f"{joint} torque [N m]" for joint in joints],
        "commands": [f"{joint} command [-1..1]" for joint in joints],
        "actions": [f"{joint} action [-1..1]" for joint in joints],
        "contacts": [f"{foot} contact [0/1]" for foot in feet],
        "rewards": ["reward"],
    }


def write_table(columns: Mapping[str, np.ndarray], path: Path, gait: str | None) -> None:
    """Write columns as a CSV, with the name of the gait in a last column if it has one."""
    table = pd.DataFrame({name: column.astype(np.float64) for name, column in columns.items()})
    if gait is not None:
        table["gait"] = gait
    write_text(path, table.to_csv(index=False, float_format="%.9g", na_rep="nan"))


def read_trace(path: Path, robot: Robot, sensors: Sequence[str] = SENSORS) -> tuple[str, np.ndarray]:
    """Read what `write_table` wrote, or a table of your own.

    Args:
        path: a CSV whose first row names the columns; columns that a trace does not have are ignored.
        robot: whole; rows beyond the length of its episodes are ignored.
        sensors: that it has, of `SENSORS`; columns of others need not be there, and count as 0.

    Returns:
        The name of the gait, and the trace, see `robots.simulation.trace`, in which the row before stands for
        rows that are missing.
    """
    with naming(f"{path} is no trace of the {robot.name}"):
        return _read(read_table(path), robot, sensors)


def read_table(path: Path) -> pd.DataFrame:
    """The texts of a CSV whose first row names the columns."""
    try:
        table = pd.read_csv(io.StringIO(read_text(path)), dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InvalidValueError("it is no whole CSV") from error
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first fields for names of rows then
        raise InvalidValueError("its rows have more fields than its first row names")
    return table


def _read(table: pd.DataFrame, robot: Robot, sensors: Sequence[str]) -> tuple[str, np.ndarray]:
    names = column_names(robot.description.joints, tuple(robot.description.feet))
    own = {
        "": names["commands"],
        "encoders": names["joint_angles"],
        "currents": names["torques"],
        "imu": names["angles"] + names["rates"],
        "contacts": names["contacts"],
        "odometry": names["positions"][:2],
    }
    sensor_of = {name: sensor for sensor, columns in own.items() for name in columns}
    table = table.assign(**{name: "0" for name, sensor in sensor_of.items() if sensor not in ("", *sensors)})
    table = table.iloc[: robot.description.episode_steps]
    values = _numbers(table, sensor_of)
    gaits = table["gait"].unique()
    if len(gaits) > 1:
        raise InvalidValueError(f"it is of several gaits: {shown(gaits[0])} and {shown(gaits[1])}")
    steps = steps_between(np.diff(values[:, 0]), robot.control_step)
    rows = np.repeat(np.arange(len(values)), np.append(steps, 1).astype(int))
    trace, j = values[rows[: robot.description.episode_steps], 1:], len(robot.description.joints)
    trace[:, j : 2 * j] = (trace[:, j : 2 * j] - robot.joint_middles) / robot.joint_half_ranges
    return str(gaits[0]), trace.astype(np.float32)


def _numbers(table: pd.DataFrame, sensor_of: Mapping[str, str]) -> np.ndarray:
    """Times and the columns of a trace, checked, (rows, 1 + columns)."""
    names = (_TIME, *sensor_of)
    missing = [name for name in (*names, "gait") if name not in table]
    if missing:
        raise InvalidValueError(f"it has no column {shown(missing[0])}{_hint(sensor_of.get(missing[0]))}")
    values = read_numbers(table, names, sensor_of)
    commands, contacts = (
        np.isin([sensor_of.get(name, "?") for name in names], [kind]) for kind in ("", "contacts")
    )
    for must, wrong in {
        "commands must be from -1 to 1": commands & (np.abs(values) > 1 + _ROUNDING),
        "contacts must be 0 or 1": contacts & ~np.isin(values, (0, 1)),
    }.items():
        _check(table, names, wrong, must, sensor_of)
    return values


def read_numbers(table: pd.DataFrame, names: Sequence[str], sensor_of: Mapping[str, str]) -> np.ndarray:
    """Some columns, (rows, columns), all finite; `sensor_of` them are those that a robot may be without."""
    if not len(table):
        raise InvalidValueError("it has no rows")
    columns = [pd.to_numeric(table[name], errors="coerce") for name in names]
    values = np.array(columns, np.float64).reshape(len(names), len(table)).T
    _check(table, names, ~(np.abs(values) < _MOST), "numbers must be finite and less than 1e9", sensor_of)
    return values


def _check(
    table: pd.DataFrame, names: Sequence[str], wrong: np.ndarray, must: str, sensor_of: Mapping[str, str]
) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        name = names[column]
        raise InvalidValueError(
            f"{must}, but {shown(name)} is {shown(table[name].iloc[row])} in row {row + 1}"
            f"{_hint(sensor_of.get(name))}"
        )


def steps_between(seconds: np.ndarray, control_step: float) -> np.ndarray:
    """Number of control steps from each row to the next, from the times between them [s]."""
    step = float(np.median(seconds)) if len(seconds) else control_step  # whatever few rows were lost
    if abs(step / control_step - 1) > _OFF:
        raise InvalidValueError(f"its rows are {step:g} s apart, not a control step of {control_step:g} s")
    steps = np.rint(seconds / control_step)
    if (steps < 1).any():
        row = int(np.argmax(steps < 1))
        raise InvalidValueError(
            f"row {row + 2} is {seconds[row]:g} s after the one before, not a control step of "
            f"{control_step:g} s"
        )
    return steps


def _hint(sensor: str | None) -> str:
    return f"; if the robot has no {sensor}, leave it out of the sensors" if sensor else ""
