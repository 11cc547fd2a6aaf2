"""Puts a body into a frame that turns or shrinks it, whatever frames it is in already."""

import mujoco
import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from robots.mjcf.compiling import compiled_so_far


def turn_body(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, position: float) -> None:
    """Put the body of a hinge or slide where the joint would put it, were the joint to go on from there.

    The joint's position is counted like its range [rad or m].
    """
    model, body = compiled_so_far(spec), joint.parent
    motion = _motion(model, joint, position - float(model.qpos0[model.jnt_qposadr[joint.id]]))
    # joints move a body one after another, so those before this one now act on what it has moved
    undone = _in_units(motion, _scale_inside(body)).inv()
    for earlier in _before(joint):
        earlier.pos, earlier.axis = undone.apply(earlier.pos), undone.rotation.apply(earlier.axis)
    pose = _pose(model, body)
    moved = _in_units(pose * motion * pose.inv(), _scale_inside(body.parent))
    frame = body.parent.add_frame(pos=moved.translation, quat=moved.rotation.as_quat(scalar_first=True))
    _put_into(body, frame)


def shrink_body(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, factor: float) -> None:
    """Shrink what a joint moves towards the joint, in all directions; masses shrink as lengths do.

    Forces, gains, dampings and armatures stay as they are.
    """
    model, body = compiled_so_far(spec), joint.parent
    for earlier in _before(joint):  # stays where it is, though in a body that shrinks
        earlier.pos = joint.pos + (earlier.pos - joint.pos) / factor
    center = _pose(model, body).apply(model.jnt_pos[joint.id]) / _scale_inside(body.parent)
    shrunk = body.parent.add_frame(
        pos=center,
        scale=np.full(3, factor),
        scaling=mujoco.mjtScaling.mjSCALING_GEOMETRY,
        massscale=factor,
    )
    back = body.parent.add_frame(pos=-center)
    back.set_frame(shrunk)
    _put_into(body, back)


def _before(joint: mujoco.MjsJoint) -> list[mujoco.MjsJoint]:
    """The joints of the same body that come before one."""
    return [other for other in joint.parent.joints if other.id < joint.id]


def _pose(model: mujoco.MjModel, body: mujoco.MjsBody) -> RigidTransform:
    """Where a body is in its parent's coordinates."""
    rotation = Rotation.from_quat(model.body_quat[body.id], scalar_first=True)
    return RigidTransform.from_components(model.body_pos[body.id], rotation)


def _motion(model: mujoco.MjModel, joint: mujoco.MjsJoint, by: float) -> RigidTransform:
    """What a joint does to its body, in the body's coordinates."""
    axis, anchor = model.jnt_axis[joint.id], model.jnt_pos[joint.id]
    if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
        return RigidTransform.from_translation(by * axis)
    rotation = Rotation.from_rotvec(by * axis)
    return RigidTransform.from_components(anchor - rotation.apply(anchor), rotation)


def _in_units(motion: RigidTransform, unit: float) -> RigidTransform:
    """A motion with its lengths counted in a unit [m]."""
    return RigidTransform.from_components(motion.translation / unit, motion.rotation)


def _scale_inside(body: mujoco.MjsBody) -> float:
    """How long a unit of length is inside a body that scaled frames hold [m]."""
    scale = 1.0
    while body is not None:
        frame = body.frame
        while frame is not None:
            scale *= frame.scale[0]
            frame = frame.frame
        body = body.parent
    return scale


def _put_into(body: mujoco.MjsBody, frame: mujoco.MjsFrame) -> None:
    """Put a body, with the frames that it is in, into another one."""
    outermost: mujoco.MjsBody | mujoco.MjsFrame = body
    while outermost.frame is not None:
        outermost = outermost.frame
    outermost.set_frame(frame)
