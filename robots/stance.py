"""How a robot stands in the pose in which its episodes start: put on the floor, and held by its servos."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from robots.attitude import turned_about_z
from robots.errors import InvalidValueError
from robots.mjcf.compiling import new_data
from robots.model import put_joints, standing_data
from robots.motors import Motors, motor_of
from robots.robot import Robot
from robots.task.terrain import BEYOND

_FAR = 100.0  # [m] from the ground, at most, that a robot may be before it is put there
_SECONDS = 3.0  # for which the pose is held
_MOMENT = 0.5  # [s] at the end, in which a robot that stands is still
_NEAR = 0.02  # share of the torso's height by which the lowest sole may start above the floor
_DEEP = 0.005  # [m] by which the lowest sole may start deeper in the floor than where it comes to rest
_STILL = 0.02  # share of the torso's height by which a robot that is still may move in that moment
RAMP = 0.4  # [s] in which servos go to where a new gait, or standing, wants them
_UPRIGHT = 0.3  # [rad] by which the torso of a robot that stands may tilt


@dataclass(frozen=True)
class Stance:
    """How a robot stands that was put on the floor, and whose servos hold the pose."""

    gap: float  # of the lowest sole from the floor before the robot was put there [m], negative inside it
    rest: float  # that gap where the robot came to rest: negative of soft feet; 0 where nothing held the pose
    held: bool  # whether servos held the pose; motors that are told torques cannot
    tilt: float  # of the torso in the end, against its first attitude [rad]
    fell: bool  # whether it tipped over or did not come to rest; False where nothing held the pose
    lies: bool  # whether something else than a leg, or less than half of the feet, touched the floor
    height: float  # of the torso above the ground in the end, or where it was put if it fell [m]
    positions: dict[str, np.ndarray]  # of every joint then, by name

    @property
    def stands(self) -> bool:
        """Whether it keeps standing on its legs."""
        return not (self.fell or self.lies)

    @property
    def deep(self) -> bool:
        """Whether it was put so deep into the floor that this throws it up."""
        return self.rest - self.gap > _DEEP

    @property
    def fits(self) -> bool:
        """Whether episodes may start in the pose as it is."""
        return not (self.fell or self.deep) and self.gap < _NEAR * self.height


def all_servos(robot: Robot) -> bool:
    """Whether all motors of a robot hold positions."""
    return bool(Motors.of(robot.physics, robot.description.joints).servos.all())


def standing_action(robot: Robot) -> np.ndarray:
    """The action that sends servos to the first pose, (a,); 0 of motors that are told torques."""
    joints = robot.description.joints
    return Motors.of(robot.physics, joints).actions(np.array([robot.start_of(joint) for joint in joints]))


def ramped(told: np.ndarray, action: np.ndarray, seconds: float, ramp: float = RAMP) -> np.ndarray:
    """An action on the way from what servos were told, (a,), so that they do not jerk the robot over."""
    share = np.float32(min(1.0, seconds / ramp))
    return np.asarray(told + share * (action - told))


def try_stance(robot: Robot) -> Stance:
    """Put a robot on the floor and, if all its actuators are servos, let them hold its pose for 3 s."""
    model, data = robot.physics, new_data(robot.physics)
    data.qpos[:] = standing_on_floor(robot).qpos
    mujoco.mj_forward(model, data)
    torso, placed = data.body(robot.description.torso), data.qpos.copy()
    up, height = torso.xmat.reshape(3, 3)[2].copy(), torso_height(robot, data)
    motors = [motor_of(model, joint) for joint in robot.description.joints]
    stiffness, gain = -model.actuator_biasprm[motors, 1], model.actuator_gainprm[motors, 0]
    held, moved, tilt = bool(stiffness.all()), 0.0, 0.0
    if held:
        data.ctrl[motors] = stiffness * data.actuator_length[motors] / gain
        mujoco.mj_step(model, data, round((_SECONDS - _MOMENT) / model.opt.timestep))
        before = torso.xpos.copy()
        mujoco.mj_step(model, data, round(_MOMENT / model.opt.timestep))
        moved = float(np.linalg.norm(torso.xpos - before))
        tilt = float(np.arccos(np.clip(up @ torso.xmat.reshape(3, 3)[2], -1, 1)))
    fell = not (moved < _STILL * height and tilt < _UPRIGHT)  # so that NaN counts as a fall
    rest, lies = floor_gap(robot, data) if held and not fell else 0.0, held and _lies(robot, data)
    if fell:
        data.qpos[:] = placed
    elif robot.moves_freely:  # it may have slid
        address = model.jnt_qposadr[robot.root_joint]
        data.qpos[address : address + 2] = placed[address : address + 2]
    mujoco.mj_forward(model, data)
    positions = {model.joint(joint).name: data.joint(joint).qpos.copy() for joint in range(model.njnt)}
    gap = floor_gap(robot, first_data(robot))
    return Stance(gap, rest, held, tilt, fell, lies, torso_height(robot, data), positions)


def _lies(robot: Robot, data: mujoco.MjData) -> bool:
    """Whether something else than a leg touches the floor, or less than half of the feet do."""
    model, description = robot.physics, robot.description
    floor = model.geom(description.floor).id
    hips = {int(model.joint(leg.joints[0]).bodyid[0]) for leg in description.legs.values()}
    in_leg = np.zeros(model.nbody, np.bool_)
    for body in range(1, model.nbody):  # parents come first
        in_leg[body] = body in hips or in_leg[model.body_parentid[body]]
    touching = data.contact.geom[(data.contact.geom == floor).any(axis=1)]
    others = touching[touching != floor]
    names = {model.geom(geom).name for geom in others}
    down = sum(not names.isdisjoint(soles) for soles in description.feet.values())
    return bool(not in_leg[model.geom_bodyid[others]].all() or 2 * down < len(description.feet))


def start_positions(robot: Robot) -> np.ndarray:
    """The positions in which episodes start, without noise, (nq,): actuated joints at 0 by default."""
    positions = robot.physics.qpos0.copy()
    zero = {joint: np.zeros(1) for joint in robot.description.joints}
    put_joints(robot.physics, positions, zero | dict(robot.start))
    return positions


def turned(robot: Robot, heading: float) -> Robot:
    """A robot whose episodes begin heading to the left of where they began before, by an angle [rad]."""
    model, joint = robot.physics, robot.root_joint
    if not robot.moves_freely or not (name := model.joint(joint).name):
        raise InvalidValueError(
            f"the {robot.name} cannot begin with another heading: its torso has no free joint with a name"
        )
    address = model.jnt_qposadr[joint]
    root = start_positions(robot)[address : address + 7]
    root = np.concatenate([root[:3], turned_about_z(root[3:], heading)])
    return replace(robot, start={**robot.start, name: root})


def first_data(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, of the model to look at."""
    data = new_data(robot.model)
    data.qpos[:] = start_positions(robot)
    mujoco.mj_forward(robot.model, data)
    return data


