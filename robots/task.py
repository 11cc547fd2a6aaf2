"""The walking task as kernels: observation, reward, termination and foot contact.

A kernel reads the rows of a `mujoco.batch.Batch` (state and sensor data) and writes the episodes' tallies. It
follows QDgym's locomotion task; `docs/robots.md` lists the definitions.
"""

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit

from robots.robot import Robot, contact_sensor

TARGET_X = 1000.0  # [m] straight ahead of the start
OBSERVATION_LIMIT = 5.0
# Speeds beyond this [m/s or rad/s] are a simulation blowing up, long before MuJoCo sees 1e10.
_ABSURD_SPEED = 1e3
_NEAR_LIMIT = 0.99  # share of a joint's range beyond which it counts as being at its limit
ABSENT = -1  # address of what a damaged robot has lost


class Task(NamedTuple):
    """What the kernels need to know of a robot; columns are those of a state row.

    Attributes:
        qpos, qvel: half-open column ranges of the positions and velocities, (2,) each.
        root_qpos, root_qvel: first columns of the torso's free joint.
        joint_qpos, joint_qvel, joint_ctrl: column of each actuated joint, or ABSENT, (j,) each.
        joint_middle, joint_half_range: of the joint's range [rad], (j,) each.
        joint_gear: torque at full action [N·m], (j,).
        foot_sensors: sensor-data columns of each foot's soles, padded with ABSENT, (f, s).
        min_height: the torso is alive above this [m].
        control_step: [s].
        max_steps: control steps an episode has at most.
        rewards: weights of alive, progress, electricity, torque, joint at limit, (5,).
    """

    qpos: np.ndarray
    qvel: np.ndarray
    root_qpos: int
    root_qvel: int
    joint_qpos: np.ndarray
    joint_qvel: np.ndarray
    joint_ctrl: np.ndarray
    joint_middle: np.ndarray
    joint_half_range: np.ndarray
    joint_gear: np.ndarray
    foot_sensors: np.ndarray
    min_height: float
    control_step: float
    max_steps: int
    rewards: np.ndarray


class Tally(NamedTuple):
    """What an episode has added up so far, one row per slot.

    Attributes:
        objective: sum of rewards.
        reward: reward of the last control step.
        steps: control steps survived.
        contacts: control steps each foot was in contact, (n, f).
        touching: whether each foot is in contact now, (n, f).
        energy: mechanical work of the motors, both signs counted [J].
        initial_height: torso height at reset [m].
        initial_distance, target_distance: of the torso to the target at reset and now [m].
        alive: whether the robot still was after the last control step.
        diverged: whether the simulation blew up.
    """

    objective: np.ndarray
    reward: np.ndarray
    steps: np.ndarray
    contacts: np.ndarray
    touching: np.ndarray
    energy: np.ndarray
    initial_height: np.ndarray
    initial_distance: np.ndarray
    target_distance: np.ndarray
    alive: np.ndarray
    diverged: np.ndarray


def make_task(robot: Robot) -> Task:
    """Look up where a robot's parts are in the rows of a batch."""
    model, description = robot.model, robot.description
    qpos = _columns(model, mujoco.mjtState.mjSTATE_QPOS)
    qvel = _columns(model, mujoco.mjtState.mjSTATE_QVEL)
    ctrl = _columns(model, mujoco.mjtState.mjSTATE_CTRL)
    joints = [_find(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in description.joints]
    motors = [_motor_of(model, joint) for joint in joints]
    ranges = _joint_ranges(robot.spec().compile(), description.joints)
    root = model.body(description.torso).jntadr[0]
    reward = description.reward
    return Task(
        qpos=qpos,
        qvel=qvel,
        root_qpos=int(qpos[0] + model.jnt_qposadr[root]),
        root_qvel=int(qvel[0] + model.jnt_dofadr[root]),
        joint_qpos=_addresses(joints, model.jnt_qposadr, qpos[0]),
        joint_qvel=_addresses(joints, model.jnt_dofadr, qvel[0]),
        joint_ctrl=_addresses(motors, np.arange(model.nu), ctrl[0]),
        joint_middle=ranges.mean(axis=1),
        joint_half_range=(ranges[:, 1] - ranges[:, 0]) / 2,
        joint_gear=np.array([model.actuator_gear[m, 0] if m != ABSENT else 0.0 for m in motors]),
        foot_sensors=_foot_sensors(robot),
        min_height=description.min_height,
        control_step=robot.control_step,
        max_steps=description.episode_steps,
        rewards=np.array(
            [reward.alive, reward.progress, reward.electricity, reward.torque, reward.joint_at_limit]
        ),
    )


def make_tally(slots: int, feet: int) -> Tally:
    """An empty tally."""
    return Tally(
        objective=np.zeros(slots),
        reward=np.zeros(slots),
        steps=np.zeros(slots, np.int64),
        contacts=np.zeros((slots, feet), np.int64),
        touching=np.zeros((slots, feet), np.bool_),
        energy=np.zeros(slots),
        initial_height=np.zeros(slots),
        initial_distance=np.zeros(slots),
        target_distance=np.zeros(slots),
        alive=np.zeros(slots, np.bool_),
        diverged=np.zeros(slots, np.bool_),
    )


def _columns(model: mujoco.MjModel, part: mujoco.mjtState) -> np.ndarray:
    """Half-open range of a part's columns in a row of the integration state."""
    whole = mujoco.mjtState.mjSTATE_INTEGRATION.value
    before = whole & (part.value - 1)  # components are stored in the order of their bits
    start = mujoco.mj_stateSize(model, before) if before else 0
    return np.array([start, start + mujoco.mj_stateSize(model, part.value)])


def _find(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str) -> int:
    """Index of a named element, or ABSENT."""
    return mujoco.mj_name2id(model, kind, name)


def _motor_of(model: mujoco.MjModel, joint: int) -> int:
    """Index of the motor that drives a joint, or ABSENT."""
    drives = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == joint)
    found = np.flatnonzero(drives)
    return int(found[0]) if joint != ABSENT and len(found) else ABSENT


