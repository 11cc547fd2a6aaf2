"""What the kernels of the walking task read and write: `Task`, constants of a robot, and `EpisodeState`.

Both hold few arrays, most of them of records: every array that a kernel takes costs compilation time.
"""

import ctypes
from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from robots.falls import limits_of
from robots.model import ACCELEROMETER, contact_sensor
from robots.motors import ABSENT, Motors, followed, motor_of
from robots.robot import Robot
from robots.task.observations import Channel
from robots.task.reward import PRESETS, TERMS
from robots.task.terrain import field_of

MIDWAY = 0.4  # share of an episode after which progress is noted
_INT, _FLOAT, _BOOL = np.int64, np.float64, np.bool_
_TYPES = {"i": _INT, "f": _FLOAT, "b": _BOOL}  # of a field, by the kind of its values

# value of a reading that is stuck, or NaN; standard deviation of its noise; step that it is rounded to, or 0
_SENSOR = np.dtype([("stuck", np.float32), ("noise", np.float32), ("step", np.float32)], align=True)
# place of a foot [m], and control steps since it touched the floor
_FOOT = np.dtype([("x", _FLOAT), ("y", _FLOAT), ("airborne", _INT)], align=True)
TALLY = np.dtype(
    [
        ("objective", _FLOAT),  # sum of rewards
        ("reward", _FLOAT),  # of the last control step
        ("steps", _INT),  # control steps survived
        ("energy", _FLOAT),  # mechanical work of the motors, both signs counted [J]
        ("initial_height", _FLOAT),  # of the torso at reset [m]
        ("initial_distance", _FLOAT),  # of the robot's position to the target at reset [m]
        ("target_distance", _FLOAT),  # and now
        ("midway", _FLOAT),  # progress after two fifths of the longest episode, or now if that is to come [m]
        ("x", _FLOAT),  # of the torso [m]
        ("y", _FLOAT),
        ("yaw", _FLOAT),  # of the torso [rad]
        ("initial_x", _FLOAT),  # of the torso at reset [m]
        ("initial_y", _FLOAT),
        ("ahead", _FLOAT),  # its way along its own heading, backwards counting against it [m]
        ("height_sum", _FLOAT),  # of its heights after all control steps [m]
        ("path", _FLOAT),  # length of the torso's way over the ground [m]
        ("turned", _FLOAT),  # how far the torso turned, to the left less to the right [rad]
        ("lateral", _FLOAT),  # displacement of the torso to the left when the episode ended [m]
        ("heading", _FLOAT),  # yaw of the torso then [rad]
        ("commanded_speed", _FLOAT),  # [m/s]
        ("commanded_turn", _FLOAT),  # to the left [rad/s]
        ("seed", np.uint64),  # of the episode, from which the noise of its observations derives
        ("down", _INT),  # control steps on end in which the robot was not upright, see `robots.falls`
        ("fell", _BOOL),  # whether it has fallen
        ("terminated", _BOOL),  # whether the episode ended early, see `Robot`, or because it diverged
        ("diverged", _BOOL),  # whether the simulation blew up
    ],
    align=True,
)
_TALLIED: Any = namedtuple("Tally", TALLY.names or ())  # type: ignore[misc]


class Task(NamedTuple):
    """What the kernels need to know of a robot.

    Attributes:
        constants: one record, (1,).
        joints: a record for each actuated joint, (j,).
        soles: sensor-data columns of each foot's soles, padded with ABSENT, (f, s).
        places: column of a row of state where the place of each foot's first sole is, or ABSENT, (f,).
        untouched: feet that a robot that is alive does not touch the floor with, (f,) bool.
        sensors: a record for each reading, (r,).
        quantities: a record for each number of an observation that is new in a control step, (q,), and
        entries: one for each number of an observation, (o,); see `observing.compose`. None for the paper's.
        imu: what turns the torso's frame into that of the IMU, (3, 3).
        parts: a record for each body whose place counts for the robot's position, (p,); none where the torso
            alone does, whose place is known without them.
        links: a record for each body that drag slows down, parents before children, (l,); none without drag.
        ground: heights of the points of a floor that is a height field [m], (rows along y, columns along x)
            float32; none of a level floor, whose height is 0.
    """

    constants: np.ndarray
    joints: np.ndarray
    soles: np.ndarray
    places: np.ndarray
    untouched: np.ndarray
    sensors: np.ndarray
    quantities: np.ndarray
    entries: np.ndarray
    imu: np.ndarray
    parts: np.ndarray
    links: np.ndarray
    ground: np.ndarray


