"""`Task`: where a robot's parts are in a row of numbers that holds its state, and constants of its task."""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from robots.pose import put_joints
from robots.robot import Robot, contact_sensor

ABSENT = -1  # address of what a damaged robot has lost
MIDWAY = 0.4  # share of an episode after which progress is noted


class Columns(NamedTuple):
    """Where a row holds the state: the first columns of the positions, the velocities and the controls."""

    qpos: int
    qvel: int
    ctrl: int


class Task(NamedTuple):
    """What the kernels need to know of a robot; columns are those of a state row.

    Attributes:
        qpos, qvel: half-open column ranges of the positions and velocities, (2,) each.
        start: positions at the start of an episode, before noise, (nq,).
        root_qpos, root_qvel: first columns of the torso's root joints.
        planar: whether these are a slide along x, a slide along z and a hinge about y.
        root_origin: height of the torso where a planar root's z slide is at 0, and x likewise [m], (2,).
        joint_qpos, joint_qvel, joint_ctrl: column of each actuated joint, or ABSENT, (j,) each.
        joint_middle, joint_half_range: of the joint's range [rad], (j,) each.
        joint_fixed: position that an absent joint reads, rescaled like the others, (j,).
        ctrl_middle, ctrl_half_range: of what the actuator can be told, (j,) each.
        joint_gear: of the actuator, (j,).
        joint_gain: force per control, (j,).
        joint_bias: constant force, force per length and force per velocity of the actuator, (j, 3).
        joint_force: lowest and highest force of the actuator, (j, 2).
        foot_sensors: sensor-data columns of each foot's soles, padded with ABSENT, (f, s).
        min_height: the robot is alive while its torso is above this [m].
        max_pitch: and while its torso's pitch is smaller than this [rad].
        min_upright: and while the cosine of its torso's tilt is larger than this.
        untouched: and while none of these feet touches the floor, (f,) bool.
        ends_episode: whether an episode ends once the robot is not alive.
        forfeits: whether it is worth 0 then.
        control_step: [s].
        max_steps: control steps an episode has at most.
        midway: control steps after which progress is noted.
        rewards: weights of alive, progress, electricity, torque, joint at limit, (5,).
        delay: control steps by which actions come late.
        faulty: whether any observation is stuck or noisy.
        stuck: value of observations that are stuck, NaN for others, (o,) float32.
        noise: standard deviation of what is added to observations, (o,) float32.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    start: np.ndarray
    root_qpos: int
    root_qvel: int
    planar: bool
    root_origin: np.ndarray
    joint_qpos: np.ndarray
    joint_qvel: np.ndarray
    joint_ctrl: np.ndarray
    joint_middle: np.ndarray
    joint_half_range: np.ndarray
    joint_fixed: np.ndarray
    ctrl_middle: np.ndarray
    ctrl_half_range: np.ndarray
    joint_gear: np.ndarray
    joint_gain: np.ndarray
    joint_bias: np.ndarray
    joint_force: np.ndarray
    foot_sensors: np.ndarray
    min_height: float
    max_pitch: float
    min_upright: float
    untouched: np.ndarray
    ends_episode: bool
    forfeits: bool
    control_step: float
    max_steps: int
    midway: int
    rewards: np.ndarray
    delay: int
    faulty: bool
    stuck: np.ndarray
    noise: np.ndarray


def make_task(robot: Robot, columns: Columns) -> Task:
    """Look up where a robot's parts are in rows of its state."""
    model, description = robot.physics, robot.description
    joints = [_find(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in description.joints]
    motors = [_motor_of(model, joint) for joint in joints]
    ranges = robot.joint_ranges
    root = model.body(description.torso).jntadr[0]
    reward, alive, faults = description.reward, description.alive, robot.faults
    return Task(
        qpos=np.array([columns.qpos, columns.qpos + model.nq]),
        qvel=np.array([columns.qvel, columns.qvel + model.nv]),
        start=_start(robot),
        root_qpos=int(columns.qpos + model.jnt_qposadr[root]),
        root_qvel=int(columns.qvel + model.jnt_dofadr[root]),
        planar=bool(model.jnt_type[root] != mujoco.mjtJoint.mjJNT_FREE),
        root_origin=_root_origin(model, model.body(description.torso).id),
        joint_qpos=_addresses(joints, model.jnt_qposadr, columns.qpos),
        joint_qvel=_addresses(joints, model.jnt_dofadr, columns.qvel),
        joint_ctrl=_addresses(motors, np.arange(model.nu), columns.ctrl),
        joint_middle=ranges.mean(axis=1),
        joint_half_range=(ranges[:, 1] - ranges[:, 0]) / 2,
        joint_fixed=_fixed(robot),
        ctrl_middle=_of_motors(motors, model.actuator_ctrlrange.mean(axis=1)),
        ctrl_half_range=_of_motors(motors, np.diff(model.actuator_ctrlrange)[:, 0] / 2),
        joint_gear=_of_motors(motors, model.actuator_gear[:, 0]),
        joint_gain=_of_motors(motors, model.actuator_gainprm[:, 0]),
        joint_bias=_of_motors(motors, model.actuator_biasprm[:, :3]),
        joint_force=_of_motors(motors, _force_ranges(model)),
        foot_sensors=_foot_sensors(robot),
        min_height=-np.inf if alive.min_height is None else alive.min_height,
        max_pitch=np.inf if alive.max_pitch is None else alive.max_pitch,
        min_upright=-np.inf if alive.max_tilt is None else np.cos(alive.max_tilt),
        untouched=np.array([foot in alive.untouched for foot in description.feet]),
        ends_episode=alive.ends_episode,
        forfeits=alive.forfeits,
        control_step=robot.control_step,
        max_steps=description.episode_steps,
        midway=max(1, round(MIDWAY * description.episode_steps)),
        rewards=np.array(
            [reward.alive, reward.progress, reward.electricity, reward.torque, reward.joint_at_limit]
        ),
        delay=faults.delay,
        faulty=bool(faults.stuck or faults.noisy),
        stuck=_by_observation(robot, faults.stuck, np.nan),
        noise=_by_observation(robot, faults.noisy, 0.0),
    )


def _start(robot: Robot) -> np.ndarray:
    """Positions as built with the actuated joints at 0, but for those of the keyframe, (nq,)."""
    positions = robot.physics.qpos0.copy()
    zero = {joint: np.zeros(1) for joint in robot.description.joints}
    put_joints(robot.physics, positions, zero | dict(robot.start))
    return positions


def _fixed(robot: Robot) -> np.ndarray:
    """What absent joints read, 0 where they are lost, (j,)."""
    middle, half_range = robot.joint_ranges.mean(axis=1), np.diff(robot.joint_ranges)[:, 0] / 2
    angles = [robot.faults.fixed.get(joint, np.nan) for joint in robot.description.joints]
    return np.nan_to_num((np.array(angles) - middle) / half_range, nan=0.0)


def _of_motors(motors: list[int], values: np.ndarray) -> np.ndarray:
    """The values of each joint's motor, 0 where it is absent, (j, ...)."""
    absent = np.zeros(values.shape[1:])
    return np.array([values[motor] if motor != ABSENT else absent for motor in motors])


def _force_ranges(model: mujoco.MjModel) -> np.ndarray:
    """Lowest and highest force of each actuator, (u, 2)."""
    limited = model.actuator_forcelimited.astype(np.bool_)[:, None]
    return np.where(limited, model.actuator_forcerange, [-np.inf, np.inf])


def _by_observation(robot: Robot, values: Mapping[str, float], otherwise: float) -> np.ndarray:
    """A number for each observation, (o,) float32."""
    return np.array([values.get(name, otherwise) for name in robot.observation_names], np.float32)


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
