"""Poses that a model can stand in."""

from collections.abc import Mapping

import mujoco
import numpy as np


def put_within_ranges(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Turn the joints that are outside their ranges to the middle of these."""
    scalar = np.isin(model.jnt_type, [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)])
    for joint in np.flatnonzero(scalar & (model.jnt_limited != 0)):
        low, high = model.jnt_range[joint]
        address = model.jnt_qposadr[joint]
        if not low <= data.qpos[address] <= high:
            data.qpos[address] = (low + high) / 2


def standing_data(model: mujoco.MjModel, positions: Mapping[str, np.ndarray]) -> mujoco.MjData:
    """A model as it is built but for the positions of some joints, and with all inside their ranges."""
    data = mujoco.MjData(model)
    put_joints(model, data.qpos, positions)
    put_within_ranges(model, data)
    mujoco.mj_forward(model, data)
    return data


def keyframe_positions(model: mujoco.MjModel, keyframe: str | None) -> dict[str, np.ndarray]:
    """The position of each joint in a keyframe, by its name; none without a keyframe."""
    if keyframe is None:
        return {}
    data = mujoco.MjData(model)
    data.qpos[:] = model.key(keyframe).qpos
    return {model.joint(joint).name: data.joint(joint).qpos.copy() for joint in range(model.njnt)}


def put_joints(model: mujoco.MjModel, qpos: np.ndarray, positions: Mapping[str, np.ndarray]) -> None:
    """Write positions of joints by name, of those that the model has, into its positions, (nq,)."""
    for name, values in positions.items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            address = model.jnt_qposadr[joint]
            qpos[address : address + len(values)] = values
