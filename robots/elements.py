"""`check_elements`: whether an MJCF has what a description names."""

import mujoco

from robots.description import Description
from robots.errors import InvalidRobotError


def check_elements(spec: mujoco.MjSpec, description: Description, origin: str) -> None:
    """Refuse a description that names what the MJCF lacks.

    Args:
        spec: of the MJCF.
        description: names a torso, a floor, soles, joints and maybe a keyframe.
        origin: what to call the robot in errors.

    Raises:
        InvalidRobotError: one of them is missing, or the torso does not move as it should.
    """
    bodies, geoms = _names(spec.bodies), _names(spec.geoms)
    joints, motors = _names(spec.joints), [actuator.target for actuator in spec.actuators]
    soles = [sole for soles in description.feet.values() for sole in soles]
    for kind, wanted, known in (
        ("body", [description.torso], bodies),
        ("geom", [description.floor, *soles], geoms),
        ("joint", description.joints, joints),
        ("motor on the joint", description.joints, motors),
        ("keyframe", filter(None, [description.keyframe]), _names(spec.keys)),
    ):
        for name in wanted:
            if name not in known:
                raise InvalidRobotError(
                    f"{origin}: the MJCF has no {kind} {name!r}; available: {', '.join(known) or 'none'}"
                )
    _check_root(spec.body(description.torso), f"{origin}: the torso {description.torso!r}")


def _check_root(torso: mujoco.MjsBody, what: str) -> None:
    """Refuse a torso that neither moves freely nor in the x-z plane."""
    kind = mujoco.mjtJoint
    kinds = [joint.type for joint in torso.joints]
    axes = [tuple(joint.axis) for joint in torso.joints]
    free = kinds == [kind.mjJNT_FREE]
    planar = kinds == [kind.mjJNT_SLIDE, kind.mjJNT_SLIDE, kind.mjJNT_HINGE] and axes == [
        (1, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
    ]
    if not free and not planar:
        raise InvalidRobotError(
            f"{what} must have one free joint and no other, or to move in the x-z plane a slide along x, "
            "a slide along z and a hinge about y"
        )


def _names(elements: list) -> list[str]:
    """Names of a spec's elements, those that have one."""
    return [element.name for element in elements if element.name]