class EpisodeState(NamedTuple):
    """What the kernels read and write during an episode.

    Attributes:
        row: MuJoCo's positions, velocities, controls and places of bodies, (n,) float64.
        sensordata: MuJoCo's.
        warnings: how often MuJoCo raised each kind of warning, counted from `HEARD`.
        readings: what the robot's sensors read now, (r,) float32.
        observation: what its controller sees now, (o,) float32; of the paper's, the readings themselves.
        told: what its controller told the joints last, (a,) float32.
        past: the quantities of the last control steps, (steps, q) float32.
        action: of the last control step as it arrived at the motors, (a,) float32.
        pending: actions that have not reached the motors yet, (delay, a) float32.
        contacts: control steps that each foot was in contact, (f,).
        touching: whether each foot is in contact now, (f,).
        tally: what the episode has added up so far, one record, (1,).
        drag: torque and force of each link's drag about the robot's centre of mass, (l, 6); scratch memory.
        last_action: what arrived at the motors in the control step before, (a,) float32.
        feet: a record for each foot, (f,): where it was in the control step before, and for how long it has
            been in the air.
    """

    row: np.ndarray
    sensordata: np.ndarray
    warnings: np.ndarray
    readings: np.ndarray
    observation: np.ndarray
    told: np.ndarray
    past: np.ndarray
    action: np.ndarray
    pending: np.ndarray
    contacts: np.ndarray
    touching: np.ndarray
    tally: np.ndarray
    drag: np.ndarray
    last_action: np.ndarray
    feet: np.ndarray


_TASKS: WeakKeyDictionary[Robot, Task] = WeakKeyDictionary()


def task_of(robot: Robot, data: mujoco.MjData) -> Task:
    """Where the parts of a robot are in a row of its state, which is part of its data.

    It is looked up once for each robot: all data of a model have the same layout.
    """
    if robot not in _TASKS:
        _TASKS[robot] = _make_task(robot, data)
    return _TASKS[robot]


def _make_task(robot: Robot, data: mujoco.MjData) -> Task:
    description, faults = robot.description, robot.faults
    sensors = np.recarray(len(robot.channels), _SENSOR)
    sensors.stuck = _by_channel(robot, faults.stuck, np.nan)
    sensors.noise = _by_channel(robot, faults.noisy, 0.0)
    sensors.step = _by_channel(robot, faults.rounded, 0.0)
    quantities, entries = composition(robot)
    untouched = np.array([foot in description.alive.untouched for foot in description.feet])
    parts = _parts(robot, data)
    links = _links(robot, data)
    return Task(
        constants=_constants(robot, data),
        joints=_joints(robot, data),
        soles=_soles(robot),
        places=_places(robot, data),
        untouched=untouched,
        sensors=sensors,
        quantities=quantities,
        entries=entries,
        imu=imu_axes(robot),
        parts=parts,
        links=links,
        ground=_ground(robot),
    )


def make_state(task: Task, data: mujoco.MjData) -> EpisodeState:
    """The state of an episode that has not begun, part of which is that of MuJoCo's data."""
    feet, joints, delay = len(task.soles), len(task.joints), int(task.constants["delay"][0])
    readings = np.zeros(len(task.sensors), np.float32)
    composed = len(task.entries) > 0
    return EpisodeState(
        row=_row(task, data),
        sensordata=data.sensordata,
        warnings=data.warning.number,
        readings=readings,
        observation=np.zeros(len(task.entries), np.float32) if composed else readings,
        told=np.zeros(joints, np.float32),
        past=make_past(task.quantities, task.entries),
        action=np.zeros(joints, np.float32),
        pending=np.zeros((delay, joints), np.float32),
        contacts=np.zeros(feet, np.int64),
        touching=np.zeros(feet, np.bool_),
        tally=np.zeros(1, TALLY).view(np.recarray),
        drag=np.zeros((len(task.links), 6)),
        last_action=np.zeros(joints, np.float32),
        feet=np.zeros(feet, _FOOT).view(np.recarray),
    )


def read_tally(state: EpisodeState) -> Any:
    """A copy of the tally as named Python numbers: attributes of NumPy's records take ten times as long."""
    return _TALLIED(*state.tally.item(0))


