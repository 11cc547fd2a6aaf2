"""Finds the parts of a robot in its model, as far as damage has left them there, and takes some away."""

from collections.abc import Collection, Sequence

import mujoco

from robots.errors import InvalidRobotError, InvalidValueError
from robots.robot import Robot

_DRIVES_A_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_JOINT, _ACTUATOR = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_ACTUATOR


def find_joints(spec: mujoco.MjSpec, names: Sequence[str]) -> list[mujoco.MjsJoint]:
    """The joints that are there."""
    return [joint for name in names if (joint := spec.joint(name)) is not None]


def the_joint(spec: mujoco.MjSpec, name: str) -> mujoco.MjsJoint:
    """The joint of a name.

    Raises:
        InvalidValueError: it is not there any more.
    """
    joint = spec.joint(name)
    if joint is None:
        raise InvalidValueError(
            f"the joint {name} is locked or lost already: combine what else befalls it with +"
        )
    return joint


def find_motors(spec: mujoco.MjSpec, joints: Collection[str]) -> list[mujoco.MjsActuator]:
    """The actuators of joints."""
    driving = [motor for motor in spec.actuators if motor.trntype in _DRIVES_A_JOINT]
    return [motor for motor in driving if motor.target in joints]


def find_soles(spec: mujoco.MjSpec, robot: Robot, feet: Sequence[str]) -> list[mujoco.MjsGeom]:
    """The soles of feet."""
    names = [name for foot in feet for name in robot.description.feet[foot]]
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


def compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """A model as damage has left it so far: only there is it known where things are.

    Raises:
        InvalidRobotError: it does not compile.
    """
    try:
        return spec.compile()
    except ValueError as error:
        complaint = " ".join(str(error).split())
        raise InvalidRobotError(f"the damaged MJCF does not compile: {complaint}") from error


def settle_gains(spec: mujoco.MjSpec) -> None:
    """Work out the gains of servos that are given as damping ratios: masses that damage changes must not."""
    servos = [motor for motor in spec.actuators if motor.biasprm[2] > 0]  # a gain itself is negative
    if servos:
        model = compiled(spec)
        for motor in servos:
            motor.biasprm = model.actuator_biasprm[motor.id]


def delete_motors(spec: mujoco.MjSpec, joints: Collection[str]) -> None:
    """Delete the actuators of joints, and the sensors that feel them."""
    for motor in find_motors(spec, joints):
        _delete_sensors(spec, _ACTUATOR, motor.name)
        spec.delete(motor)


def delete_joint(spec: mujoco.MjSpec, joint: mujoco.MjsJoint) -> None:
    """Delete a joint, its actuators, and the sensors that feel them."""
    delete_motors(spec, [joint.name])
    _delete_sensors(spec, _JOINT, joint.name)
    spec.delete(joint)


def _delete_sensors(spec: mujoco.MjSpec, kind: mujoco.mjtObj, name: str) -> None:
    """Delete the sensors that feel an element."""
    for sensor in list(spec.sensors):
        if name and (sensor.objtype, sensor.objname) == (kind, name):
            spec.delete(sensor)
