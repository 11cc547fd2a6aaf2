"""The walking task as kernels: observation, reward, termination and foot contact.

A kernel reads rows of state and of sensor data, and writes the tallies of episodes. It follows the locomotion
task of QDgym; `docs/robots.md` lists the definitions.
"""

import numpy as np

from robots.compilation import compiled
from robots.simulation.layout import ABSENT, Task
from robots.simulation.noise import normal
from robots.simulation.tally import Tally

TARGET_X = 1000.0  # [m] straight ahead of the start
OBSERVATION_LIMIT = 5.0
# Speeds beyond this [m/s or rad/s] are a simulation blowing up, long before MuJoCo sees 1e10.
_ABSURD_SPEED = 1e3
_NEAR_LIMIT = 0.99  # share of a joint's range beyond which it counts as being at its limit


@compiled()
def begin(
    task: Task, tally: Tally, state: np.ndarray, observations: np.ndarray, slot: int, seed: np.uint64
) -> None:
    """Start the episode of a seed in a slot whose state row is already at its initial state."""
    row = state[slot]
    tally.objective[slot] = 0.0
    tally.reward[slot] = 0.0
    tally.steps[slot] = 0
    tally.contacts[slot] = 0
    tally.touching[slot] = False
    tally.energy[slot] = 0.0
    tally.initial_height[slot] = _pose(task, row)[2]
    tally.initial_distance[slot] = _target_distance(task, row)
    tally.target_distance[slot] = tally.initial_distance[slot]
    tally.midway[slot] = 0.0
    tally.lateral[slot] = 0.0
    tally.heading[slot] = 0.0
    tally.seed[slot] = seed
    tally.pending[slot] = 0.0
    tally.terminated[slot] = False
    tally.diverged[slot] = False
    _observe(task, tally, slot, row, observations[slot])


@compiled()
def apply_actions(task: Task, tally: Tally, actions: np.ndarray, state: np.ndarray, ids: np.ndarray) -> None:
    """Clip the actions of some slots to [-1, 1] and hand them to the motors that are there, late if need be.

    The actions are overwritten with those that arrived.
    """
    for slot in ids:
        for j in range(len(task.joint_ctrl)):
            action = min(max(actions[slot, j], np.float32(-1.0)), np.float32(1.0))
            if task.delay:
                due = tally.steps[slot] % task.delay
                action, tally.pending[slot, due, j] = tally.pending[slot, due, j], action
            if task.joint_ctrl[j] == ABSENT:
                action = np.float32(0.0)  # a motor that is gone draws nothing
            else:
                state[slot, task.joint_ctrl[j]] = task.ctrl_middle[j] + task.ctrl_half_range[j] * action
            actions[slot, j] = action


@compiled()
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
            tally.terminated[slot] = True
            tally.reward[slot] = 0.0
        else:
            _feel(task, tally, slot, sensordata[slot])
            _reward(task, tally, slot, row, actions[slot])
            _observe(task, tally, slot, row, observations[slot])
        if tally.terminated[slot] or tally.steps[slot] == task.max_steps:
            ended += 1
            tally.lateral[slot], tally.heading[slot] = _drift(task, row)
    return ended


@compiled()
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


@compiled()
def _feel(task: Task, tally: Tally, slot: int, sensordata: np.ndarray) -> None:
    """Note which feet touched the floor in the last physics step."""
    for foot in range(task.foot_sensors.shape[0]):
        touching = False
        for sole in range(task.foot_sensors.shape[1]):
            column = task.foot_sensors[foot, sole]
            touching |= column != ABSENT and sensordata[column] > 0
        tally.touching[slot, foot] = touching
        tally.contacts[slot, foot] += touching


@compiled()
def _reward(task: Task, tally: Tally, slot: int, row: np.ndarray, action: np.ndarray) -> None:
    """Add up the reward of a control step."""
    joints = len(task.joint_qpos)
    work, effort, power, at_limit = 0.0, 0.0, 0.0, 0
    for j in range(joints):
        a = float(action[j])
        velocity = _read(row, task.joint_qvel[j])
        work += abs(a * 0.1 * velocity)
        effort += a * a
        power += abs(_torque(task, row, j) * velocity)
        at_limit += abs(_rescaled(task, row, j)) > _NEAR_LIMIT
    distance = _target_distance(task, row)
    alive = _alive(task, row, tally.touching[slot])
    reward = task.rewards[0] if alive else -task.rewards[0]
    reward += task.rewards[1] * (tally.target_distance[slot] - distance) / task.control_step
    reward += task.rewards[2] * work / joints + task.rewards[3] * effort / joints
    reward += task.rewards[4] * at_limit
    tally.reward[slot] = reward
    tally.objective[slot] += reward
    tally.energy[slot] += power * task.control_step
    tally.target_distance[slot] = distance
    tally.steps[slot] += 1
    if tally.steps[slot] <= task.midway:
        tally.midway[slot] = tally.initial_distance[slot] - distance
    tally.terminated[slot] = task.ends_episode and not alive
    if tally.terminated[slot] and task.forfeits:
        tally.reward[slot] -= tally.objective[slot]
        tally.objective[slot] = 0.0


