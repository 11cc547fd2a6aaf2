"""`draft_robot` writes a first YAML for an MJCF, which fits what the model is."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from string import Template
from typing import NamedTuple

import mujoco
import numpy as np
import yaml

from robots.errors import InvalidRobotError, InvalidValueError
from robots.files.atomic import file_exists, write_text
from robots.importing.anatomy import FoundLeg, Parts, find_floor, find_parts, tendon_joints
from robots.importing.checks import model_remarks
from robots.importing.standing import (
    WIDE,
    Motor,
    Pose,
    given_poses,
    holding_torques,
    servo_gains,
    with_bent_legs,
)
from robots.mjcf.compiling import compile_spec, read_spec
from robots.mjcf.reading import read_self_contained
from robots.model import standing_data
from robots.motors import TO_JOINT, is_plain, is_servo, torque_limit
from robots.robot import robot_from_text
from robots.stance import Stance, try_stance
from robots.task.measures import even_cells

_KEYFRAME = "keyframe: {}  # episodes start in this pose of the MJCF"
_START = """\
# Episodes start in this pose, settled on the floor: positions of the joints [rad or m]. (?)
start:"""
_RANGES = """
# Ranges [rad] of joints that have none in the MJCF, or can turn by more than 360 degrees. (?)
ranges:"""
_ALONE = "alone: true  # obstacles and all else but the robot and its floor are left out (?)\n"
_SERVOS = """
# Positions [rad or m] that actions from -1 to 1 command: wider ranges make longer steps and more falls. A
# stiffness [N·m/rad or N/m] turns a motor into a position servo; without it an action is a torque. A servo
# gives stiffness · (target - position) - damping · velocity, at most torque; these can be given, too. (?)
servos:"""
_TEMPLATES = Path(__file__).parent / "templates"
_CONTROL_STEP = 0.02  # [s] approximately
_MEASURES = 10  # at most, so that each is divided into two cells or more
_STEADY = 3  # a robot on so many legs stands without feedback
_RANGE = 0.8  # [rad] which goes so far to either side of the first position
_UP = 0.4  # share of the height of a standing torso below which it is down: gaits on three legs dip to half
_SWING = 0.4  # [rad] servos are told positions so far to either side of the first one
_SLIDING = 0.25  # and those of slides, so many times their range
_GRAVITY = 9.81  # [m/s²]
# Period of gaits in units of √(height / gravity): robots of all sizes move alike (Alexander & Jayes 1983).
_PERIOD = 3.0
_LIFT = 3.0  # how many times as much it counts that a joint lifts a foot as that it moves it ahead


class Draft(NamedTuple):
    """A first YAML that was written."""

    path: Path  # of the YAML, named after the model
    remarks: list[str]  # sentences on what was left out, what looks wrong, and what makes the robot slow


class _Model(NamedTuple):
    path: Path
    xml: str
    spec: mujoco.MjSpec
    compiled: mujoco.MjModel
    floor: str
    parts: Parts
    poses: list[Pose]
    joints: list[str]
    name: str

    @property
    def yaml(self) -> Path:
        return self.path.with_name(f"{self.name}.yaml")

    @property
    def steady(self) -> bool:
        """Whether it has legs enough to stand and walk without feedback."""
        return len(self.parts.legs) >= _STEADY


def draft_robot(path: Path, *, overwrite: bool = False) -> Draft:
    """Write a first YAML into the folder of an MJCF; one of the same name is replaced only if so asked."""
    model = _read(path)
    if file_exists(model.yaml) and not overwrite:
        raise InvalidValueError(f"{model.yaml} exists already: use --overwrite to replace it")
    text, remarks = _drafted(model)
    if tendons := ", ".join(model.compiled.actuator(number).name for number in tendon_joints(model.compiled)):
        remarks.append(f"Servos of the joints take the place of the actuators of their tendons: {tendons}.")
    robot = robot_from_text(model.xml, text, origin=str(path))
    write_text(model.yaml, text)
    return Draft(model.yaml, [*remarks, *model_remarks(robot)])


def _read(path: Path) -> _Model:
    xml = read_self_contained(path)
    spec = read_spec(xml)
    model = compile_spec(spec)
    floor = find_floor(model)
    if floor is None:
        raise InvalidRobotError(
            f'{path}: there is no floor: add to its worldbody <geom name="floor" type="plane" size="0 0 1"/>'
        )
    poses = given_poses(model)
    first = standing_data(model, next(pose for pose in poses if pose.usable).positions)
    parts = find_parts(model, first, floor, origin=str(path))
    joints = [joint for leg in parts.legs for joint in leg.joints] + list(parts.others)
    name = re.sub(r"[^a-z0-9]+", "_", (_title(model) or path.stem).lower()).strip("_")
    name = name if name[:1].isalpha() else f"robot_{name}".rstrip("_")  # as a YAML asks for
    return _Model(path, xml, spec, model, model.geom(floor).name, parts, poses, joints, name)


class _Attempt(NamedTuple):
    """A pose that was tried, and how the robot stands in it."""

    pose: Pose
    sized: bool  # whether position servos of the MJCF get other gains than their own
    stance: Stance


def _drafted(model: _Model) -> tuple[str, list[str]]:
    """The YAML with the best pose that was found, and remarks on the others."""
    tried = _attempts(model)
    chosen = _best(tried, model.poses[-1])
    as_given = chosen.stance.fits and (chosen.pose.keyframe or not chosen.pose.positions)
    start = {} if as_given else chosen.stance.positions
    text = _text(model, chosen.pose, start, chosen.stance.height, sized=chosen.sized)
    remarks = [*_outside_remarks(model, tried, chosen), *_stance_remarks(model, chosen)]
    return text, remarks + _load_remarks(model, tried[0].pose)


def _attempts(model: _Model) -> list[_Attempt]:
    """Try poses until the robot keeps standing in one, with its own servos and then with other gains."""
    tried = list[_Attempt]()
    servos = any(is_servo(motor) for motor in model.spec.actuators if motor.target in model.joints)
    poses = [pose for pose in with_bent_legs(model.compiled, model.parts, model.poses) if pose.usable]
    for pose, sized in product(poses, (False, True) if servos and model.steady else (False,)):
        text = _text(model, pose, {} if pose.keyframe else pose.positions, model.parts.height, sized=sized)
        stance = try_stance(robot_from_text(model.xml, text, origin=str(model.path)))
        tried.append(_Attempt(pose, sized, stance))
        if stance.stands:
            break
    return tried


def _best(tried: list[_Attempt], built: Pose) -> _Attempt:
    """The first pose in which it stands, else in which it lies still, else that in which it is built."""
    standing = [one for one in tried if one.stance.stands]
    lying = [one for one in tried if not one.stance.fell]
    return [*standing, *lying, *(one for one in tried if one.pose is built)][0]


def _outside_remarks(model: _Model, tried: list[_Attempt], chosen: _Attempt) -> list[str]:
    last = next((n for n, pose in enumerate(model.poses) if pose is chosen.pose), len(model.poses))
    remarks = [pose.outside for pose in model.poses[: last + 1] if pose.outside]
    for one in tried:
        if one.pose.keyframe and one.pose is not chosen.pose and not one.sized:
            words = "the robot does not keep standing" if one.stance.fell else "the robot lies"
            remarks.append(f"The keyframe {one.pose.keyframe!r} is left out: {words} in it.")
    return remarks


def _stance_remarks(model: _Model, chosen: _Attempt) -> list[str]:
    stance, keyframe, remarks = chosen.stance, chosen.pose.keyframe, list[str]()
    if stance.fell:
        remarks.append(
            "The servos cannot hold the robot in any pose. It starts as it is built, put on the floor."
        )
    elif stance.lies:
        remarks.append("The robot does not stand on its feet in any pose: in the one it starts in it lies.")
    elif keyframe and not stance.fits:
        side = "above" if stance.gap > 0 else "inside"
        remarks.append(
            f"In the keyframe {keyframe!r} the lowest foot is {abs(stance.gap):.2g} m {side} the floor: "
            "episodes start with the robot settled on the floor instead."
        )
    elif all(chosen.pose is not pose for pose in model.poses):
        remarks.append(
            "It starts on bent legs, in a pose that the draft found: in those of the MJCF it does not stand "
            "on its feet, or its legs are straight."
        )
    if chosen.sized:
        remarks.append(
            "The servos of the MJCF cannot hold the robot: they get other gains, see servos in the YAML."
        )
    return remarks


def _load_remarks(model: _Model, first: Pose) -> list[str]:
    data = standing_data(model.compiled, first.positions)
    remarks, loads = [], holding_torques(model.compiled, data, model.parts)
    if model.parts.lifted:
        remarks.append(
            "These limbs are in the air in the first pose of the MJCF, but are taken for legs, as they have "
            f"the structure of legs: {', '.join(model.parts.lifted)}."
        )
    needed = {name: abs(loads[model.compiled.joint(name).dofadr[0]]) for name in model.joints}
    torques = _torques(model)
    if weak := [
        f"{name} {torques[name]:.3g} of {load:.3g}" for name, load in needed.items() if torques[name] < load
    ]:
        remarks.append(
            f"These motors are too weak to hold the robot in its first pose [N·m or N, of what it takes]: "
            f"{', '.join(weak)}."
        )
    return remarks


def _text(model: _Model, first: Pose, start: Mapping[str, np.ndarray], height: float, *, sized: bool) -> str:
    legs, pose = model.parts.legs, standing_data(model.compiled, first.positions)
    angles = {joint: float(pose.joint(joint).qpos[0]) for joint in model.joints}
    measured = legs[:_MEASURES]
    entries = {
        "file": model.yaml,
        "name": model.name,
        "title": _flow(_title(model.compiled) or model.name),
        "model": _flow(model.path.name),
        "torso": _flow(model.parts.torso),
        "floor": _flow(model.floor),
        "alone": _ALONE if _others(model) else "",
        "pose": _pose(first.keyframe, start),
        "joints": "\n".join(f"  - {_flow(joint)}" for joint in model.joints),
        "ranges": _block(_RANGES, _ranges(model, angles)),
        "servos": _block(_SERVOS, _servos(model, pose, angles, sized=sized)),
        "feet": _lines({leg.name: leg.soles for leg in legs}),
        "legs": _lines({leg.name: {"joints": list(leg.joints), "foot": leg.name} for leg in legs}),
        "measures": _flow(leg.name for leg in measured),
        "archive": _flow(even_cells(len(measured))),
        "min_height": f"{_UP * height:.3g}",
        **_times(model, height),
        **_start_gait(model, pose),
    }
    kind = "periodic" if model.steady else "network"
    whole, task = (Template((_TEMPLATES / f"{name}.yaml").read_text()) for name in ("robot", kind))
    return whole.substitute(entries, task=task.substitute(entries).rstrip())


def _times(model: _Model, height: float) -> dict[str, object]:
    """The control step, a gait's period for a torso at a height [m], and how long episodes last."""
    timestep = float(model.compiled.opt.timestep)
    substeps = max(1, round(_CONTROL_STEP / timestep))
    step, period = substeps * timestep, _PERIOD * math.sqrt(max(height, 0) / _GRAVITY)
    return {
        "substeps": substeps,
        "timestep": f"{timestep:g}",
        "control_step": f"{step:g}",
        "period": f"{max(1, round(period / step)) * step:.9g}",
        "seconds": f"{(250 if model.steady else 1000) * step:g}",
    }


