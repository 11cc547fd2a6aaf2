"""`read_trace`: a table of telemetry, of a robot or of its simulation, as a trace."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from robots.errors import InvalidFileError, InvalidValueError, shown
from robots.files.texts import read_text
from robots.robot import Robot
from robots.simulation.trace import SENSORS

_OFF = 0.02  # share by which the usual time between two rows may differ from a control step
_ROUNDING = 1e-6  # by which a command may exceed its range

_MOST = 1e9  # of any number, far from what a sensor shows


def read_trace(path: Path, robot: Robot, sensors: Sequence[str] = SENSORS) -> tuple[str, np.ndarray]:
    """Read what `Telemetry.write_csv` wrote, or a robot of one's own.

    Args:
        path: a CSV whose first row names the columns; others than those of a trace are left alone.
        robot: whole; no more rows count than its episodes have.
        sensors: that it has, of `SENSORS`; columns of others need not be there, and count as 0.

    Returns:
        The name of the gait, and the trace, see `robots.simulation.trace`. Where a row or a few are missing,
        since their states were lost, the one before stands for them.
    """
    try:
        table = pd.read_csv(io.StringIO(read_text(path)), dtype=str, keep_default_na=False)
        gaits, values = _columns(table, robot, sensors)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InvalidFileError(f"{path} is no trace of the {robot.name}: it is no whole CSV") from error
    except InvalidValueError as error:
        raise InvalidFileError(f"{path} is no trace of the {robot.name}: {error}") from error
    return gaits, values


def _columns(table: pd.DataFrame, robot: Robot, sensors: Sequence[str]) -> tuple[str, np.ndarray]:
    """Name of the gait and trace of a table."""
    joints, feet, axes = robot.description.joints, robot.description.feet, ("roll", "pitch", "yaw")
    columns = {
        "": [f"{joint} command [-1..1]" for joint in joints],
        "encoders": [f"{joint} angle [rad]" for joint in joints],
        "currents": [f"{joint} torque [N m]" for joint in joints],
        "imu": [f"{axis} [rad]" for axis in axes] + [f"{axis} rate [rad/s]" for axis in axes],
        "contacts": [f"{foot} contact [0/1]" for foot in feet],
        "odometry": ["x [m]", "y [m]"],
    }
    sensor_of = {name: sensor for sensor, own in columns.items() for name in own}
    table = table.assign(**{name: "0" for name, sensor in sensor_of.items() if sensor not in ("", *sensors)})
    missing = [name for name in ("time [s]", *sensor_of, "gait") if name not in table]
    if missing:
        raise InvalidValueError(f"it has no column {shown(missing[0])}{_hint(sensor_of.get(missing[0]))}")
    table = table.iloc[: robot.description.episode_steps]
    found = [pd.to_numeric(table[name], errors="coerce") for name in ("time [s]", *sensor_of)]
    values = np.array(found, np.float64).T
    if not len(table):
        raise InvalidValueError("it has no rows")
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first fields for names of rows then
        raise InvalidValueError("its rows have more fields than its first row names")
    names = ("time [s]", *sensor_of)
    commands, contacts = np.isin(names, columns[""]), np.isin(names, columns["contacts"])
    for must, wrong in {
        "numbers must be finite and less than 1e9": ~(np.abs(values) < _MOST),
        "commands must be from -1 to 1": commands & (np.abs(values) > 1 + _ROUNDING),
        "contacts must be 0 or 1": contacts & ~np.isin(values, (0, 1)),
    }.items():
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            name = names[column]
            raise InvalidValueError(
                f"{must}, but {shown(name)} is {shown(table[name].iloc[row])} in row {row + 1}"
                f"{_hint(sensor_of.get(name))}"
            )
    gaits = table["gait"].unique()
    if len(gaits) > 1:
        raise InvalidValueError(f"it is of several gaits: {shown(gaits[0])} and {shown(gaits[1])}")
    seconds = np.diff(values[:, 0])
    step = float(np.median(seconds)) if len(seconds) else robot.control_step  # whatever few rows were lost
    if abs(step / robot.control_step - 1) > _OFF:
        raise InvalidValueError(
            f"its rows are {step:g} s apart, not a control step of {robot.control_step:g} s"
        )
    steps = np.rint(seconds / robot.control_step)
    if (steps < 1).any():
        row = int(np.argmax(steps < 1))
        raise InvalidValueError(
            f"row {row + 2} is {seconds[row]:g} s after the one before, not a control step of "
            f"{robot.control_step:g} s"
        )
    rows = np.repeat(np.arange(len(values)), np.append(steps, 1).astype(int))
    trace, j = values[rows[: robot.description.episode_steps], 1:], len(joints)
    trace[:, j : 2 * j] = (trace[:, j : 2 * j] - robot.joint_middles) / robot.joint_half_ranges
    return str(gaits[0]), trace.astype(np.float32)


def _hint(sensor: str | None) -> str:
    """What to do where a sensor's numbers are not there."""
    return f"; if the robot has no {sensor}, leave it out of the sensors" if sensor else ""
