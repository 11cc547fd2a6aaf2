"""`Task`: where a robot's parts are in a row of numbers that holds its state, and constants of its task."""

from typing import NamedTuple

import mujoco
import numpy as np

from robots.robot import Robot, contact_sensor

ABSENT = -1  # address of what a damaged robot has lost


class Columns(NamedTuple):
    """Where a row holds the state: the first columns of the positions, the velocities and the controls."""

    qpos: int
    qvel: int
    ctrl: int


class Task(NamedTuple):
    """What the kernels need to know of a robot; columns are those of a state row.

    Attributes:
        qpos, qvel: half-open column ranges of the positions and velocities, (2,) each.
        root_qpos, root_qvel: first columns of the torso's root joints.
        planar: whether these are a slide along x, a slide along z and a hinge about y.
        root_origin: height of the torso where a planar root's z slide is at 0, and x likewise [m], (2,).
        joint_qpos, joint_qvel, joint_ctrl: column of each actuated joint, or ABSENT, (j,) each.
        joint_middle, joint_half_range: of the joint's range [rad], (j,) each.
        joint_gear: torque at full action [N·m], (j,).
        foot_sensors: sensor-data columns of each foot's soles, padded with ABSENT, (f, s).
        min_height: the robot is alive while its torso is above this [m].
        max_pitch: and while its torso's pitch is smaller than this [rad].
        untouched: and while none of these feet touches the floor, (f,) bool.
        ends_episode: whether an episode ends once the robot is not alive.
        control_step: [s].
        max_steps: control steps an episode has at most.
        rewards: weights of alive, progress, electricity, torque, joint at limit, (5,).
    """

    qpos: np.ndarray
    qvel: np.ndarray
    root_qpos: int
    root_qvel: int
    planar: bool
    root_origin: np.ndarray
    joint_qpos: np.ndarray
    joint_qvel: np.ndarray
    joint_ctrl: np.ndarray
    joint_middle: np.ndarray
    joint_half_range: np.ndarray
    joint_gear: np.ndarray
    foot_sensors: np.ndarray
    min_height: float
    max_pitch: float
    untouched: np.ndarray
    ends_episode: bool
    control_step: float
    max_steps: int
    rewards: np.ndarray


def make_task(robot: Robot, columns: Columns) -> Task:
    """Look up where a robot's parts are in rows of its state."""
    model, description = robot.physics, robot.description
    joints = [_find(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in description.joints]
    motors = [_motor_of(model, joint) for joint in joints]
    ranges = robot.joint_ranges
    root = model.body(description.torso).jntadr[0]
    reward, alive = description.reward, description.alive
    return Task(
        qpos=np.array([columns.qpos, columns.qpos + model.nq]),
        qvel=np.array([columns.qvel, columns.qvel + model.nv]),
        root_qpos=int(columns.qpos + model.jnt_qposadr[root]),
        root_qvel=int(columns.qvel + model.jnt_dofadr[root]),
        planar=bool(model.jnt_type[root] != mujoco.mjtJoint.mjJNT_FREE),
        root_origin=_root_origin(model, model.body(description.torso).id),
        joint_qpos=_addresses(joints, model.jnt_qposadr, columns.qpos),
        joint_qvel=_addresses(joints, model.jnt_dofadr, columns.qvel),
        joint_ctrl=_addresses(motors, np.arange(model.nu), columns.ctrl),
        joint_middle=ranges.mean(axis=1),
        joint_half_range=(ranges[:, 1] - ranges[:, 0]) / 2,
        joint_gear=np.array([model.actuator_gear[m, 0] if m != ABSENT else 0.0 for m in motors]),
        foot_sensors=_foot_sensors(robot),
        min_height=-np.inf if alive.min_height is None else alive.min_height,
        max_pitch=np.inf if alive.max_pitch is None else alive.max_pitch,
        untouched=np.array([foot in alive.untouched for foot in description.feet]),
        ends_episode=alive.ends_episode,
        control_step=robot.control_step,
        max_steps=description.episode_steps,
        rewards=np.array(
            [reward.alive, reward.progress, reward.electricity, reward.torque, reward.joint_at_limit]
        ),
    )


def _root_origin(model: mujoco.MjModel, torso: int) -> np.ndarray:
    """Where a torso is along x and z when its joints are at 0, (2,)."""
    start = model.qpos0[model.jnt_qposadr[model.body_jntadr[torso]] :][:2]
    return model.body_pos[torso, [0, 2]] - start


def batch_columns(model: mujoco.MjModel) -> Columns:
    """Where the rows of a `mujoco.batch.Batch`, the integration state, hold it."""
    whole = mujoco.mjtState.mjSTATE_INTEGRATION.value
    parts = mujoco.mjtState.mjSTATE_QPOS, mujoco.mjtState.mjSTATE_QVEL, mujoco.mjtState.mjSTATE_CTRL
    before = [whole & (part.value - 1) for part in parts]  # components are stored in the order of their bits
    return Columns(*(mujoco.mj_stateSize(model, signature) if signature else 0 for signature in before))


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


def _foot_sensors(robot: Robot) -> np.ndarray:
    """Sensor-data columns of each foot's soles, padded with ABSENT, (f, s)."""
    feet = robot.description.feet
    table = np.full((len(feet), max(map(len, feet.values()))), ABSENT, np.int64)
    for row, (foot, soles) in enumerate(feet.items()):
        for number in range(len(soles)):
            sensor = _find(robot.physics, mujoco.mjtObj.mjOBJ_SENSOR, contact_sensor(foot, number))
            if sensor != ABSENT:
                table[row, number] = robot.physics.sensor_adr[sensor]
    return table