def _start_gait(model: _Model, pose: mujoco.MjData) -> dict[str, object]:
    """The first gait of a search: on either side every other leg moves at the same time, as in a trot.

    Legs are counted from the front, those on the right one later. Where legs differ, all move at random.
    """
    legs, torso = model.parts.legs, pose.body(model.parts.torso)
    places = {leg.name: pose.geom(leg.soles[0]).xpos for leg in legs}
    across = {name: torso.xmat.reshape(3, 3)[:, 1] @ (place - torso.xpos) for name, place in places.items()}
    left, right = ([name for name in places if side * across[name] > 0] for side in (1, -1))
    sides, phases = {"left": _flow(left), "right": _flow(right)}, dict[str, float]()
    for later, side in enumerate((left, right)):
        front = sorted(side, key=lambda name: -places[name][0])
        phases |= {name: (number + later) % 2 / 2 for number, name in enumerate(front)}
    if len({len(leg.joints) for leg in legs}) > 1 or len(phases) < len(legs):  # or a leg in the middle
        return {**sides, "phases": "{}", "mirrored": ""}
    mirrored = _mirrored(model, pose)
    words = f"  mirrored: {_flow(mirrored)}  # whose signals start reversed, as their axes do (?)\n"
    phases = {leg.name: phases[leg.name] for leg in legs}
    return {**sides, "phases": _flow(phases), "mirrored": words if mirrored else ""}


