"""`mirror_images` of gaits, of a robot that is its own mirror image to the left and right.

Nobody has to declare it: it is read from the model.
"""

import mujoco
import numpy as np

from robots.controllers.controller import Mirror, Reflection
from robots.description import Leg
from robots.motors import Motors, motor_of
from robots.robot import Robot
from robots.stance import standing_on_floor

_POINT = np.array([1.0, -1, 1])  # a point or a velocity in the mirror, which is the plane y = 0
_TURN = np.array([-1.0, 1, -1])  # a rate of turning, and the vector of a quaternion
# Quantities of observations that have the other sign in the mirror.
_ODD = {
    "sine of the bearing of the target",
    "sideward speed",
    "speed along the y axis",
    "roll",
    "gravity y",
    "gyroscope x",
    "gyroscope z",
    "accelerometer y",
    "heading",
    "heading error",
    "commanded turn",
}
_NEAR = 0.01  # [m] by which a joint may be off its place in the mirror, and [rad] by which the first pose may
# Share of the largest acceleration by which one may be off its mirror image. Friction and inertia that were
# identified motor by motor differ much: those of Go2 by 0.7.
_EQUAL = 0.8
_STATES = 4  # in which accelerations are compared
_SPREAD = 0.1  # of joint positions around the first pose [rad or m] in these; speeds have ten times as much


def mirror_images(robot: Robot, solutions: np.ndarray) -> np.ndarray | None:
    """Mirror images (n, p) of gaits: what one does without a left leg, its image does without the right one.

    None if the whole robot is not its own mirror image, or its controllers have none.
    """
    mirror = find_symmetry(robot)
    return None if mirror is None else robot.controller.mirrored(solutions, mirror)


def find_symmetry(robot: Robot) -> Mirror | None:
    """How actions and observations of a whole robot that heads along x change places in its mirror.

    None if it is not its own mirror image, by `_alike` and `_accelerates_alike`, or has no free joint.
    As in robots that are built, masses and friction may differ somewhat, the IMU be to one side and joints go
    further on one side: who uses mirror images of gaits tries them out.
    """
    model = robot.physics
    single = np.isin(model.jnt_type, (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE))
    if not robot.moves_freely or single.sum() != model.njnt - 1:
        return None
    if (joints := _mirrored_joints(robot)) is None:
        return None
    numbers = np.array([model.joint(name).id for name in robot.description.joints])
    if not np.isin(joints.images[numbers], numbers).all():
        return None
    order = {number: place for place, number in enumerate(numbers.tolist())}
    actions = Reflection(
        np.array([order[image] for image in joints.images[numbers].tolist()]), joints.signs[numbers]
    )
    if not (_alike(robot, actions) and _accelerates_alike(robot, joints, actions)):
        return None
    return Mirror(_mirrored_entries(robot, actions), actions)


def _mirrored_joints(robot: Robot) -> Reflection | None:
    """Which joint of the model each one is in the mirror, and with which sign; the torso's is its own."""
    model, data = robot.physics, _standing(robot)
    images, signs, taken = np.arange(model.njnt), np.ones(model.njnt), np.zeros(model.njnt, np.bool_)
    for joint in np.delete(images, robot.root_joint):
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        along = data.xaxis @ (data.xaxis[joint] * (_POINT if slides else _TURN))
        off = np.abs(data.xanchor - data.xanchor[joint] * _POINT).max(axis=1)
        fits = (off < _NEAR) & (np.abs(along) > 1 - _NEAR) & (model.jnt_type == model.jnt_type[joint])
        if not (fits & ~taken).any():
            return None
        images[joint] = np.argmax(fits & ~taken)
        taken[images[joint]] = True
        signs[joint] = np.sign(along[images[joint]])
    return Reflection(images, signs) if (images[images] == np.arange(model.njnt)).all() else None


def _standing(robot: Robot) -> mujoco.MjData:
    """The state in which its episodes start, on the floor and with the torso in the mirror."""
    model, pose = robot.physics, standing_on_floor(robot).qpos
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    data.qpos[model.jnt_qposadr[robot.root_joint] + 1] = 0.0
    mujoco.mj_forward(model, data)
    return data


