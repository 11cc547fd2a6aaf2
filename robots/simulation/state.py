"""What the kernels of the walking task read and write: `Task`, constants of a robot, and `EpisodeState`.

Both hold few arrays, most of them of records: every array that a kernel takes costs compilation time.
"""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from robots.model import contact_sensor, put_joints
from robots.robot import Robot

ABSENT = -1  # address of what a damaged robot has lost
_MIDWAY = 0.4  # share of an episode after which progress is noted
_INT, _FLOAT, _BOOL = np.int64, np.float64, np.bool_

_CONSTANTS = np.dtype(
    [
        ("qpos", _INT),  # positions, from this column of a row of state ...
        ("qpos_end", _INT),  # ... to the one before this
        ("qvel", _INT),  # velocities likewise
        ("qvel_end", _INT),
        ("root_qpos", _INT),  # first column of the positions of the torso's root joints
        ("root_qvel", _INT),  # and of their velocities
        ("planar", _BOOL),  # whether these are a slide along x, a slide along z and a hinge about y
        ("origin_x", _FLOAT),  # where the torso of a planar robot is when its joints are at 0 [m]
        ("origin_z", _FLOAT),
        ("min_height", _FLOAT),  # the robot is alive while its torso is above this [m]
        ("max_pitch", _FLOAT),  # and while its torso's pitch is smaller than this [rad]
        ("min_upright", _FLOAT),  # and while the cosine of its torso's tilt is larger than this
        ("ends_episode", _BOOL),  # whether an episode ends once the robot is not alive
        ("forfeits", _BOOL),  # whether it is worth 0 then
        ("control_step", _FLOAT),  # [s]
        ("substeps", _INT),  # physics steps of a control step
        ("max_steps", _INT),  # control steps that an episode has at most
        ("midway", _INT),  # control steps after which progress is noted
        ("alive", _FLOAT),  # weights of the reward's terms, see `robots.description.Reward`
        ("progress", _FLOAT),
        ("electricity", _FLOAT),
        ("torque", _FLOAT),
        ("joint_at_limit", _FLOAT),
        ("delay", _INT),  # control steps by which actions come late
        ("faulty", _BOOL),  # whether any observation is stuck or noisy
    ],
    align=True,
)
_JOINT = np.dtype(
    [
        ("qpos", _INT),  # columns of a row of state, or ABSENT
        ("qvel", _INT),
        ("ctrl", _INT),
        ("middle", _FLOAT),  # of the joint's range [rad or m]
        ("half_range", _FLOAT),
        ("fixed", _FLOAT),  # position that an absent joint reads, rescaled like the others
        ("ctrl_middle", _FLOAT),  # of what the actuator can be told
        ("ctrl_half_range", _FLOAT),
        ("gear", _FLOAT),
        ("gain", _FLOAT),  # force per control
        ("bias", _FLOAT),  # constant force of the actuator
        ("bias_length", _FLOAT),  # force per length
        ("bias_velocity", _FLOAT),  # force per velocity
        ("min_force", _FLOAT),
        ("max_force", _FLOAT),
    ],
    align=True,
)
# value of an observation that is stuck, or NaN, and standard deviation of the noise that is added to it
_SENSOR = np.dtype([("stuck", np.float32), ("noise", np.float32)], align=True)
_TALLY = np.dtype(
    [
        ("objective", _FLOAT),  # sum of rewards
        ("reward", _FLOAT),  # of the last control step
        ("steps", _INT),  # control steps survived
        ("energy", _FLOAT),  # mechanical work of the motors, both signs counted [J]
        ("initial_height", _FLOAT),  # of the torso at reset [m]
        ("initial_distance", _FLOAT),  # of the torso to the target at reset [m]
        ("target_distance", _FLOAT),  # and now
        ("midway", _FLOAT),  # progress after two fifths of the longest episode, or now if that is to come [m]
        ("lateral", _FLOAT),  # displacement of the torso to the left when the episode ended [m]
        ("heading", _FLOAT),  # yaw of the torso then [rad]
        ("seed", np.uint64),  # of the episode, from which the noise of its observations derives
        ("terminated", _BOOL),  # whether the episode ended early: the robot is not alive, or diverged
        ("diverged", _BOOL),  # whether the simulation blew up
    ],
    align=True,
)