def _mirrored(model: _Model, pose: mujoco.MjData) -> list[str]:
    """The joints that move a foot the other way than the same joint of the first leg."""
    legs = model.parts.legs
    first = _moves(model, pose, legs[0])
    return [
        joint
        for leg in legs
        for joint, move, alike in zip(leg.joints, _moves(model, pose, leg), first, strict=True)
        if move @ alike < 0
    ]


def _moves(model: _Model, pose: mujoco.MjData, leg: FoundLeg) -> np.ndarray:
    """How the foot moves ahead and up per rad of each joint of a leg [m/rad], (j, 2); up counts more.

    So joints that lift feet lift all of them, and of the others the direction decides.
    """
    compiled, along = model.compiled, np.zeros((3, model.compiled.nv))
    sole = compiled.geom(leg.soles[0])
    mujoco.mj_jac(compiled, pose, along, None, pose.geom_xpos[sole.id], int(sole.bodyid[0]))
    dofs = [int(compiled.joint(joint).dofadr[0]) for joint in leg.joints]
    return np.asarray(along[[0, 2]][:, dofs].T) * [1.0, _LIFT]


def _others(model: _Model) -> bool:
    """Whether the MJCF has fixed geoms but the floor, or bodies that are not part of the robot."""
    compiled = model.compiled
    robot = compiled.body(model.parts.torso)
    still = compiled.body_weldid[compiled.geom_bodyid] == 0
    others = compiled.body_rootid[compiled.geom_bodyid] != compiled.body_rootid[robot.id]
    return int(np.count_nonzero(still | others)) > 1


