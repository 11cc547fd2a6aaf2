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
from robots.task.reward import PRESETS, TERMS
from robots.task.terrain import field_of

MIDWAY = 0.4  # share of an episode after which progress is noted
_INT, _FLOAT, _BOOL = np.int64, np.float64, np.bool_
_TYPES = {"i": _INT, "f": _FLOAT, "b": _BOOL}  # of a field, by the kind of its values

# of `Faults`; of readings that are not stuck NaN, and otherwise 0
_WRONG = ("stuck", "biased", "noisy", "rounded", "missing")
_SENSOR = np.dtype([(name, np.float32) for name in _WRONG], align=True)
# see `observing.compose`
_FLOATS = ("factor", "offset", "noise", "turns", "phase")
_QUANTITY = np.dtype([("kind", _INT), ("source", _INT), *((name, _FLOAT) for name in _FLOATS)], align=True)
_ENTRY = np.dtype([("quantity", _INT), ("lag", _INT), ("limit", _FLOAT)], align=True)
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
    """What the kernels need to know of a robot."""

    constants: np.ndarray  # one record, (1,)
    joints: np.ndarray  # a record for each actuated joint, (j,)
    soles: np.ndarray  # sensor-data columns of each foot's soles, padded with ABSENT, (f, s)
    places: np.ndarray  # column of a row of state with the place of each foot's first sole, or ABSENT, (f,)
    untouched: np.ndarray  # feet with which a robot that is alive does not touch the floor, (f,) bool
    sensors: np.ndarray  # a record for each reading, (r,)
    # see `observing.compose`; none for the paper's observations
    quantities: np.ndarray  # a record for each number of an observation that is new in a control step, (q,)
    entries: np.ndarray  # a record for each number of an observation, (o,)
    imu: np.ndarray  # what turns the torso's frame into that of the IMU, then its place there [m], (4, 3)
    parts: np.ndarray  # a record for each body whose place is the robot's, (p,); none if that is the torso's
    links: np.ndarray  # a record for each body that drag slows down, parents first, (l,); none without drag
    ground: np.ndarray  # heights of a floor that is a height field [m], (rows along y, columns along x)


class EpisodeState(NamedTuple):
    """What the kernels read and write during an episode."""

    row: np.ndarray  # MuJoCo's positions, velocities, controls and places of bodies, (n,) float64
    sensordata: np.ndarray  # MuJoCo's
    warnings: np.ndarray  # how often MuJoCo raised each kind of warning, counted from `HEARD`
    readings: np.ndarray  # what the sensors read now, (r,) float32
    held: np.ndarray  # what faulty ones read last, (r,) float32; NaN before the first reading
    observation: np.ndarray  # what the controller sees now, (o,) float32; of the paper's, the readings
    told: np.ndarray  # the last action of the controller, clipped to ±1, (a,) float32
    past: np.ndarray  # the quantities of the last control steps, (steps, q) float32
    action: np.ndarray  # of the last control step as it arrived at the motors, (a,) float32
    pending: np.ndarray  # actions that have not reached the motors yet, (greatest delay, a) float32
    contacts: np.ndarray  # control steps in which each foot was in contact, (f,)
    touching: np.ndarray  # whether each foot is in contact now, (f,)
    tally: np.ndarray  # what the episode has added up so far, one record, (1,)
    drag: np.ndarray  # torque and force of each link's drag about the centre of mass, (l, 6); scratch memory
    last_action: np.ndarray  # what arrived at the motors in the control step before, (a,) float32
    # a record for each foot, (f,): its place in the control step before, and its time in the air
    feet: np.ndarray


_TASKS: WeakKeyDictionary[Robot, Task] = WeakKeyDictionary()


def task_of(robot: Robot, data: mujoco.MjData) -> Task:
    """The task of a robot, made once: all data of its model have the same layout."""
    if robot not in _TASKS:
        _TASKS[robot] = _make_task(robot, data)
    return _TASKS[robot]