def _addresses(indices: list[int], addresses: np.ndarray, offset: int) -> np.ndarray:
    """State columns of elements, ABSENT where they are absent."""
    return np.array([offset + addresses[i] if i != ABSENT else ABSENT for i in indices], np.int64)


def _joint_ranges(model: mujoco.MjModel, joints: tuple[str, ...]) -> np.ndarray:
    """Ranges of the whole robot's joints [rad], (j, 2)."""
    return np.array([model.joint(name).range for name in joints])


def _foot_sensors(robot: Robot) -> np.ndarray:
    """Sensor-data columns of each foot's soles, padded with ABSENT, (f, s)."""
    feet = robot.description.feet
    table = np.full((len(feet), max(map(len, feet.values()))), ABSENT, np.int64)
    for row, (foot, soles) in enumerate(feet.items()):
        for number in range(len(soles)):
            sensor = _find(robot.model, mujoco.mjtObj.mjOBJ_SENSOR, contact_sensor(foot, number))
            if sensor != ABSENT:
                table[row, number] = robot.model.sensor_adr[sensor]
    return table


@njit(nogil=True, cache=True, error_model="numpy")
def begin(task: Task, tally: Tally, state: np.ndarray, observations: np.ndarray, slot: int) -> None:
    """Start an episode in a slot whose state row is already at its initial state."""
    row = state[slot]
    tally.objective[slot] = 0.0
    tally.reward[slot] = 0.0
    tally.steps[slot] = 0
    tally.contacts[slot] = 0
    tally.touching[slot] = False
    tally.energy[slot] = 0.0
    tally.initial_height[slot] = row[task.root_qpos + 2]
    tally.initial_distance[slot] = _target_distance(task, row)
    tally.target_distance[slot] = tally.initial_distance[slot]
    tally.alive[slot] = True
    tally.diverged[slot] = False
    _observe(task, tally, slot, row, observations[slot])


@njit(nogil=True, cache=True, error_model="numpy")
def apply_actions(task: Task, actions: np.ndarray, state: np.ndarray, ids: np.ndarray) -> None:
    """Clip the actions of some slots to [-1, 1] in place and hand them to the motors that are there."""
    for slot in ids:
        for j in range(len(task.joint_ctrl)):
            action = min(max(actions[slot, j], np.float32(-1.0)), np.float32(1.0))
            if task.joint_ctrl[j] == ABSENT:
                action = np.float32(0.0)  # a motor that is gone draws nothing
            else:
                state[slot, task.joint_ctrl[j]] = action
            actions[slot, j] = action


@njit(nogil=True, cache=True, error_model="numpy")
def score(
    task: Task,
    tally: Tally,
    state: np.ndarray,
    sensordata: np.ndarray,
    warnings: np.ndarray,
    actions: np.ndarray,
    observations: np.ndarray,
    ids: np.ndarray,
) -> int:
    """Tally a control step of some slots and observe its result; returns how many episodes it ended."""
    ended = 0
    for slot in ids:
        row = state[slot]
        if _blew_up(task, row, warnings[slot]):
            tally.diverged[slot] = True
            tally.alive[slot] = False
            tally.reward[slot] = 0.0
        else:
            _feel(task, tally, slot, sensordata[slot])
            _reward(task, tally, slot, row, actions[slot])
            _observe(task, tally, slot, row, observations[slot])
        ended += not tally.alive[slot] or tally.steps[slot] == task.max_steps
    return ended


