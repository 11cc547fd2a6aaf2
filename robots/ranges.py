"""Narrower ranges of motion than an MJCF gives its joints."""

import math
from collections.abc import Mapping

import mujoco


def narrow(spec: mujoco.MjSpec, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Limit joints, and what their position servos can be told, in place.

    Args:
        spec: of a whole robot.
        ranges: lowest and highest position of joints [rad or m], by name.
    """
    for name, (low, high) in ranges.items():
        joint = spec.joint(name)
        degrees = spec.compiler.degree and joint.type == mujoco.mjtJoint.mjJNT_HINGE
        unit = math.degrees(1) if degrees else 1.0
        joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_TRUE, [low * unit, high * unit]
        for actuator in spec.actuators:
            if actuator.target == name and _is_servo(actuator):
                # where the servo's force is 0: gain · control + bias · gear · position = 0
                scale = -actuator.biasprm[1] * actuator.gear[0] / actuator.gainprm[0]
                actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
                actuator.ctrlrange, actuator.inheritrange = sorted((low * scale, high * scale)), 0


def _is_servo(actuator: mujoco.MjsActuator) -> bool:
    """Whether an actuator pulls its joint towards the position that it is told."""
    return (
        actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT
        and actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        and actuator.biasprm[1] != 0
        and actuator.gainprm[0] != 0
    )
