"""From an MJCF and a description to compiled models: checks, narrower ranges, contact sensors, and poses.

What does not fit together is an `InvalidRobotError`.
"""

import math
from collections.abc import Mapping

import mujoco
import numpy as np

from robots.description import Description, Servo
from robots.errors import InvalidRobotError, naming, one_line
from robots.looks import dress
from robots.mjcf.compiling import check_numbers, check_options, compile_spec, new_data, read_spec
from robots.mjcf.screening import screen
from robots.motors import ABSENT, TO_JOINT, Motors, is_plain, is_servo, motor_of, torque_limit, transmissions
from robots.task.terrain import BEYOND, clearance, lay

_AROUND = (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)  # what tendons bend around
SLIDING = 3  # dimensions of a contact with friction against sliding alone
_QUATERNION = 4  # numbers at the end of the position of a free joint or a ball
_PLANAR_JOINTS = 3  # of a torso that moves in the x-z plane
# Integrators of which MuJoCo can make a step in two halves
_HALVED = (
    mujoco.mjtIntegrator.mjINT_EULER,
    mujoco.mjtIntegrator.mjINT_IMPLICIT,
    mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
)
CLOSE = math.radians(1)  # [rad or m] by which a position may be beyond a joint's range: its end is meant
ACCELEROMETER = "surefoot_accelerometer"  # name of the sensor, and of a site that is made for it
_SCALAR = [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)]