def standing_on_floor(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, with joints inside their ranges and the lowest sole on the floor."""
    model, data, root = robot.model, standing_data(robot.model, robot.start), robot.root_joint
    slide = np.argmax(model.jnt_axis[root : root + 2, 2])  # of a planar robot that moves it up and down
    data.qpos[model.jnt_qposadr[root] + (2 if robot.moves_freely else slide)] -= floor_gap(robot, data)
    mujoco.mj_forward(model, data)
    return data


def torso_height(robot: Robot, data: mujoco.MjData) -> float:
    """Height of the torso above the ground straight below it [m], in data of either of its models."""
    torso, floor = data.body(robot.description.torso).xpos, data.geom(robot.description.floor)
    if data.model.geom_type[floor.id] != int(mujoco.mjtGeom.mjGEOM_HFIELD):
        return float(torso[2] - floor.xpos[2])
    return float(mujoco.mj_rayHfield(data.model, data, floor.id, torso, np.array([0.0, 0, -1]), None))


def floor_gap(robot: Robot, data: mujoco.MjData) -> float:
    """Distance of the lowest sole from the floor [m], in data of either model; 0 if there is no sole."""
    model = data.model
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
    above = data.geom_xpos[sole] + [0, 0, _FAR]
    return float(above[2] - mujoco.mj_rayHfield(model, data, field, above, np.array([0.0, 0, -1]), None))