@njit(nogil=True, cache=True, error_model="numpy")
def _blew_up(task: Task, row: np.ndarray, warnings: np.ndarray) -> bool:
    """Whether MuJoCo warned of a simulation, or its state is not a walking robot's any more."""
    for kind in range(len(warnings)):
        if warnings[kind] != 0:
            return True
    for column in range(task.qpos[0], task.qpos[1]):
        if not np.isfinite(row[column]):
            return True
    for column in range(task.qvel[0], task.qvel[1]):
        if not abs(row[column]) < _ABSURD_SPEED:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy")
def _feel(task: Task, tally: Tally, slot: int, sensordata: np.ndarray) -> None:
    """Note which feet touched the floor in the last physics step."""
    for foot in range(task.foot_sensors.shape[0]):
        touching = False
        for sole in range(task.foot_sensors.shape[1]):
            column = task.foot_sensors[foot, sole]
            touching |= column != ABSENT and sensordata[column] > 0
        tally.touching[slot, foot] = touching
        tally.contacts[slot, foot] += touching


@njit(nogil=True, cache=True, error_model="numpy")
def _reward(task: Task, tally: Tally, slot: int, row: np.ndarray, action: np.ndarray) -> None:
    """Add up the reward of a control step."""
    joints = len(task.joint_qpos)
    work, effort, power, at_limit = 0.0, 0.0, 0.0, 0
    for j in range(joints):
        a = float(action[j])
        velocity = _read(row, task.joint_qvel[j])
        work += abs(a * 0.1 * velocity)
        effort += a * a
        power += abs(a * task.joint_gear[j] * velocity)
        at_limit += abs(_rescaled(task, row, j)) > _NEAR_LIMIT
    distance = _target_distance(task, row)
    alive = row[task.root_qpos + 2] > task.min_height
    reward = task.rewards[0] if alive else -task.rewards[0]
    reward += task.rewards[1] * (tally.target_distance[slot] - distance) / task.control_step
    reward += task.rewards[2] * work / joints + task.rewards[3] * effort / joints
    reward += task.rewards[4] * at_limit
    tally.reward[slot] = reward
    tally.objective[slot] += reward
    tally.energy[slot] += power * task.control_step
    tally.target_distance[slot] = distance
    tally.alive[slot] = alive
    tally.steps[slot] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def _observe(task: Task, tally: Tally, slot: int, row: np.ndarray, observation: np.ndarray) -> None:
    """Write what the controller sees, clipped."""
    root, velocity = task.root_qpos, task.root_qvel
    roll, pitch, yaw = _roll_pitch_yaw(row[root + 3 : root + 7])
    bearing = np.arctan2(-row[root + 1], TARGET_X - row[root]) - yaw
    vx, vy, vz = row[velocity], row[velocity + 1], row[velocity + 2]
    cos, sin = np.cos(yaw), np.sin(yaw)
    observation[0] = row[root + 2] - tally.initial_height[slot]
    observation[1] = np.sin(bearing)
    observation[2] = np.cos(bearing)
    observation[3] = 0.3 * (cos * vx + sin * vy)
    observation[4] = 0.3 * (cos * vy - sin * vx)
    observation[5] = 0.3 * vz
    observation[6] = roll
    observation[7] = pitch
    joints = len(task.joint_qpos)
    for j in range(joints):
        observation[8 + 2 * j] = _rescaled(task, row, j)
        observation[9 + 2 * j] = 0.1 * _read(row, task.joint_qvel[j])
    for foot in range(task.foot_sensors.shape[0]):
        observation[8 + 2 * joints + foot] = tally.touching[slot, foot]
    for i in range(len(observation)):
        observation[i] = min(
            max(observation[i], np.float32(-OBSERVATION_LIMIT)), np.float32(OBSERVATION_LIMIT)
        )


@njit(nogil=True, cache=True, error_model="numpy")
def _read(row: np.ndarray, column: int) -> float:
    """A state value, or 0 where the part is absent."""
    return row[column] if column != ABSENT else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _rescaled(task: Task, row: np.ndarray, j: int) -> float:
    """A joint's position with its range rescaled to [-1, 1], or 0 where it is absent."""
    if task.joint_qpos[j] == ABSENT:
        return 0.0
    return (row[task.joint_qpos[j]] - task.joint_middle[j]) / task.joint_half_range[j]


@njit(nogil=True, cache=True, error_model="numpy")
def _target_distance(task: Task, row: np.ndarray) -> float:
    """Horizontal distance of the torso to the target [m]."""
    return np.hypot(TARGET_X - row[task.root_qpos], row[task.root_qpos + 1])


@njit(nogil=True, cache=True, error_model="numpy")
def _roll_pitch_yaw(q: np.ndarray) -> tuple[float, float, float]:
    """Angles about the fixed x, y and z axes of a unit quaternion (w, x, y, z) [rad]."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(min(max(2 * (w * y - z * x), -1.0), 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, pitch, yaw