def compile_robot(
    xml: str, description: Description, origin: str
) -> tuple[mujoco.MjModel, mujoco.MjModel, np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Check that an MJCF has what a description names, and compile it.

    Returns:
        The `model`, `physics`, `joint_ranges`, `start` and `targets` of a `robots.robot.Robot`.
    """
    screen(xml, origin)
    try:
        spec = read_spec(xml)
    except ValueError as error:
        raise InvalidRobotError(f"{origin}: the MJCF cannot be read: {one_line(error)}") from error
    check_options(spec, origin)
    with naming(origin, InvalidRobotError, InvalidRobotError):
        _check_elements(spec, description)
        adjust(spec, description)
        dress(spec, description)
        _check_others(spec, description)
    model, physics = compile_models(spec, description, origin)
    check_numbers(model, origin)
    with naming(origin, InvalidRobotError, InvalidRobotError):
        _check_plane(model, description.torso)
        _check_actuators(spec, model, description.joints)
        ranges = _joint_ranges(model, description)
        if (description.drag or description.position_rates) and not knows_halves(model):
            raise InvalidRobotError(
                "drag and position_rates need the integrator Euler, implicit or implicitfast, and no enabled "
                "flags"
            )
        start = _start(model, description)
    return model, physics, ranges, start, Motors.of(physics, description.joints).reach


def _check_elements(spec: mujoco.MjSpec, description: Description) -> None:
    motors = [actuator.target for actuator in spec.actuators]
    driven = motors + [name for name, servo in description.servos.items() if servo.stiffness and servo.torque]
    soles = [sole for soles in description.feet.values() for sole in soles]
    for kind, wanted, known in (
        ("body", [description.torso, *(description.position or ())], _names(spec.bodies)),
        ("geom", [description.floor, *soles], _names(spec.geoms)),
        ("joint", description.joints, _names(spec.joints)),
        ("motor on the joint", description.joints, driven),
        ("keyframe", filter(None, [description.keyframe]), _names(spec.keys)),
    ):
        for name in wanted:
            if name not in known:
                raise InvalidRobotError(
                    f"the MJCF has no {kind} {name!r}; available: {', '.join(known) or 'none'}"
                )
    _check_root(spec.body(description.torso))
    sites, imu = _names(spec.body(description.torso).sites), description.observations.imu
    if imu is not None and imu not in sites:
        raise InvalidRobotError(
            f"the torso has no site {imu!r} for the IMU; available: {', '.join(sites) or 'none'}; "
            f'add <site name="{imu}"/> to the body {description.torso!r}, or leave observations.imu out'
        )


def _check_others(spec: mujoco.MjSpec, description: Description) -> None:
    """Refuse bodies that move freely beside the robot: nothing would put them back after an episode."""
    free = [joint.parent.name for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]
    if others := [name for name in free if name != description.torso]:
        raise InvalidRobotError(
            f"only the torso {description.torso!r} may have a free joint, but so have these bodies: "
            f"{', '.join(others)}; alone: true in the YAML leaves them out"
        )


def _check_actuators(spec: mujoco.MjSpec, model: mujoco.MjModel, joints: tuple[str, ...]) -> None:
    """Refuse joints that are not driven by one motor or servo each, whose control has a range."""
    for name in joints:
        found = [motor for motor in spec.actuators if motor.target == name and motor.trntype == TO_JOINT]
        if len(found) != 1:
            raise InvalidRobotError(
                f"one actuator must drive the joint {name!r}, not {len(found)}{transmissions(model)}"
            )
        if not is_plain(found[0]):
            raise InvalidRobotError(
                f"the actuator of the joint {name!r} must be a motor, or a position or velocity servo, not a "
                "muscle or another actuator with dynamics of its own"
            )
        if found[0].delay:
            raise InvalidRobotError(
                f"the actuator of the joint {name!r} has a delay, which is not supported: leave it out, and "
                "train with --randomization delay=..."
            )
    limited = model.actuator_ctrllimited.astype(np.bool_) & (np.diff(model.actuator_ctrlrange)[:, 0] > 0)
    if lacking := [name for name in joints if not limited[motor_of(model, name)]]:
        raise InvalidRobotError(
            "the actuators of these joints need a ctrlrange in the MJCF, from the lowest to the highest "
            f'torque or position to command, such as ctrlrange="-1 1": {", ".join(lacking)}'
        )


def _start(model: mujoco.MjModel, description: Description) -> dict[str, np.ndarray]:
    """Positions of joints in the keyframe and by the description, with quaternions of length 1."""
    start = keyframe_positions(model, description.keyframe)
    for name, given in description.start.items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint == ABSENT:
            known = ", ".join(model.joint(number).name for number in range(model.njnt))
            raise InvalidRobotError(f"start names the joint {name!r}, which the MJCF lacks: {known}")
        start[name] = np.atleast_1d(np.array(given))
        expected = len(model.joint(joint).qpos0)
        if len(start[name]) != expected:
            raise InvalidRobotError(f"start.{name} must have {expected} numbers, not {len(start[name])}")
    for name, position in start.items():
        if len(position) >= _QUATERNION:
            length = np.linalg.norm(position[-_QUATERNION:])
            if not length:
                raise InvalidRobotError(f"start.{name} must end in a quaternion, not in zeros")
            position[-_QUATERNION:] /= length
        position[0] = _clamped(model, model.joint(name).id, position[0])
    return start


def _joint_ranges(model: mujoco.MjModel, description: Description) -> np.ndarray:
    """Ranges of the actuated joints [rad or m], (j, 2), which must be limited hinges or slides."""
    joints = [model.joint(name) for name in description.joints]
    for joint in joints:
        if model.jnt_type[joint.id] not in _SCALAR:
            raise InvalidRobotError(f"the joint {joint.name!r} must be a hinge or a slide")
    limited = [model.jnt_limited[joint.id] and joint.range[0] < joint.range[1] for joint in joints]
    if free := [joint.name for joint, limit in zip(joints, limited, strict=True) if not limit]:
        raise InvalidRobotError(
            "each actuated joint needs a limited range, in the MJCF or in the YAML, such as "
            f"ranges: {{{free[0]}: [-0.8, 0.8]}}; without one: {', '.join(free)}"
        )
    return np.array([joint.range for joint in joints])


def adjust(spec: mujoco.MjSpec, description: Description) -> None:
    """Change the spec of a whole robot by what its description says in place of the MJCF."""
    if description.alone:
        _leave_alone(spec, description)
    if description.contacts == "simple":
        spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
        for geom in [*spec.geoms, *spec.pairs]:
            geom.condim = min(geom.condim, SLIDING)
    if description.terrain.kind != "flat":
        lay(spec, description.floor, description.terrain.own, clearance(spec))
    _drive_tendons(spec, description)
    motors = {actuator.target: actuator for actuator in spec.actuators if actuator.trntype == TO_JOINT}
    for name, (low, high) in description.ranges.items():
        joint = spec.joint(name)
        degrees = spec.compiler.degree and joint.type == mujoco.mjtJoint.mjJNT_HINGE
        unit = math.degrees(1) if degrees else 1.0
        joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_TRUE, [low * unit, high * unit]
        if name in motors and is_servo(motors[name]):
            _tell(motors[name], low, high)
    for name, servo in description.servos.items():
        if name not in motors or not is_plain(motors[name]):
            continue  # what cannot drive a joint is refused once it is compiled
        if servo.stiffness is not None:
            _make_servo(motors[name], spec.joint(name), servo.stiffness)
        if not is_servo(motors[name]):
            raise InvalidRobotError(
                f"the actuator of {name!r} is no position servo: give servos.{name} a stiffness"
            )
        _limit(motors[name], servo)
        _tell(motors[name], *servo.range)


def _leave_alone(spec: mujoco.MjSpec, description: Description) -> None:
    for geom in [geom for geom in spec.worldbody.geoms if geom.name != description.floor]:
        spec.delete(geom)
    for body in list(spec.worldbody.bodies):
        bodies = {body.name, *(other.name for other in body.find_all("body"))}
        geoms = {geom.name for geom in body.find_all("geom")}
        if description.torso not in bodies and description.floor not in geoms:
            spec.delete(body)


def _drive_tendons(spec: mujoco.MjSpec, description: Description) -> None:
    """Give servos to joints that have none, in place of the actuators of their tendons."""
    driven = {actuator.target for actuator in spec.actuators if actuator.trntype == TO_JOINT}
    lacking = [
        name
        for name in description.joints
        if name not in driven and name in description.servos and description.servos[name].torque
    ]
    joint = mujoco.mjtWrap.mjWRAP_JOINT
    pulled = {
        tendon.name
        for tendon in spec.tendons
        if any(wrap.type == joint and wrap.target.name in lacking for wrap in tendon.path)
    }
    for actuator in list(spec.actuators):
        if actuator.trntype == mujoco.mjtTrn.mjTRN_TENDON and actuator.target in pulled:
            spec.delete(actuator)
    for name in lacking:
        spec.add_actuator(name=f"surefoot_{name}", target=name, trntype=TO_JOINT)


def _limit(motor: mujoco.MjsActuator, servo: Servo) -> None:
    if servo.damping is not None:
        bias = np.array(motor.biasprm)
        bias[2] = -servo.damping / motor.gear[0] ** 2  # a positive number would be a damping ratio
        motor.biasprm = bias
    if servo.torque is not None:
        most = servo.torque / abs(motor.gear[0])
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-most, most]


def _make_servo(motor: mujoco.MjsActuator, joint: mujoco.MjsJoint, stiffness: float) -> None:
    """Turn an actuator into a critically damped position servo of the same greatest torque."""
    greatest = torque_limit(motor, joint)
    motor.set_to_position(kp=stiffness, dampratio=1)
    motor.gear, motor.dyntype = [1, 0, 0, 0, 0, 0], mujoco.mjtDyn.mjDYN_NONE
    if np.isfinite(greatest):
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-greatest, greatest]


def _tell(servo: mujoco.MjsActuator, low: float, high: float) -> None:
    """Have actions from -1 to 1 command the positions from low to high."""
    # where the servo's force is 0: gain · control + constant + bias · gear · position = 0
    scale, offset = (
        -bias / servo.gainprm[0] for bias in (servo.biasprm[1] * servo.gear[0], servo.biasprm[0])
    )
    servo.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    servo.ctrlrange, servo.inheritrange = sorted((low * scale + offset, high * scale + offset)), 0


def compile_models(
    spec: mujoco.MjSpec, description: Description, origin: str
) -> tuple[mujoco.MjModel, mujoco.MjModel]:
    """Compile the model to look at and the model to simulate; changes the spec."""
    model = _compiled(spec, origin)
    strip(spec, description)
    return model, compile_physics(spec, description, origin)


def compile_physics(spec: mujoco.MjSpec, description: Description, origin: str) -> mujoco.MjModel:
    """Compile the model to simulate from a spec that was stripped, to which it adds contact sensors."""
    for foot, soles in description.feet.items():
        for number, sole in enumerate(soles):
            if spec.geom(sole) is not None:
                _add_contact_sensor(spec, contact_sensor(foot, number), sole, description.floor)
    if any(term.term == "accelerometer" for term in description.observations.terms):
        site = description.observations.imu
        if site is None:
            site = spec.body(description.torso).add_site(name=ACCELEROMETER).name
        spec.add_sensor(
            name=ACCELEROMETER,
            type=mujoco.mjtSensor.mjSENS_ACCELEROMETER,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=site,
        )
    return _compiled(spec, origin)


def _compiled(spec: mujoco.MjSpec, origin: str) -> mujoco.MjModel:
    """The model of a spec, or an error that says why it does not compile.

    Newton's method gets a dense Jacobian where MuJoCo 4.0.0 computes a wrong Hessian of a sparse one. MuJoCo
    4.0.1 has mended it (mujoco#3767). By default Jacobians are sparse from 60 degrees of freedom on.
    """
    try:
        model = compile_spec(spec)
    except ValueError as error:
        raise InvalidRobotError(f"{origin}: the MJCF does not compile: {one_line(error)}") from error
    newton = model.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON
    if mujoco.__version__ == "4.0.0" and newton and mujoco.mj_isSparse(model):
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    return model


def strip(spec: mujoco.MjSpec, description: Description) -> None:
    """Delete geoms without mass and contact, which MuJoCo would place in every step, and their meshes.

    What pairs of contacts, sensors or tendons refer to stays, and textures shrink to a pixel.
    """
    kept = {description.floor, *(sole for soles in description.feet.values() for sole in soles)}
    kept |= {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    kept |= {name for sensor in spec.sensors for name in (sensor.objname, sensor.refname)}
    kept |= {wrap.target.name for tendon in spec.tendons for wrap in tendon.path if wrap.type in _AROUND}
    for geom in list(spec.geoms):
        weightless = geom.density == 0 and not geom.mass > 0  # a mass that is not given is NaN
        if weightless and not geom.contype and not geom.conaffinity and geom.name not in kept:
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    for texture in spec.textures:  # they take megabytes of a compiled model, and most of the time
        texture.width = texture.height = 1


def knows_halves(model: mujoco.MjModel) -> bool:
    """Whether MuJoCo can make a step of a model in halves; RK4, sleeping bodies and others need the whole."""
    return model.opt.integrator in _HALVED and model.opt.enableflags == 0


def contact_sensor(foot: str, number: int) -> str:
    """Name of the sensor that tells whether a foot's sole touches the floor."""
    return f"surefoot_{foot}_{number}_contact"


def _add_contact_sensor(spec: mujoco.MjSpec, name: str, sole: str, floor: str) -> None:
    """Add a sensor that reads the number of contacts between a sole and the floor.

    Uneven ground goes on as a plane: then contacts with anything on the floor's body count.
    """
    found, whole = 1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND), spec.geom(BEYOND) is not None
    spec.add_sensor(
        name=name,
        type=mujoco.mjtSensor.mjSENS_CONTACT,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname=sole,
        reftype=mujoco.mjtObj.mjOBJ_BODY if whole else mujoco.mjtObj.mjOBJ_GEOM,
        refname=spec.geom(floor).parent.name if whole else floor,
        intprm=[found, 0, 1],
    )


def standing_data(model: mujoco.MjModel, positions: Mapping[str, np.ndarray]) -> mujoco.MjData:
    """Data of a model with joints at these positions; those outside their ranges are put in the middle.

    Where they are outside by less than a degree, at the end of the range.
    """
    data = new_data(model)
    put_joints(model, data.qpos, positions)
    for joint, address in enumerate(model.jnt_qposadr):
        data.qpos[address] = _clamped(model, joint, data.qpos[address])
        if outside(model, joint, data.qpos[address]):
            data.qpos[address] = model.jnt_range[joint].mean()
    mujoco.mj_forward(model, data)
    return data


def outside(model: mujoco.MjModel, joint: int, position: float) -> float:
    """By how much a position of a joint is outside its range [rad or m]; 0 of a joint without one."""
    if model.jnt_type[joint] not in _SCALAR or not model.jnt_limited[joint]:
        return 0.0
    return abs(float(position - np.clip(position, *model.jnt_range[joint])))


def _clamped(model: mujoco.MjModel, joint: int, position: float) -> float:
    """A position, or the end of the joint's range if it is beyond that by less than a degree."""
    near = 0 < outside(model, joint, position) < CLOSE
    return float(np.clip(position, *model.jnt_range[joint])) if near else position


def keyframe_positions(model: mujoco.MjModel, keyframe: str | None) -> dict[str, np.ndarray]:
    """The position of each joint in a keyframe, by its name; none without a keyframe."""
    if keyframe is None:
        return {}
    data = mujoco.MjData(model)
    data.qpos[:] = model.key(keyframe).qpos
    return {model.joint(joint).name: data.joint(joint).qpos.copy() for joint in range(model.njnt)}


def put_joints(model: mujoco.MjModel, qpos: np.ndarray, positions: Mapping[str, np.ndarray]) -> None:
    """Write the positions of joints, by name, into `qpos` (nq,); the model may lack some of them."""
    for name, values in positions.items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            address = model.jnt_qposadr[joint]
            qpos[address : address + len(values)] = values


def _check_root(torso: mujoco.MjsBody) -> None:
    kind = mujoco.mjtJoint
    kinds = [joint.type for joint in torso.joints]
    axes = [tuple(joint.axis) for joint in torso.joints]
    slides = [kind.mjJNT_SLIDE, kind.mjJNT_SLIDE, kind.mjJNT_HINGE]
    planar = kinds == slides and {*axes[:2]} == {(1, 0, 0), (0, 0, 1)} and axes[2] == (0, 1, 0)
    if kinds != [kind.mjJNT_FREE] and not planar:
        raise InvalidRobotError(
            f"the torso {torso.name!r} must have one free joint and no other, or to move in the x-z plane a "
            "slide along x and a slide along z in any order, and then a hinge about y"
        )


def _check_plane(model: mujoco.MjModel, name: str) -> None:
    """Refuse a torso that moves in a plane other than the world's x-z plane."""
    torso = model.body(name)
    turned = torso.parentid[0] or not np.allclose(torso.quat, [1, 0, 0, 0])
    if torso.jntnum[0] == _PLANAR_JOINTS and turned:
        raise InvalidRobotError(
            f"the torso {name!r}, which moves in the x-z plane, must stand in the world as it is, not turned "
            "nor in another body"
        )


def _names(elements: list) -> list[str]:
    return [element.name for element in elements if element.name]
