"""How a robot stands in the pose in which its episodes start: put on the floor, and held by its servos."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from robots.errors import InvalidValueError
from robots.model import put_joints, standing_data
from robots.motors import Motors, motor_of
from robots.robot import Robot
from robots.task.terrain import BEYOND

_FAR = 100.0  # [m] from the ground, at most, that a robot may be before it is put there
_SECONDS = 2.0  # for which the pose is held
_NEAR = 0.02  # share of the torso's height by which the lowest sole may start above or inside the floor
_STILL = 0.15  # share of the torso's height by which a robot that stands may sink or drift
_UPRIGHT = np.cos(0.3)  # of the angle [rad] by which its torso may tilt


@dataclass(frozen=True)
class Stance:
    """How a robot stands that was put on the floor, and whose servos hold the pose.

    Attributes:
        gap: of the lowest sole from the floor before the robot was put there [m], negative inside it.
        fell: whether it tipped over, sank or drifted away; never where motors cannot hold a pose.
        height: of the torso above the ground in the end, or where it was put if it fell [m].
        positions: of every joint then, by name.
    """

    gap: float
    fell: bool
    height: float
    positions: dict[str, np.ndarray]

    @property
    def fits(self) -> bool:
        """Whether episodes may start in the pose as it is."""
        return not self.fell and abs(self.gap) < _NEAR * self.height


def all_servos(robot: Robot) -> bool:
    """Whether all motors of a robot hold positions."""
    return bool(Motors.of(robot.physics, robot.description.joints).servos.all())


def standing_action(robot: Robot) -> np.ndarray:
    """The action that sends servos to the first pose, (a,); 0 of motors that are told torques."""
    joints = robot.description.joints
    return Motors.of(robot.physics, joints).actions(np.array([robot.start_of(joint) for joint in joints]))


def try_stance(robot: Robot) -> Stance:
    """Put a robot on the floor and, if all its actuators are servos, let them hold its pose for 2 s."""
    model, name = robot.physics, robot.description.torso
    data, gap = mujoco.MjData(model), floor_gap(robot, first_data(robot))
    data.qpos[:] = standing_on_floor(robot).qpos
    mujoco.mj_forward(model, data)
    torso, placed = data.body(name), data.qpos.copy()
    position, axes, height = torso.xpos.copy(), torso.xmat.reshape(3, 3).copy(), torso_height(robot, data)
    motors = [motor_of(model, joint) for joint in robot.description.joints]
    stiffness, gain = -model.actuator_biasprm[motors, 1], model.actuator_gainprm[motors, 0]
    if stiffness.all():
        data.ctrl[motors] = stiffness * data.actuator_length[motors] / gain
        mujoco.mj_step(model, data, round(_SECONDS / model.opt.timestep))
    moved, upright = np.linalg.norm(torso.xpos - position), axes[2] @ torso.xmat.reshape(3, 3)[2]
    fell = not (moved < _STILL * height and upright > _UPRIGHT)  # so that NaN counts as a fall
    if fell:
        data.qpos[:] = placed
        mujoco.mj_forward(model, data)
    positions = {model.joint(joint).name: data.joint(joint).qpos.copy() for joint in range(model.njnt)}
    return Stance(gap, bool(fell), torso_height(robot, data), positions)


def start_positions(robot: Robot) -> np.ndarray:
    """The positions in which episodes start, before noise is added, (nq,).

    They are as built with the actuated joints at 0, but for those that the description or its keyframe give.
    """
    positions = robot.physics.qpos0.copy()
    zero = {joint: np.zeros(1) for joint in robot.description.joints}
    put_joints(robot.physics, positions, zero | dict(robot.start))
    return positions


def turned(robot: Robot, heading: float) -> Robot:
    """A robot whose episodes begin with another heading.

    Args:
        robot: whose torso has a free joint with a name.
        heading: to the left of that which it had [rad].

    Raises:
        InvalidValueError: the robot has no such joint.
    """
    from scipy.spatial.transform import Rotation  # here, as it takes long to import

    model, joint = robot.physics, robot.root_joint
    if not robot.moves_freely or not (name := model.joint(joint).name):
        raise InvalidValueError(
            f"the {robot.name} cannot begin with another heading: its torso has no free joint with a name"
        )
    address = model.jnt_qposadr[joint]
    root = start_positions(robot)[address : address + 7]
    turn = Rotation.from_euler("z", heading) * Rotation.from_quat(root[3:], scalar_first=True)
    root = np.concatenate([root[:3], turn.as_quat(scalar_first=True)])
    return replace(robot, start={**robot.start, name: root})


def first_data(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, of the model to look at."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = start_positions(robot)
    mujoco.mj_forward(robot.model, data)
    return data


def standing_on_floor(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, with joints inside their ranges and the lowest sole on the floor."""
    model, data = robot.model, standing_data(robot.model, robot.start)
    _lower(robot, data, floor_gap(robot, data))
    mujoco.mj_forward(model, data)
    return data


def torso_height(robot: Robot, data: mujoco.MjData) -> float:
    """Height of the torso above the ground straight below it [m], in data of either of its models."""
    torso, floor = data.body(robot.description.torso).xpos, data.geom(robot.description.floor)
    if data.model.geom_type[floor.id] != int(mujoco.mjtGeom.mjGEOM_HFIELD):
        return float(torso[2] - floor.xpos[2])
    return float(mujoco.mj_rayHfield(data.model, data, floor.id, torso, np.array([0.0, 0, -1]), None))


def floor_gap(robot: Robot, data: mujoco.MjData) -> float:
    """Distance of the lowest sole from the floor [m], negative inside it; 0 if there is no sole."""
    model = robot.model
    floor, beyond = (
        mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in (robot.description.floor, BEYOND)
    )
    gaps = []
    for name in (name for soles in robot.description.feet.values() for name in soles):
        sole = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name)
        if sole >= 0 and beyond < 0:
            gaps.append(mujoco.mj_geomDistance(model, data, floor, sole, _FAR, None))
        elif sole >= 0:  # MuJoCo measures no distances of height fields
            deeper = _rise(model, data, floor, sole) - data.geom_xpos[beyond, 2]
            gaps.append(mujoco.mj_geomDistance(model, data, beyond, sole, _FAR, None) - deeper)
    return min(gaps, default=0.0)


def _rise(model: mujoco.MjModel, data: mujoco.MjData, field: int, sole: int) -> float:
    """Height of a height field under a sole [m]."""
    above = data.geom_xpos[sole] + [0, 0, _FAR]
    return float(above[2] - mujoco.mj_rayHfield(model, data, field, above, np.array([0.0, 0, -1]), None))


def _lower(robot: Robot, data: mujoco.MjData, gap: float) -> None:
    """Move the torso down, whether it moves freely or along slides."""
    model = robot.model
    body = model.body(robot.description.torso)
    for joint in range(body.jntadr[0], body.jntadr[0] + body.jntnum[0]):
        address = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_FREE):
            data.qpos[address + 2] -= gap
        elif model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_SLIDE):
            data.qpos[address] -= gap * data.xaxis[joint, 2]  # 0 along a horizontal axis