def _pose(keyframe: str | None, start: Mapping[str, np.ndarray]) -> str:
    if not start:
        return "" if keyframe is None else _KEYFRAME.format(_flow(keyframe))
    positions = {joint: (np.round(position, 4) + 0.0).tolist() for joint, position in start.items()}
    return _block(_START, {joint: part if len(part) > 1 else part[0] for joint, part in positions.items()})


def _ranges(model: _Model, angles: Mapping[str, float]) -> dict[str, list[float]]:
    hinge, ranges = int(mujoco.mjtJoint.mjJNT_HINGE), {}
    for name, angle in angles.items():
        joint = model.compiled.joint(name)
        limited = model.compiled.jnt_limited[joint.id] and np.ptp(joint.range) <= WIDE
        if model.compiled.jnt_type[joint.id] == hinge and not limited:
            ranges[name] = [round(angle - _RANGE, 3), round(angle + _RANGE, 3)]
    return ranges


def _servos(
    model: _Model, pose: mujoco.MjData, angles: Mapping[str, float], *, sized: bool
) -> dict[str, dict[str, object]]:
    """What to tell servos, and the gains of those that motors become, or of all if they are to be `sized`."""
    ranges, torques = _ranges(model, angles), _torques(model)
    own = {motor.target: motor for motor in model.spec.actuators}
    servos, motors = dict[str, dict[str, object]](), dict[str, Motor]()
    for name, angle in angles.items():
        joint, motor = model.compiled.joint(name), own.get(name)
        low, high = ranges.get(name, joint.range)
        slides = model.compiled.jnt_type[joint.id] == int(mujoco.mjtJoint.mjJNT_SLIDE)
        swing = float(_SLIDING * (high - low) if slides else _SWING)
        own_gains = motor is not None and is_servo(motor)
        usable = np.isfinite(torques[name]) and (motor is None or (model.steady and is_plain(motor)))
        if not own_gains and not usable:
            continue  # a network may command torques; a motor without a limit will be refused
        if sized or not own_gains:
            motors[name] = Motor(torques[name], swing)
        limits = max(angle - swing, low), min(angle + swing, high)
        servos[name] = {"range": [round(float(limit), 3) for limit in limits]}
    for name, gains in servo_gains(model.compiled, pose, model.parts, motors).items():
        servos[name] |= {"stiffness": gains.stiffness, "damping": gains.damping}
        if name not in own or not np.isfinite(torques[name]):
            servos[name]["torque"] = gains.torque
    return servos


def _torques(model: _Model) -> dict[str, float]:
    """The greatest torque or force of each joint's motor, or of all of its tendons; inf without a limit."""
    pulled, direct = defaultdict[str, float](float), dict[str, float]()
    for number, joints in tendon_joints(model.compiled).items():
        if is_plain(actuator := model.spec.actuators[number]):
            for joint, arm in joints.items():
                pulled[model.compiled.joint(joint).name] += abs(arm) * torque_limit(actuator)
    for motor in model.spec.actuators:
        if motor.trntype == TO_JOINT:
            joint = model.spec.joint(motor.target)
            limited = not is_servo(motor) or np.any(motor.forcerange) or np.any(joint.actfrcrange)
            direct[motor.target] = torque_limit(motor, joint) if limited else np.inf
    return dict.fromkeys(model.joints, np.inf) | pulled | direct


def _block(head: str, entries: Mapping[str, object]) -> str:
    return f"{head}\n{_lines(entries)}\n" if entries else ""


def _lines(entries: Mapping[str, object]) -> str:
    return "\n".join(f"  {_flow(name)}: {_flow(value)}" for name, value in entries.items())


def _title(model: mujoco.MjModel) -> str:
    """The model's name as its MJCF has it; MuJoCo calls those that have none `MuJoCo Model`."""
    name = model.names.split(b"\0", 1)[0].decode(errors="replace")
    return "" if name == "MuJoCo Model" else re.sub(r"[\s_]+scene$", "", name)


def _flow(value: object) -> str:
    plain = list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else value
    text = yaml.safe_dump(plain, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()
