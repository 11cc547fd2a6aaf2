"""Changes to a damaged robot's MuJoCo model: edits of its specification, and patches of the compiled numbers.

What an earlier damage took away is missing from the model; every function works with what is left.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import mujoco
import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from robots.description import Description
from robots.errors import InvalidValueError
from robots.mjcf.compiling import compiled_so_far
from robots.motors import ABSENT, motor_of

RED = (0.83, 0.05, 0.12, 1.0)  # darker than the vermilion that some feet have
FIXED = "hinge of {}"  # name of the site that is left where a joint was
_NEVER_SHOWN = 5  # group of sites
_PALE_RED = (1.0, 0.80, 0.78, 1.0)  # the floor's own colour is multiplied with this
_DRIVES_A_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_WRAPS_A_JOINT = mujoco.mjtWrap.mjWRAP_JOINT
_OF_A_TENDON = ("stiffness", "damping", "frictionloss", "armature", "margin", "solref_limit", "solimp_limit")
_JOINT, _ACTUATOR = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_ACTUATOR


def find_joints(spec: mujoco.MjSpec, names: Sequence[str]) -> list[mujoco.MjsJoint]:
    """The joints that are there."""
    return [joint for name in names if (joint := spec.joint(name)) is not None]


def the_joint(spec: mujoco.MjSpec, name: str) -> mujoco.MjsJoint:
    """The joint of a name; raises an `InvalidValueError` if it is not there any more."""
    joint = spec.joint(name)
    if joint is None:
        raise InvalidValueError(
            f"the joint {name} is locked or lost already: combine what else is wrong with it by +"
        )
    return joint


def find_motors(spec: mujoco.MjSpec, joints: Collection[str]) -> list[mujoco.MjsActuator]:
    """The actuators of joints."""
    driving = [motor for motor in spec.actuators if motor.trntype in _DRIVES_A_JOINT]
    return [motor for motor in driving if motor.target in joints]


def find_soles(spec: mujoco.MjSpec, description: Description, feet: Sequence[str]) -> list[mujoco.MjsGeom]:
    """The soles of feet."""
    names = [name for foot in feet for name in description.feet[foot]]
    return [sole for name in names if (sole := spec.geom(name)) is not None]


def limb_geoms(spec: mujoco.MjSpec, joints: Sequence[str]) -> list[mujoco.MjsGeom]:
    """The geoms that joints move, up to the next joint each."""
    geoms: list[mujoco.MjsGeom] = []
    rigid = [joint.parent for joint in find_joints(spec, joints)]
    while rigid:
        body = rigid.pop()
        geoms += body.geoms
        rigid += [child for child in body.bodies if not child.joints]
    return geoms


def delete_motors(spec: mujoco.MjSpec, joints: Collection[str]) -> None:
    """Delete the actuators of joints, and the sensors that feel them."""
    for motor in find_motors(spec, joints):
        _delete_sensors(spec, _ACTUATOR, motor.name)
        spec.delete(motor)


def fix_joint(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, angle: float) -> None:
    """Delete a joint that stays where it is, its actuators, and the sensors that feel them.

    The angle is counted like the joint's range [rad or m]. Tendons go on without it. A site tells damage that
    turns about the joint where it was.
    """
    delete_motors(spec, [joint.name])
    _delete_sensors(spec, _JOINT, joint.name)
    model = compiled_so_far(spec) if spec.tendons else None
    for tendon in list(spec.tendons):
        arms = {wrap.target.name: wrap.coef for wrap in tendon.path if wrap.type == _WRAPS_A_JOINT}
        if joint.name in arms:
            _replace_tendon(spec, model, tendon, arms, joint.name, angle)
    site = joint.parent.add_site(
        name=FIXED.format(joint.name), pos=joint.pos, zaxis=joint.axis, group=_NEVER_SHOWN
    )
    if joint.frame is not None:
        site.set_frame(joint.frame)
    spec.delete(joint)


def _replace_tendon(
    spec: mujoco.MjSpec,
    model: mujoco.MjModel,
    tendon: mujoco.MjsTendon,
    arms: dict[str, float],
    fixed: str,
    angle: float,
) -> None:
    """Replace a tendon, which MuJoCo cannot change, by one without a joint, if another joint is left.

    An equality constraint follows the new tendon where it is the first that the constraint names, and is
    deleted otherwise.
    """
    _delete_sensors(spec, mujoco.mjtObj.mjOBJ_TENDON, tendon.name)
    arm, rest = arms.pop(fixed), f"{tendon.name}_without_{fixed}"
    if arms:
        other = spec.add_tendon(name=rest)
        for name, coefficient in arms.items():
            other.wrap_joint(name, coefficient)
        for attribute in _OF_A_TENDON:
            setattr(other, attribute, getattr(tendon, attribute))
        # the joint adds this to the length; without it, the rest is as much shorter
        other.range = model.tendon_range[tendon.id] - arm * angle
        other.springlength = model.tendon_lengthspring[tendon.id] - arm * angle
        other.limited = bool(model.tendon_limited[tendon.id])
    for coupling in list(spec.equalities):
        of_tendons = tendon.name and coupling.type == mujoco.mjtEq.mjEQ_TENDON
        if of_tendons and coupling.name1 == tendon.name and arms:
            coupling.name1 = rest
            # constraints count from the lengths in the reference pose
            coupling.data[0] -= arm * (angle - model.joint(fixed).qpos0[0])
        elif of_tendons and tendon.name in (coupling.name1, coupling.name2):
            spec.delete(coupling)
    for motor in list(spec.actuators):
        if motor.trntype == mujoco.mjtTrn.mjTRN_TENDON and motor.target == tendon.name:
            if arms:
                motor.target = rest
            else:
                spec.delete(motor)
    spec.delete(tendon)


def _delete_sensors(spec: mujoco.MjSpec, kind: mujoco.mjtObj, name: str) -> None:
    for sensor in list(spec.sensors):
        if name and (sensor.objtype, sensor.objname) == (kind, name):
            spec.delete(sensor)


def mark(geoms: Iterable[mujoco.MjsGeom]) -> None:
    """Colour parts of a robot red."""
    for geom in geoms:
        geom.rgba = RED


def tint(floor: mujoco.MjsGeom) -> None:
    """Colour the floor a pale red."""
    floor.rgba = _PALE_RED


def scale_friction(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, floor: mujoco.MjsGeom, factor: float) -> None:
    """Multiply the friction between a geom and the floor: sliding, torsional and rolling.

    MuJoCo takes the larger friction of the two geoms, and mixes the rest, unless one has the higher
    priority: then its own count. So the geom gets what is in force, and a higher priority than the floor.
    Against other geoms it is as slippery.
    """
    if geom.priority <= floor.priority:
        _take_over(geom, floor)
        geom.priority = floor.priority + 1
    geom.friction = factor * np.asarray(geom.friction)
    for pair in spec.pairs:
        if {pair.geomname1, pair.geomname2} == {geom.name, floor.name}:
            pair.friction = factor * np.asarray(pair.friction)


def touches(geom: mujoco.MjsGeom, floor: mujoco.MjsGeom) -> bool:
    """Whether a geom and the floor can be in contact."""
    return bool(geom.contype & floor.conaffinity or floor.contype & geom.conaffinity)


def _take_over(geom: mujoco.MjsGeom, floor: mujoco.MjsGeom) -> None:
    """Give a geom the parameters of its contact with the floor."""
    if geom.priority < floor.priority:
        geom.condim, geom.friction = floor.condim, floor.friction
        geom.solref, geom.solimp = floor.solref, floor.solimp
        return
    share = _share(geom.solmix, floor.solmix)
    geom.condim = max(geom.condim, floor.condim)
    geom.friction = np.maximum(geom.friction, floor.friction)
    own, other = np.asarray(geom.solref), np.asarray(floor.solref)
    mixes = own[0] > 0 and other[0] > 0  # time constants, not direct stiffness
    geom.solref = share * own + (1 - share) * other if mixes else np.minimum(own, other)
    geom.solimp = share * np.asarray(geom.solimp) + (1 - share) * np.asarray(floor.solimp)


def _share(own: float, other: float) -> float:
    least = mujoco.mjMINVAL
    if own < least or other < least:
        return 0.5 if own < least and other < least else float(own >= least)
    return own / (own + other)


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
        pos=center, scale=np.full(3, factor), scaling=mujoco.mjtScaling.mjSCALING_GEOMETRY, massscale=factor
    )
    back = body.parent.add_frame(pos=-center)
    back.set_frame(shrunk)
    _put_into(body, back)


def _before(joint: mujoco.MjsJoint) -> list[mujoco.MjsJoint]:
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
    outermost: mujoco.MjsBody | mujoco.MjsFrame = body
    while outermost.frame is not None:
        outermost = outermost.frame
    outermost.set_frame(frame)


def joint_ids(model: mujoco.MjModel, names: Iterable[str]) -> list[int]:
    """Indices of the joints that are there."""
    found = (mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names)
    return [joint for joint in found if joint != ABSENT]


def motor_ids(model: mujoco.MjModel, names: Iterable[str]) -> list[int]:
    """Indices of the actuators of joints, of those that are there."""
    return [motor for name in names if (motor := motor_of(model, name)) != ABSENT]


def mark_limbs(model: mujoco.MjModel, names: Sequence[str]) -> None:
    """Colour red what joints move, up to the next joint each."""
    limbs = model.body_weldid[model.jnt_bodyid[joint_ids(model, names)]]
    model.geom_rgba[np.isin(model.body_weldid[model.geom_bodyid], limbs)] = RED


def turn_limb(model: mujoco.MjModel, joint: str, angle: float, *, following: Sequence[str] = ()) -> None:
    """Turn what a hinge, which may be fixed, moves by an angle [rad] while its position stays: it is bent.

    Joints of the same body that follow it have their axes moved too.
    """
    for body, anchor, axis in _hinges(model, joint):
        turn, later = Rotation.from_rotvec(angle * axis), joint_ids(model, following)
        parts = (
            (model.geom_pos, model.geom_quat, model.geom_bodyid == body),
            (model.site_pos, model.site_quat, model.site_bodyid == body),
            (model.body_ipos, model.body_iquat, np.arange(model.nbody) == body),
            (model.body_pos, model.body_quat, model.body_parentid == body),
        )
        for places, turns, which in parts:
            places[which] = anchor + turn.apply(places[which] - anchor)
            for index in np.flatnonzero(which):
                turned = turn * Rotation.from_quat(turns[index], scalar_first=True)
                turns[index] = turned.as_quat(scalar_first=True)
        model.jnt_pos[later] = anchor + turn.apply(model.jnt_pos[later] - anchor)
        model.jnt_axis[later] = turn.apply(model.jnt_axis[later])
    settle(model)


def _hinges(model: mujoco.MjModel, joint: str) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The body, place and axis of a joint in the body, which may be fixed; nothing where it is lost."""
    for number in joint_ids(model, [joint]):
        yield int(model.jnt_bodyid[number]), model.jnt_pos[number].copy(), model.jnt_axis[number].copy()
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, FIXED.format(joint))
    if site != ABSENT:
        axis = Rotation.from_quat(model.site_quat[site], scalar_first=True).apply([0.0, 0.0, 1.0])
        yield int(model.site_bodyid[site]), model.site_pos[site].copy(), axis


def settle(model: mujoco.MjModel) -> None:
    """Work out again what MuJoCo derives from masses and places."""
    mujoco.mj_setConst(model, mujoco.MjData(model))