class Columns(NamedTuple):
    """Where a row of state holds positions, velocities and controls: the first column of each."""

    qpos: int
    qvel: int
    ctrl: int


class Task(NamedTuple):
    """What the kernels need to know of a robot.

    Attributes:
        constants: one record, (1,).
        joints: a record for each actuated joint, (j,).
        soles: sensor-data columns of each foot's soles, padded with ABSENT, (f, s).
        untouched: feet that a robot that is alive does not touch the floor with, (f,) bool.
        sensors: a record for each observation, (o,).
    """

    constants: np.ndarray
    joints: np.ndarray
    soles: np.ndarray
    untouched: np.ndarray
    sensors: np.ndarray


class EpisodeState(NamedTuple):
    """What the kernels read and write during an episode.

    Attributes:
        row: MuJoCo's positions, velocities and controls, (n,) float64.
        sensordata: MuJoCo's.
        warnings: how often MuJoCo raised each kind of warning.
        observation: what the robot's controller sees now, (o,) float32.
        action: of the last control step as it arrived at the motors, (a,) float32.
        pending: actions that have not reached the motors yet, (delay, a) float32.
        contacts: control steps that each foot was in contact, (f,).
        touching: whether each foot is in contact now, (f,).
        tally: what the episode has added up so far, one record, (1,).
    """

    row: np.ndarray
    sensordata: np.ndarray
    warnings: np.ndarray
    observation: np.ndarray
    action: np.ndarray
    pending: np.ndarray
    contacts: np.ndarray
    touching: np.ndarray
    tally: np.ndarray


def make_task(robot: Robot, columns: Columns) -> Task:
    """Look up where a robot's parts are in a row of its state."""
    description, faults = robot.description, robot.faults
    sensors = np.recarray(robot.observation_dim, _SENSOR)
    sensors.stuck = _by_observation(robot, faults.stuck, np.nan)
    sensors.noise = _by_observation(robot, faults.noisy, 0.0)
    untouched = np.array([foot in description.alive.untouched for foot in description.feet])
    return Task(_constants(robot, columns), _joints(robot, columns), _soles(robot), untouched, sensors)


def make_state(task: Task, row: np.ndarray, data: mujoco.MjData) -> EpisodeState:
    """The state of an episode that has not begun.

    Args:
        task: of the robot.
        row: of MuJoCo's data, see `EpisodeState`.
        data: that the row is part of.
    """
    feet, joints, delay = len(task.soles), len(task.joints), int(task.constants["delay"][0])
    return EpisodeState(
        row=row,
        sensordata=data.sensordata,
        warnings=data.warning.number,
        observation=np.zeros(len(task.sensors), np.float32),
        action=np.zeros(joints, np.float32),
        pending=np.zeros((delay, joints), np.float32),
        contacts=np.zeros(feet, np.int64),
        touching=np.zeros(feet, np.bool_),
        tally=np.zeros(1, _TALLY).view(np.recarray),
    )


def start_positions(robot: Robot) -> np.ndarray:
    """Positions as built with the actuated joints at 0, but for those of the keyframe, (nq,)."""
    positions = robot.physics.qpos0.copy()
    zero = {joint: np.zeros(1) for joint in robot.description.joints}
    put_joints(robot.physics, positions, zero | dict(robot.start))
    return positions


def _constants(robot: Robot, columns: Columns) -> np.ndarray:
    """One record of numbers, (1,)."""
    model, description, faults = robot.physics, robot.description, robot.faults
    reward, alive, torso = description.reward, description.alive, model.body(description.torso)
    root = torso.jntadr[0]
    origin = model.body_pos[torso.id, [0, 2]] - model.qpos0[model.jnt_qposadr[root] :][:2]
    values = {
        "qpos": columns.qpos,
        "qpos_end": columns.qpos + model.nq,
        "qvel": columns.qvel,
        "qvel_end": columns.qvel + model.nv,
        "root_qpos": columns.qpos + model.jnt_qposadr[root],
        "root_qvel": columns.qvel + model.jnt_dofadr[root],
        "planar": model.jnt_type[root] != mujoco.mjtJoint.mjJNT_FREE,
        "origin_x": origin[0],
        "origin_z": origin[1],
        "min_height": -np.inf if alive.min_height is None else alive.min_height,
        "max_pitch": np.inf if alive.max_pitch is None else alive.max_pitch,
        "min_upright": -np.inf if alive.max_tilt is None else np.cos(alive.max_tilt),
        "ends_episode": alive.ends_episode,
        "forfeits": alive.forfeits,
        "control_step": robot.control_step,
        "substeps": description.substeps,
        "max_steps": description.episode_steps,
        "midway": max(1, round(_MIDWAY * description.episode_steps)),
        **reward.model_dump(),
        "delay": faults.delay,
        "faulty": bool(faults.stuck or faults.noisy),
    }
    return _records(_CONSTANTS, 1, values)


