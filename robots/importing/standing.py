"""How a drafted robot may stand: poses to start in, and the gains of servos that hold it there."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from robots.importing.anatomy import FoundLeg, Parts
from robots.model import CLOSE, keyframe_positions, outside, standing_data

WIDE = 2 * math.pi  # [rad] a range that is wider says nothing about a joint
_BENT = 0.8  # share of a leg's length by which its foot is below its hip
_STRAIGHT = 0.97  # share of its length that a straight leg reaches down at least
_KNEE = 0.6, -1.2  # [rad] where joints about y are in turn that may turn either way: knees point ahead
# Weights of the cost of a pose, relative to the fore-aft error of the foot: its errors to the side and in
# height [per length of the leg], and the distance of joints from `_KNEE` or amid their ranges [per rad].
_ASIDE, _HIGH, _APART = 0.3, 0.5, 0.1
# A servo exerts its greatest torque at an error of this share of how far it swings ...
_FULL = 0.6
# ... and is stiffer where it would else give way by more than this [rad or m] under so many times what it
# takes to hold the robot on all of its legs: as much as on half of them ...
_SAG, _LOAD = 0.1, 2.0
# ... but its natural frequency, √(stiffness / inertia), is no more than this per physics step.
_SLOW = 0.25
_WEAK = 0.1  # share of this that a servo has at least whose greatest torque is not known


class Pose(NamedTuple):
    """A pose to start in."""

    keyframe: str | None  # of the MJCF; None of another pose
    positions: dict[str, np.ndarray]  # of joints, by name; the others are as they are built
    outside: str = ""  # what is to be known about joints outside their ranges; empty where all are inside
    usable: bool = True  # whether they are outside by less than a degree


def given_poses(model: mujoco.MjModel) -> list[Pose]:
    """The keyframes of an MJCF, `home` before the others, and the pose in which the robot is built."""
    names = sorted((model.key(key).name for key in range(model.nkey)), key=lambda name: name != "home")
    return [*(_keyframe(model, name) for name in names), _built(model)]


def _keyframe(model: mujoco.MjModel, name: str) -> Pose:
    positions = keyframe_positions(model, name)
    excess = {joint: outside(model, model.joint(joint).id, part[0]) for joint, part in positions.items()}
    worst = max(excess, key=excess.__getitem__)
    if not excess[worst]:
        return Pose(name, positions)
    most, count = math.degrees(excess[worst]), sum(map(bool, excess.values()))
    words = f"{count} joints are outside their ranges, {worst} by {most:.2g}° (or {excess[worst]:.2g} m)"
    if excess[worst] < CLOSE:
        return Pose(
            name, positions, f"In the keyframe {name!r} {words}: they start at the ends of their ranges."
        )
    return Pose(name, positions, f"The keyframe {name!r} is left out: {words}.", usable=False)


def _built(model: mujoco.MjModel) -> Pose:
    """The pose in which the robot is built, with joints in their ranges."""
    data = standing_data(model, {})
    limited = (model.joint(joint).name for joint in np.flatnonzero(model.jnt_limited))
    return Pose(None, {name: data.joint(name).qpos.copy() for name in limited if data.joint(name).qpos.any()})


def with_bent_legs(model: mujoco.MjModel, parts: Parts, poses: list[Pose]) -> list[Pose]:
    """The poses of `given_poses` and one in which each foot is below its hip, on bent legs.

    It comes before the pose in which the robot is built if its legs hang straight down in that. There is none
    where equality constraints hold joints together, which it would break.
    """
    if model.neq:
        return poses
    data = standing_data(model, poses[-1].positions)
    straight = [_is_straight(model, data, leg) for leg in parts.legs]
    for leg in parts.legs:
        _bend(model, data, leg)
    bent = Pose(None, {name: data.joint(name).qpos.copy() for leg in parts.legs for name in leg.joints})
    return [*poses[:-1], bent, poses[-1]] if all(straight) else [*poses, bent]


def _is_straight(model: mujoco.MjModel, data: mujoco.MjData, leg: FoundLeg) -> bool:
    """Whether the last two parts of a leg hang straight down, seen along the axis of its last joint."""
    parts = np.diff(_places(model, data, leg)[-3:], axis=0)
    axis = data.xaxis[model.joint(leg.joints[-1]).id]
    lengths = np.linalg.norm(parts - np.outer(parts @ axis, axis), axis=1)
    return len(lengths) > 1 and -parts[:, 2].sum() > _STRAIGHT * lengths.sum()


def _places(model: mujoco.MjModel, data: mujoco.MjData, leg: FoundLeg) -> np.ndarray:
    """Where the joints of a leg and its sole are [m], (j + 1, 3)."""
    joints = [model.joint(name).id for name in leg.joints]
    return np.vstack([data.xanchor[joints], data.geom(leg.soles[0]).xpos])


def _bend(model: mujoco.MjModel, data: mujoco.MjData, leg: FoundLeg) -> None:
    """Move the joints of a leg so that its foot is below its hip."""
    from scipy.optimize import least_squares  # here, as it takes long to import

    joints = [model.joint(name).id for name in leg.joints]
    addresses, ranges = model.jnt_qposadr[joints], model.jnt_range[joints].T
    known = (model.jnt_limited[joints] != 0) & (np.ptp(ranges, axis=0) <= WIDE)
    low, high = np.where(known, ranges, [[-math.pi], [math.pi]])
    length = np.linalg.norm(np.diff(_places(model, data, leg), axis=0), axis=1).sum()
    across = np.rint(data.xaxis[joints, 1])  # 0 of a joint that does not turn about y
    knees = across * np.array(_KNEE)[np.cumsum(across != 0) % 2 - 1]
    first = np.where((low < 0) & (high > 0), np.clip(knees, low, high), (low + high) / 2)

    def misses(positions: np.ndarray) -> np.ndarray:
        data.qpos[addresses] = positions
        mujoco.mj_kinematics(model, data)
        hip, *_, sole = _places(model, data, leg)
        x, y, z = (sole - hip) / length
        return np.array([x, _ASIDE * y, _HIGH * (z + _BENT), *(_APART * (positions - first))])

    misses(least_squares(misses, first, bounds=(low, high)).x)


class Motor(NamedTuple):
    """What a joint is driven by."""

    torque: float  # its greatest torque or force [N·m or N], inf without a limit
    swing: float  # how far its servo goes from the first pose to either side [rad or m]


class Gains(NamedTuple):
    """The gains of a servo, which is critically damped, as in `robots.description.Servo`."""

    stiffness: float
    damping: float
    torque: float


def servo_gains(
    model: mujoco.MjModel, data: mujoco.MjData, parts: Parts, motors: Mapping[str, Motor]
) -> dict[str, Gains]:
    """Gains of the servos of joints, by name: the same in the same place of legs of one structure.

    `data` is the robot in its first pose, and `motors` what drives each of the joints.
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
    return float(f"{value:.3g}")