def _make_task(robot: Robot, data: mujoco.MjData) -> Task:
    faults, alive = robot.faults, robot.description.alive
    sensors = np.recarray(len(robot.channels), _SENSOR)
    for name in _WRONG:
        values, otherwise = getattr(faults, name), np.nan if name == "stuck" else 0.0
        sensors[name] = [values.get(channel.name, otherwise) for channel in robot.channels]
    quantities, entries = composition(robot)
    site = robot.description.observations.imu
    return Task(
        constants=_constants(robot, data),
        joints=_joints(robot, data),
        soles=_soles(robot),
        places=_places(robot, data),
        untouched=np.array([foot in alive.untouched for foot in robot.description.feet]),
        sensors=sensors,
        quantities=quantities,
        entries=entries,
        imu=np.vstack([imu_axes(robot), np.zeros(3) if site is None else robot.physics.site(site).pos]),
        parts=_parts(robot, data),
        links=_links(robot, data),
        ground=_ground(robot)[0],
    )


def make_state(task: Task, data: mujoco.MjData) -> EpisodeState:
    """The state of an episode that has not begun, part of which is that of MuJoCo's data."""
    feet, joints, delay = len(task.soles), len(task.joints), task.joints["delay"].max(initial=0)
    readings = np.zeros(len(task.sensors), np.float32)
    composed = len(task.entries) > 0
    return EpisodeState(
        row=_row(task, data),
        sensordata=data.sensordata,
        warnings=data.warning.number,
        readings=readings,
        held=readings.copy(),
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
    model, description, faults = robot.physics, robot.description, robot.faults
    alive, torso, qvel = description.alive, model.body(description.torso), _column(data, data.qvel)
    limits, command = limits_of(robot), description.command
    speeds, turns = (command.speed, command.turn) if command else ((0.0, 0.0), (0.0, 0.0))
    root, planar = robot.root_joint, not robot.moves_freely
    along = int(planar and model.jnt_axis[root, 0] != 1)  # the slides of a planar robot have any order
    up = 1 - along if planar else 2
    sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, ACCELEROMETER)
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
        # the ranges that commands are drawn from [m/s, rad/s]
        "slowest": speeds[0],
        "fastest": speeds[1],
        "rightmost": turns[0],
        "leftmost": turns[1],
        **_ground(robot)[1],
        "floor": data.geom_xpos[model.geom(description.floor).id, 2],  # height of one that is a plane [m]
        "gravity": np.linalg.norm(model.opt.gravity),
        "accelerometer": ABSENT if sensor == ABSENT else int(model.sensor_adr[sensor]),
        "flies": description.observations.flies,
        "composed": not description.observations.as_published,
        "faulty": any(getattr(faults, name) for name in _WRONG),
        "swapped": bool(faults.swapped),
        "drops": bool(faults.dropped),
    }
    return _records(1, values)