def _alike(robot: Robot, actions: Reflection) -> bool:
    """Whether targets and motors of joints, and feet, are those of their images."""
    description, model = robot.description, robot.physics
    images, signs = actions
    motors, joints = Motors.of(model, description.joints), description.joints
    numbers = [motor_of(model, joint) for joint in joints]
    rates = np.array([description.position_rates.get(joint, 1.0) for joint in joints])
    starts = np.array([robot.start_of(joint) for joint in joints])
    same = (motors.gear, motors.gain, motors.bias_length, motors.bias_velocity, rates)
    dynamics = model.actuator_dyntype[numbers], *model.actuator_dynprm[numbers].T
    limits = np.stack([(motors.low, motors.high), (motors.min_force, motors.max_force)])
    return (
        all(np.allclose(values, values[images]) for values in (*same, *dynamics))
        and np.allclose(motors.bias, signs * motors.bias[images])
        and np.allclose(starts, signs * starts[images], atol=_NEAR)
        and np.allclose(limits, np.sort(signs * limits[..., images], axis=1))
        and {leg.foot for leg in description.legs.values()} == set(description.feet)
        and all(_image_of(leg, robot, images) for leg in description.legs.values())
    )


def _image_of(leg: Leg, robot: Robot, images: np.ndarray) -> Leg | None:
    joints = robot.description.joints
    wanted = {joints[images[joints.index(joint)]] for joint in leg.joints}
    return next((other for other in robot.description.legs.values() if wanted == set(other.joints)), None)


def _accelerates_alike(robot: Robot, joints: Reflection, actions: Reflection) -> bool:
    """Whether the mirror images of some states and actions have the mirror images of their accelerations."""
    model, names = robot.physics, robot.description.joints
    motors, limits = [motor_of(model, name) for name in names], Motors.of(model, names)
    poses = _of_state(joints, model.jnt_qposadr, robot.root_joint, (*_POINT, 1.0, *_TURN))
    velocities = _of_state(joints, model.jnt_dofadr, robot.root_joint, (*_POINT, *_TURN))
    start, rng = _standing(robot).qpos, np.random.default_rng(1)

    def accelerations(pose: np.ndarray, velocity: np.ndarray, action: np.ndarray) -> np.ndarray:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = pose, velocity
        data.ctrl[motors] = (limits.low + limits.high + (limits.high - limits.low) * action) / 2
        mujoco.mj_forward(model, data)
        return data.qacc.copy()

    for _ in range(_STATES):
        pose, velocity = start.copy(), 10 * _SPREAD * rng.standard_normal(model.nv)
        hinges = np.delete(model.jnt_qposadr, robot.root_joint)
        pose[hinges] += _SPREAD * rng.standard_normal(len(hinges))
        action = rng.uniform(-1, 1, len(names))
        one = velocities.of(accelerations(pose, velocity, action))
        other = accelerations(poses.of(pose), velocities.of(velocity), actions.of(action))
        if np.abs(one - other).max() > _EQUAL * np.abs(one).max():
            return False
    return True


def _of_state(
    joints: Reflection, addresses: np.ndarray, root: int, root_signs: tuple[float, ...]
) -> Reflection:
    """The reflection of positions or velocities that joints have at these addresses."""
    count = len(joints.images) - 1 + len(root_signs)
    images, signs = np.arange(count), np.ones(count)
    images[addresses] = addresses[joints.images]
    signs[addresses] = joints.signs
    signs[addresses[root] : addresses[root] + len(root_signs)] = root_signs
    return Reflection(images, signs)


def _mirrored_entries(robot: Robot, actions: Reflection) -> Reflection:
    description, entries = robot.description, robot.entries
    images = {name: (name, -1.0) for name in _ODD}
    for joint, image, sign in zip(description.joints, *actions, strict=True):
        for what in ("position", "speed", "last action"):
            images[f"{joint} {what}"] = f"{description.joints[image]} {what}", float(sign)
    for leg in description.legs.values():
        other = _image_of(leg, robot, actions.images)
        assert other is not None, "its joints have images"
        images[f"{leg.foot} contact"] = f"{other.foot} contact", 1.0
    places = {(entry.name, entry.term, entry.lag): place for place, entry in enumerate(entries)}
    found = [images.get(entry.name, (entry.name, 1.0)) for entry in entries]
    order = [places[name, entry.term, entry.lag] for (name, _), entry in zip(found, entries, strict=True)]
    return Reflection(np.array(order), np.array([sign for _, sign in found]))
