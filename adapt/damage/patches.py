"""Changes to the numbers of a compiled model, for damage that needs no other: what is lost is passed over."""

from collections.abc import Iterable, Iterator, Sequence

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from adapt.damage.edits import FIXED, RED
from robots.motors import ABSENT, motor_of


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