def _ground(robot: Robot) -> tuple[np.ndarray, dict[str, float]]:
    """Heights of the ground, see `Task`; where these points begin, and how far they are apart [m]."""
    if (found := field_of(robot.physics, robot.description.floor)) is None:
        flat = {"ground_x": 0.0, "ground_y": 0.0, "ground_dx": 1.0, "ground_dy": 1.0}
        return np.zeros((0, 0), np.float32), flat
    model, (floor, field) = robot.physics, found
    rows, columns, first = model.hfield_nrow[field], model.hfield_ncol[field], model.hfield_adr[field]
    heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    (x, y), (half_x, half_y) = model.geom_pos[floor, :2], model.hfield_size[field, :2]
    return np.asarray(model.geom_pos[floor, 2] + model.hfield_size[field, 2] * heights, np.float32), {
        "ground_x": x - half_x,
        "ground_y": y - half_y,
        "ground_dx": 2 * half_x / (columns - 1),
        "ground_dy": 2 * half_y / (rows - 1),
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


def _joints(robot: Robot, data: mujoco.MjData) -> np.ndarray:
    model, description, names = robot.physics, robot.description, robot.description.joints
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
    motors = [motor_of(model, name) for name in names]
    middle, half_range = robot.joint_middles, robot.joint_half_ranges
    at_start = getattr(description.controller, "lost_joints", "middle") == "start"
    gone = {name: robot.start_of(name) for name in names} if at_start else {}
    fixed = [robot.faults.fixed.get(name, gone.get(name, np.nan)) for name in names]
    drives = Motors.of(model, names)
    controls, activations = (_column(data, part) + np.arange(part.size) for part in (data.ctrl, data.act))
    values = {
        # columns of a row of state, or ABSENT
        "qpos": _addresses(joints, model.jnt_qposadr, 0),
        "qvel": _addresses(joints, model.jnt_dofadr, _column(data, data.qvel)),
        "ctrl": _addresses(motors, controls, 0),
        "told": _addresses(motors, followed(model, controls, activations), 0),  # what the force follows
        "middle": middle,  # of the joint's range [rad or m]
        "half_range": half_range,
        # position that an absent joint reads, rescaled like the others
        "fixed": np.nan_to_num((np.array(fixed) - middle) / half_range, nan=0.0),
        "ctrl_middle": (drives.low + drives.high) / 2,  # of what the actuator can be told
        "ctrl_half_range": (drives.high - drives.low) / 2,
        **vars(drives),
        # share of the joint's velocity by which its position changes
        "rate": [description.position_rates.get(name, 1.0) for name in description.joints],
        # by which the control may change in a control step, inf without a limit
        "change": _greatest_change(robot, drives),
        "play": [float(robot.faults.play.get(name, 0.0)) for name in names],  # in units of the control
        "delay": [
            robot.faults.delay + int(robot.faults.late.get(name, 0)) for name in names
        ],  # [control steps]
        "dropped": [float(robot.faults.dropped.get(name, 0.0)) for name in names],  # share of them
        # the joint whose action its motor gets
        "source": [names.index(robot.faults.swapped.get(name, name)) for name in names],
    }
    return _records(len(joints), values)


def _greatest_change(robot: Robot, drives: Motors) -> np.ndarray:
    """By how much the controls of servos may change in a control step at the robot's `target_rate`, (j,)."""
    rate, half_range = robot.description.target_rate, (drives.high - drives.low) / 2
    reach, change = abs(drives.targets(1.0) - drives.targets(0.0)), np.full(len(half_range), np.inf)
    if rate is not None:
        np.divide(rate * robot.control_step * half_range, reach, out=change, where=reach > 0)
    return change


def _parts(robot: Robot, data: mujoco.MjData) -> np.ndarray:
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


def composition(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """The records of `observing.compose`: quantities (q,) and entries (o,), none for the paper's."""
    given = () if robot.description.observations.as_published else robot.entries
    distinct = list(dict.fromkeys(entry._replace(lag=0) for entry in given))
    numbers = {entry: number for number, entry in enumerate(distinct)}
    quantities = []
    for entry in distinct:
        gain, zero = robot.channels[entry.source][-2:] if entry.kind == 0 else (1.0, 0.0)
        offset, noise = entry.scale * (zero - entry.zero), abs(entry.scale) * entry.noise
        quantities.append(
            (entry.kind, entry.source, entry.scale / gain, offset, noise, entry.turns, entry.phase)
        )
    entries = [(numbers[entry._replace(lag=0)], entry.lag, np.float32(entry.limit)) for entry in given]
    return np.array(quantities, _QUANTITY).view(np.recarray), np.array(entries, _ENTRY).view(np.recarray)


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


def _addresses(indices: list[int], addresses: np.ndarray, offset: int) -> np.ndarray:
    """Columns of elements in a row of state, ABSENT where they are absent."""
    return np.array([offset + addresses[i] if i != ABSENT else ABSENT for i in indices], np.int64)


def _soles(robot: Robot) -> np.ndarray:
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
    names = [soles[0] for soles in robot.description.feet.values()]
    geoms = [mujoco.mj_name2id(robot.physics, mujoco.mjtObj.mjOBJ_GEOM, name) for name in names]
    return _addresses(geoms, 3 * np.arange(robot.physics.ngeom), _column(data, data.geom_xpos))