@compiled()
def _alive(task: Task, row: np.ndarray, touching: np.ndarray) -> bool:
    """Whether a robot is alive, see `robots.description.Alive`."""
    pose = _pose(task, row)
    alive = pose[2] > task.min_height and abs(pose[4]) < task.max_pitch
    if task.min_upright >= -1.0:
        alive &= np.cos(pose[3]) * np.cos(pose[4]) > task.min_upright
    for foot in range(len(touching)):
        alive &= not (touching[foot] and task.untouched[foot])
    return alive


@compiled()
def _observe(task: Task, tally: Tally, slot: int, row: np.ndarray, observation: np.ndarray) -> None:
    """Write what the controller sees, clipped."""
    x, y, z, roll, pitch, yaw = _pose(task, row)
    vx, vy, vz = _velocity(task, row)
    bearing = np.arctan2(-y, TARGET_X - x) - yaw
    cos, sin = np.cos(yaw), np.sin(yaw)
    observation[0] = z - tally.initial_height[slot]
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
    if task.faulty:
        _disturb(task, tally, slot, observation)
    for i in range(len(observation)):
        observation[i] = min(
            max(observation[i], np.float32(-OBSERVATION_LIMIT)), np.float32(OBSERVATION_LIMIT)
        )


@compiled()
def _disturb(task: Task, tally: Tally, slot: int, observation: np.ndarray) -> None:
    """Let the sensors that are at fault read what they read."""
    for i in range(len(observation)):
        if task.noise[i] > 0:
            observation[i] += task.noise[i] * normal(tally.seed[slot], tally.steps[slot], i)
        if not np.isnan(task.stuck[i]):
            observation[i] = task.stuck[i]


@compiled()
def _torque(task: Task, row: np.ndarray, j: int) -> float:
    """Torque of a joint's actuator, 0 where it is absent [N·m]."""
    if task.joint_ctrl[j] == ABSENT:
        return 0.0
    gear, bias = task.joint_gear[j], task.joint_bias[j]
    force = task.joint_gain[j] * row[task.joint_ctrl[j]] + bias[0]
    force += gear * (bias[1] * row[task.joint_qpos[j]] + bias[2] * row[task.joint_qvel[j]])
    return gear * min(max(force, task.joint_force[j, 0]), task.joint_force[j, 1])


@compiled()
def _drift(task: Task, row: np.ndarray) -> tuple[float, float]:
    """How far left of the start the torso is [m], and its yaw [rad]."""
    pose = _pose(task, row)
    return pose[1], pose[5]


@compiled()
def _read(row: np.ndarray, column: int) -> float:
    """A state value, or 0 where the part is absent."""
    return row[column] if column != ABSENT else 0.0


@compiled()
def _rescaled(task: Task, row: np.ndarray, j: int) -> float:
    """A joint's position with its range rescaled to [-1, 1]; 0 of one that is lost."""
    if task.joint_qpos[j] == ABSENT:
        return task.joint_fixed[j]
    return (row[task.joint_qpos[j]] - task.joint_middle[j]) / task.joint_half_range[j]


@compiled()
def _target_distance(task: Task, row: np.ndarray) -> float:
    """Horizontal distance of the torso to the target [m]."""
    if task.planar:
        return abs(TARGET_X - task.root_origin[0] - row[task.root_qpos])
    return np.hypot(TARGET_X - row[task.root_qpos], row[task.root_qpos + 1])


@compiled()
def _pose(task: Task, row: np.ndarray) -> tuple[float, float, float, float, float, float]:
    """The torso's x, y, z [m] and its roll, pitch and yaw [rad]."""
    root = task.root_qpos
    if task.planar:
        roll, pitch, yaw = _planar_angles(row[root + 2])
        return task.root_origin[0] + row[root], 0.0, task.root_origin[1] + row[root + 1], roll, pitch, yaw
    roll, pitch, yaw = _roll_pitch_yaw(row[root + 3 : root + 7])
    return row[root], row[root + 1], row[root + 2], roll, pitch, yaw


@compiled()
def _velocity(task: Task, row: np.ndarray) -> tuple[float, float, float]:
    """The torso's velocity along x, y and z [m/s]."""
    root = task.root_qvel
    if task.planar:
        return row[root], 0.0, row[root + 1]
    return row[root], row[root + 1], row[root + 2]


@compiled()
def _planar_angles(angle: float) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation about the y axis [rad]; beyond the vertical it looks back."""
    turned = np.pi if np.cos(angle) < 0 else 0.0
    return turned, np.arcsin(np.sin(angle)), turned


@compiled()
def _roll_pitch_yaw(q: np.ndarray) -> tuple[float, float, float]:
    """Angles about the fixed x, y and z axes of a unit quaternion (w, x, y, z) [rad]."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(min(max(2 * (w * y - z * x), -1.0), 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, pitch, yaw