def _constants(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """One record of numbers, (1,)."""
    model, description, faults = robot.physics, robot.description, robot.faults
    alive, torso, qvel = description.alive, model.body(description.torso), _column(data, data.qvel)
    limits = limits_of(robot)
    root, planar = robot.root_joint, not robot.moves_freely
    along = int(planar and model.jnt_axis[root, 0] != 1)  # the slides of a planar robot have any order
    up = 1 - along if planar else 2
    origin = model.body_pos[torso.id, [0, 2]] - model.qpos0[model.jnt_qposadr[root] :][[along, up]]
    values = {
        "qpos_end": model.nq,  # positions are the columns of a row of state before this
        "qvel": qvel,  # velocities those from this ...
        "qvel_end": qvel + model.nv,  # ... to the one before this
        "root_qpos": model.jnt_qposadr[root],  # first column of the positions of the torso's root joints
        "root_qvel": qvel + model.jnt_dofadr[root],  # and of their velocities
        # whether these are slides along x and z and a hinge about y
        "planar": planar,
        "along": along,  # number of the column of x among these
        "up": up,  # and of that of z
        "origin_x": origin[0],  # where the torso of a planar robot is when its joints are at 0 [m]
        "origin_z": origin[1],
        "min_height": -np.inf if alive.min_height is None else alive.min_height,
        "max_pitch": np.inf if alive.max_pitch is None else alive.max_pitch,
        "min_upright": -np.inf if alive.max_tilt is None else np.cos(alive.max_tilt),
        "ends_episode": alive.ends_episode,
        "least_share": limits.share,
        "least_upright": np.cos(limits.tilt),
        "patience": limits.patience,
        "until_it_falls": robot.ends_at_fall,
        "forfeits": alive.forfeits,
        "control_step": robot.control_step,
        "physics_step": model.opt.timestep,
        "drag": description.drag,
        "slowed": bool(description.position_rates),
        "substeps": description.substeps,
        "max_steps": description.episode_steps,
        "midway": max(1, round(MIDWAY * description.episode_steps)),
        **_weights(robot),
        **_commands(robot),
        **_ground_places(robot),
        "floor": data.geom_xpos[model.geom(description.floor).id, 2],  # height of one that is a plane [m]
        "delay": faults.delay,
        "gravity": np.linalg.norm(model.opt.gravity),
        "accelerometer": _accelerometer(model),
        "composed": not description.observations.as_published,
        "faulty": bool(faults.stuck or faults.noisy or faults.rounded),
        "swapped": bool(faults.swapped),
    }
    return _records(1, values)


def _ground(robot: Robot) -> np.ndarray:
    """Heights of the points of a floor that is a height field, see `Task`."""
    if (found := field_of(robot.physics, robot.description.floor)) is None:
        return np.zeros((0, 0), np.float32)
    model, (floor, field) = robot.physics, found
    rows, columns, first = model.hfield_nrow[field], model.hfield_ncol[field], model.hfield_adr[field]
    heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    return np.asarray(model.geom_pos[floor, 2] + model.hfield_size[field, 2] * heights, np.float32)


def _ground_places(robot: Robot) -> dict[str, float]:
    """Where these points are [m], and how far from each other."""
    if (found := field_of(robot.physics, robot.description.floor)) is None:
        return {"ground_x": 0.0, "ground_y": 0.0, "ground_dx": 1.0, "ground_dy": 1.0}
    model, (floor, field) = robot.physics, found
    (x, y), (half_x, half_y) = model.geom_pos[floor, :2], model.hfield_size[field, :2]
    return {
        "ground_x": x - half_x,
        "ground_y": y - half_y,
        "ground_dx": 2 * half_x / (model.hfield_ncol[field] - 1),
        "ground_dy": 2 * half_y / (model.hfield_nrow[field] - 1),
    }


def _weights(robot: Robot) -> dict[str, float | bool]:
    """What the kernels need to know of the reward; weights count per control step."""
    reward = robot.description.reward
    unit = robot.control_step if reward.per == "second" else 1.0
    weights = {f"{term}_weight": unit * float(getattr(reward, term)) for term in TERMS}
    return weights | {
        "shaped": not reward.weights.keys() <= PRESETS["paper"].keys(),
        "least_swing": reward.least_swing,
        "target_speed": np.nan if reward.target_speed is None else reward.target_speed,
    }


def _commands(robot: Robot) -> dict[str, float]:
    """The ranges that commands are drawn from [m/s, rad/s]; 0 where there are none."""
    command = robot.description.command
    (slowest, fastest), (rightmost, leftmost) = (
        (command.speed, command.turn) if command else ((0.0, 0.0), (0.0, 0.0))
    )
    return {"slowest": slowest, "fastest": fastest, "rightmost": rightmost, "leftmost": leftmost}


def _joints(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """A record of each actuated joint, (j,); 0 for the actuator of one that is absent."""
    model, description, names = robot.physics, robot.description, robot.description.joints
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
    motors = [motor_of(model, name) for name in names]
    middle, half_range = robot.joint_middles, robot.joint_half_ranges
    fixed = [robot.faults.fixed.get(name, np.nan) for name in names]
    drives = Motors.of(model, names)
    values = {
        # columns of a row of state, or ABSENT
        "qpos": _addresses(joints, model.jnt_qposadr, 0),
        "qvel": _addresses(joints, model.jnt_dofadr, _column(data, data.qvel)),
        "ctrl": _addresses(motors, np.arange(model.nu), _column(data, data.ctrl)),
        "told": _addresses(motors, _followed(model, data), 0),  # what the actuator's force follows
        "middle": middle,  # of the joint's range [rad or m]
        "half_range": half_range,
        # position that an absent joint reads, rescaled like the others
        "fixed": np.nan_to_num((np.array(fixed) - middle) / half_range, nan=0.0),
        "ctrl_middle": (drives.low + drives.high) / 2,  # of what the actuator can be told
        "ctrl_half_range": (drives.high - drives.low) / 2,
        **vars(drives),
        # share of the joint's velocity by which its position changes
        "rate": [description.position_rates.get(name, 1.0) for name in description.joints],
        "play": [float(robot.faults.play.get(name, 0.0)) for name in names],  # in units of the control
        # the joint whose action its motor gets
        "source": [names.index(robot.faults.swapped.get(name, name)) for name in names],
    }
    return _records(len(joints), values)


def _followed(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Columns of a row of state that the forces of actuators follow, (u,)."""
    controls = _column(data, data.ctrl) + np.arange(model.nu)
    return followed(model, controls, _column(data, data.act) + np.arange(model.na))


def _parts(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """A record of each body that has points of the robot's position, (p,)."""
    model, position = robot.physics, robot.description.position or {}
    bodies = {name: mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in position}
    present = {index: np.array(position[name]) for name, index in bodies.items() if index != ABSENT}
    places, turns = _column(data, data.xpos), _column(data, data.xmat)
    shares = np.array([len(points) for points in present.values()], _FLOAT)
    means = np.array([points.mean(axis=0) for points in present.values()]).reshape(-1, 3)
    values = {
        "xpos": places + 3 * np.array(list(present), _INT),  # columns of a row of state
        "xmat": turns + 9 * np.array(list(present), _INT),
        "share": shares / max(shares.sum(), 1.0),  # of the points of all bodies
        "x": means[:, 0],  # mean of its points in its frame [m]
        "y": means[:, 1],
        "z": means[:, 2],
    }
    return _records(len(present), values)


def _links(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """A record of each body that can move, (l,); none of a robot without drag."""
    model = robot.physics
    bodies = np.flatnonzero(model.body_weldid) if robot.description.drag else np.zeros(0, _INT)
    numbers = {int(body): number for number, body in enumerate(bodies)}
    inertia = model.body_inertia[bodies].T
    values = {
        "parent": np.array(
            [numbers.get(int(parent), ABSENT) for parent in model.body_parentid[bodies]], _INT
        ),
        "mass": model.body_mass[bodies],
        "inertia_x": inertia[0],  # about its principal axes
        "inertia_y": inertia[1],
        "inertia_z": inertia[2],
        # columns of a row of state: of its centre of mass and its principal axes, of its velocity about the
        # robot's centre of mass, and of that
        "xipos": _column(data, data.xipos) + 3 * bodies,
        "ximat": _column(data, data.ximat) + 9 * bodies,
        "cvel": _column(data, data.cvel) + 6 * bodies,
        "centre": _column(data, data.subtree_com) + 3 * model.body_rootid[bodies],
        # of its degrees of freedom: their number, motion axes and passive forces
        "dofs": model.body_dofnum[bodies],
        "cdof": _column(data, data.cdof) + 6 * model.body_dofadr[bodies],
        "passive": _column(data, data.qfrc_passive) + model.body_dofadr[bodies],
    }
    return _records(len(bodies), values)


def _records(count: int, values: Mapping[str, object]) -> np.ndarray:
    """Records with a value or `count` values in each field, of types that are the same for every robot."""
    columns = {name: np.asarray(value) for name, value in values.items()}
    fields = [(name, _TYPES[column.dtype.kind]) for name, column in columns.items()]
    records = np.zeros(count, np.dtype(fields, align=True)).view(np.recarray)
    for name, column in columns.items():
        records[name] = column
    return records


def _column(data: mujoco.MjData, part: np.ndarray) -> int:
    """Where a part of MuJoCo's data begins in a row of state."""
    return int(part.ctypes.data - data.qpos.ctypes.data) // data.qpos.itemsize


def _row(task: Task, data: mujoco.MjData) -> np.ndarray:
    """MuJoCo's data from the positions to all that kernels read and write, as one live row."""
    parts = [data.qpos, data.qvel, data.act, data.ctrl, data.xpos, data.xmat, data.geom_xpos]
    if len(task.links):
        parts += [data.xipos, data.ximat, data.subtree_com, data.cdof, data.cvel, data.qfrc_passive]
    length = max(_column(data, part) + part.size for part in parts if part.size)
    return np.ctypeslib.as_array((ctypes.c_double * length).from_address(data.qpos.ctypes.data))


def _by_channel(robot: Robot, values: Mapping[str, float], otherwise: float) -> np.ndarray:
    """A number for each reading, (r,) float32."""
    return np.array([values.get(channel.name, otherwise) for channel in robot.channels], np.float32)


def composition(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """The records of `observing.compose`: quantities (q,) and entries (o,), none for the paper's."""
    given = () if robot.description.observations.as_published else robot.entries
    distinct = list(dict.fromkeys(entry._replace(lag=0) for entry in given))
    numbers = {entry: number for number, entry in enumerate(distinct)}
    read = [robot.channels[entry.source] if entry.kind == 0 else Channel("", "") for entry in distinct]
    scales = np.array([entry.scale for entry in distinct], _FLOAT)
    zeros = np.array(
        [channel.zero - entry.zero for channel, entry in zip(read, distinct, strict=True)], _FLOAT
    )
    quantities = {
        "kind": np.array([entry.kind for entry in distinct], _INT),
        "source": np.array([entry.source for entry in distinct], _INT),
        "factor": scales / np.array([channel.gain for channel in read], _FLOAT),
        "offset": scales * zeros,
        "noise": abs(scales) * np.array([entry.noise for entry in distinct], _FLOAT),
        "turns": np.array([entry.turns for entry in distinct], _FLOAT),
        "phase": np.array([entry.phase for entry in distinct], _FLOAT),
    }
    entries = {
        "quantity": np.array([numbers[entry._replace(lag=0)] for entry in given], _INT),
        "lag": np.array([entry.lag for entry in given], _INT),
    }
    return _records(len(distinct), quantities), _records(len(given), entries)


def make_past(quantities: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Memory for the quantities of as many control steps as entries reach back, (steps, q) float32."""
    return np.zeros((1 + max(entries["lag"], default=0), len(quantities)), np.float32)


def imu_axes(robot: Robot) -> np.ndarray:
    """What turns the torso's frame into that of the IMU, (3, 3)."""
    site = robot.description.observations.imu
    quaternion = np.array([1.0, 0, 0, 0]) if site is None else robot.physics.site(site).quat
    turned = np.zeros(9)
    mujoco.mju_quat2Mat(turned, quaternion)
    return np.ascontiguousarray(turned.reshape(3, 3).T)


def _accelerometer(model: mujoco.MjModel) -> int:
    """Where in sensor data the accelerometer is, or ABSENT."""
    sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, ACCELEROMETER)
    return ABSENT if sensor == ABSENT else int(model.sensor_adr[sensor])


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


def _places(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    """Where in a row of state the place of each foot's first sole is, or ABSENT, (f,)."""
    names = [soles[0] for soles in robot.description.feet.values()]
    geoms = [mujoco.mj_name2id(robot.physics, mujoco.mjtObj.mjOBJ_GEOM, name) for name in names]
    return _addresses(geoms, 3 * np.arange(robot.physics.ngeom), _column(data, data.geom_xpos))