def _joints(robot: Robot, columns: Columns) -> np.ndarray:
    """A record of each actuated joint, (j,); 0 for the actuator of one that is absent."""
    model, ranges = robot.physics, robot.joint_ranges
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in robot.description.joints]
    motors = [_motor_of(model, joint) for joint in joints]
    middle, half_range = ranges.mean(axis=1), (ranges[:, 1] - ranges[:, 0]) / 2
    fixed = [robot.faults.fixed.get(joint, np.nan) for joint in robot.description.joints]
    limited = model.actuator_forcelimited.astype(np.bool_)

    def of_motors(values: np.ndarray) -> np.ndarray:
        return np.array([values[motor] if motor != ABSENT else 0.0 for motor in motors])

    values = {
        "qpos": _addresses(joints, model.jnt_qposadr, columns.qpos),
        "qvel": _addresses(joints, model.jnt_dofadr, columns.qvel),
        "ctrl": _addresses(motors, np.arange(model.nu), columns.ctrl),
        "middle": middle,
        "half_range": half_range,
        "fixed": np.nan_to_num((np.array(fixed) - middle) / half_range, nan=0.0),
        "ctrl_middle": of_motors(model.actuator_ctrlrange.mean(axis=1)),
        "ctrl_half_range": of_motors(np.diff(model.actuator_ctrlrange)[:, 0] / 2),
        "gear": of_motors(model.actuator_gear[:, 0]),
        "gain": of_motors(model.actuator_gainprm[:, 0]),
        "bias": of_motors(model.actuator_biasprm[:, 0]),
        "bias_length": of_motors(model.actuator_biasprm[:, 1]),
        "bias_velocity": of_motors(model.actuator_biasprm[:, 2]),
        "min_force": of_motors(np.where(limited, model.actuator_forcerange[:, 0], -np.inf)),
        "max_force": of_motors(np.where(limited, model.actuator_forcerange[:, 1], np.inf)),
    }
    return _records(_JOINT, len(joints), values)


def _records(dtype: np.dtype, count: int, values: Mapping[str, object]) -> np.ndarray:
    """Records of a type, with a value or `count` values for each field."""
    records = np.zeros(count, dtype).view(np.recarray)
    for name in dtype.names or ():
        records[name] = values[name]
    return records


def _by_observation(robot: Robot, values: Mapping[str, float], otherwise: float) -> np.ndarray:
    """A number for each observation, (o,) float32."""
    return np.array([values.get(name, otherwise) for name in robot.observation_names], np.float32)


def _motor_of(model: mujoco.MjModel, joint: int) -> int:
    """Index of the motor that drives a joint, or ABSENT."""
    drives = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == joint)
    found = np.flatnonzero(drives)
    return int(found[0]) if joint != ABSENT and len(found) else ABSENT


def _addresses(indices: list[int], addresses: np.ndarray, offset: int) -> np.ndarray:
    """Columns of elements in a row of state, ABSENT where they are absent."""
    return np.array([offset + addresses[i] if i != ABSENT else ABSENT for i in indices], np.int64)


def _soles(robot: Robot) -> np.ndarray:
    """Sensor-data columns of each foot's soles, padded with ABSENT, (f, s)."""
    model, feet = robot.physics, robot.description.feet
    table = np.full((len(feet), max(map(len, feet.values()))), ABSENT, np.int64)
    for row, (foot, soles) in enumerate(feet.items()):
        for number in range(len(soles)):
            name = contact_sensor(foot, number)
            sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
            if sensor != ABSENT:
                table[row, number] = model.sensor_adr[sensor]
    return table
