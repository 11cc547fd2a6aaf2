"""`servo_gains`: how stiff and damped the servos of a drafted robot are, by gravity, inertia and torque."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from robots.importing.anatomy import Parts

# A servo exerts its greatest torque at an error of this share of how far it swings ...
_FULL = 0.6
# ... and is stiffer where it would else give way by more than this [rad or m] under so many times what it
# takes to hold the robot on all of its legs: as much as on half of them ...
_SAG, _LOAD = 0.1, 2.0
# ... but its natural frequency, √(stiffness / inertia), is no more than this per physics step.
_SLOW = 0.25
_WEAK = 0.1  # share of this that a servo has at least whose greatest torque is not known


class Motor(NamedTuple):
    """What a joint is driven by.

    Attributes:
        torque: its greatest torque or force [N·m or N], inf without a limit.
        swing: how far its servo goes from the first pose to either side [rad or m].
    """

    torque: float
    swing: float


class Gains(NamedTuple):
    """The gains of a servo, which is critically damped, as in `robots.description.Servo`."""

    stiffness: float
    damping: float
    torque: float


def servo_gains(
    model: mujoco.MjModel, data: mujoco.MjData, parts: Parts, motors: Mapping[str, Motor]
) -> dict[str, Gains]:
    """Gains of the servos of joints, by name: the same in the same place of legs of one structure.

    Args:
        model: the robot.
        data: in its first pose.
        parts: the robot's.
        motors: what drives each of the joints.
    """
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    loads = holding_torques(model, data, parts)
    dofs = {name: int(model.joint(name).dofadr[0]) for name in motors}
    gains = dict[str, Gains]()
    for names in _alike(parts, motors):
        masses = [inertia[dofs[name], dofs[name]] for name in names]
        load = max(abs(loads[dofs[name]]) for name in names)
        torque, swing = motors[names[0]]
        most = min(masses) * (_SLOW / model.opt.timestep) ** 2
        least = torque / (_FULL * swing) if np.isfinite(torque) else _WEAK * most
        stiffness = _short(min(max(least, _LOAD * load / _SAG), most))
        damping = _short(2 * np.sqrt(stiffness * np.mean(masses)))
        torque = _short(torque if np.isfinite(torque) else stiffness * 2 * swing)
        gains |= dict.fromkeys(names, Gains(stiffness, damping, torque))
    return gains


def holding_torques(model: mujoco.MjModel, data: mujoco.MjData, parts: Parts) -> np.ndarray:
    """The torques and forces that hold a robot in a pose on its feet, (nv,).

    Each foot bears so much that the torso is in balance; of all such loads the most even ones.
    """
    torso = model.body(parts.torso)
    root = np.arange(torso.dofadr[0], torso.dofadr[0] + torso.dofnum[0])
    rises = np.zeros((len(parts.legs), model.nv))  # of each foot per degree of freedom
    for rise, leg in zip(rises, parts.legs, strict=True):
        along, sole = np.zeros((3, model.nv)), model.geom(leg.soles[0])
        mujoco.mj_jac(model, data, along, None, data.geom_xpos[sole.id], int(sole.bodyid[0]))
        rise[:] = along[2]
    loads = np.linalg.lstsq(rises[:, root].T, data.qfrc_bias[root], rcond=None)[0]
    return np.asarray(data.qfrc_bias - rises.T @ loads)


def _alike(parts: Parts, motors: Mapping[str, Motor]) -> list[list[str]]:
    """The joints of motors: as strong ones in the same place of legs of one structure together."""
    places = {joint: (leg.kind, place) for leg in parts.legs for place, joint in enumerate(leg.joints)}
    groups = defaultdict[tuple, list[str]](list)
    for name, (torque, swing) in motors.items():
        groups[(places.get(name, name), _short(torque), _short(swing))].append(name)
    return list(groups.values())


def _short(value: float) -> float:
    """A number in three digits."""
    return float(f"{value:.3g}")
