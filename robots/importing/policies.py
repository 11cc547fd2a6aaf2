"""`with_policy`: a robot driven by gaits around a policy that others trained.

What a policy observes is told by a map: a YAML with the keys of `PolicyMap`, or one of the ready `MAPS`,
named after what such policies are trained with.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from pydantic import Field

from robots.controllers.foreign import POLICIES
from robots.controllers.network import MOST_BYTES, read_metadata
from robots.controllers.policy import PolicyDescription, read_policy
from robots.controllers.residual import Residual
from robots.errors import InvalidValueError, UnknownNameError, naming, one_line
from robots.files.records import NotNegative, Positive, Record, validate
from robots.files.texts import parse_yaml, read_bytes, read_text
from robots.robot import Robot, robot_from_text
from robots.symmetry import find_symmetry

_SECONDS = 10.0  # of an episode at least: many gaits around a policy fall late
_REACH = 2.0  # [rad or m] from home to either side that a joint can be sent
_UNLIMITED = 1e4  # in size, of the numbers of an observation
_IMUS = ("imu", "imu_in_pelvis")  # sites of the MJCFs of Playground
_POSES = ("knees_bent", "home")  # keyframes of the MJCFs of Playground
_WAVES = {"period": 1 / 1.5, "phases": [0.0, 0.5]}  # [s] of the clock of Playground's bipeds
# what Isaac Lab and mjlab call the terms
_ISAAC = {
    "base_lin_vel": "linear_velocity",
    "base_ang_vel": "gyroscope",
    "projected_gravity": "gravity",
    "joint_pos": "joint_position",
    "joint_pos_rel": "joint_position",
    "joint_vel": "joint_speed",
    "joint_vel_rel": "joint_speed",
    "last_action": "action",
    "actions": "action",
    "velocity_commands": "command",
    "command": "command",
    "gait_phase": "clock",
}
_OWN = ("action", "command", "phase", "clock", "observation")  # terms that are not the robot's


class PolicyMap(Record):
    """What a policy needs of a robot besides its file."""

    controller: dict[str, Any]  # keys of `PolicyDescription`, but for `onnx`
    imu: str | None = None  # site of the MJCF whose frame it observes; None for the torso's
    # of the servos by their joints, see `robots.description.Servo`; of others as in the robot's YAML
    stiffness: dict[str, Positive] = Field(default={})
    damping: dict[str, NotNegative] = Field(default={})
    torque: dict[str, Positive] = Field(default={})


class _Given(NamedTuple):
    robot: Robot
    path: str | Path  # of the file, or the name of a function
    inputs: int
    metadata: Mapping[str, str]

    @property
    def joints(self) -> list[str]:
        """The actuated joints in the order of the model."""
        model, names = self.robot.model, self.robot.description.joints
        return sorted(names, key=lambda name: model.joint(name).id)

    @property
    def keyframe(self) -> str | None:
        """The MJCF's keyframe that policies start in, or else its first one."""
        keys = [self.robot.model.key(number).name for number in range(self.robot.model.nkey)]
        return next((key for key in _POSES if key in keys), next(iter(keys), None))

    @property
    def home(self) -> dict[str, float]:
        """Positions of the joints in that keyframe, or at the start."""
        model, names = self.robot.model, self.robot.description.joints
        if self.keyframe is None:
            return {name: self.robot.start_of(name) for name in names}
        pose = model.key(self.keyframe).qpos
        return {name: float(pose[model.joint(name).qposadr[0]]) for name in names}


AnyPolicy = str | Path | Callable[[np.ndarray], Any]


def with_policy(robot: Robot, policy: AnyPolicy, observes: str | Path = "playground") -> Robot:
    """A robot driven by gaits around a policy, of which that with parameters of 0 is the policy alone.

    Args:
        robot: that the policy was trained for.
        policy: an ONNX file; or a function from a batch of observations, (n, i) float32, to actions (n, o),
            or its name in `robots.controllers.foreign.POLICIES`.
        observes: what it observes: a name in `MAPS`, or the path of the YAML of a `PolicyMap`.
    """
    given, keys, files = _given(robot, policy)
    found = _map(given, observes)
    description = validate(PolicyDescription, {"home": given.home, **found.controller, **keys})
    known: Any = parse_yaml(robot.yaml)
    known["episode_steps"] = max(robot.description.episode_steps, round(_SECONDS / robot.control_step))
    known["controller"] = description.model_dump(mode="json", exclude_defaults=True)
    if description.scale is not None and given.keyframe:
        known = {key: value for key, value in known.items() if key != "start"} | {"keyframe": given.keyframe}
    if description.scale is not None:
        known["servos"] = _servos(known.get("servos", {}), found, description.home)
    if terms := [term.term for term in description.observes if term.term not in _OWN]:
        seen = [*dict.fromkeys([*terms, "heading"])]
        numbers = [{"term": term, "scale": 1.0, "limit": _UNLIMITED} for term in seen]
        known["observations"] = {"terms": numbers} | ({"imu": found.imu} if found.imu else {})

    def built() -> Robot:
        text = yaml.safe_dump(known, sort_keys=False, allow_unicode=True)
        return robot_from_text(robot.xml, text, origin=f"{robot.name} with {given.path}", files=files)

    made = built()
    if images := _images(made):
        known["controller"]["mirror"] = images
        made = built()
    return made


def _given(robot: Robot, policy: AnyPolicy) -> tuple[_Given, dict[str, str], dict[str, bytes]]:
    """What is known of a policy, the key of its description that says what it is, and its file."""
    if callable(policy) or str(policy) in POLICIES:
        name = _name(policy) if callable(policy) else str(policy)
        inputs = 12 + 3 * len(robot.description.joints)  # of what the ready maps are for, quadrupeds
        return _Given(robot, name, inputs, {}), {"function": name}, {}
    path = Path(policy)
    content = read_bytes(path, MOST_BYTES)
    inputs = read_policy(content, str(path)).inputs
    return _Given(robot, path, inputs, read_metadata(content)), {"onnx": path.name}, {path.name: content}


def _name(function: Callable[[np.ndarray], Any]) -> str:
    """The name of a function, which is registered; that of another one is never its name."""
    own = getattr(function, "__name__", type(function).__name__).strip("<>")
    names = chain([*POLICIES, own], (f"{own}-{number}" for number in count(2)))
    return next(name for name in names if POLICIES.setdefault(name, function) is function)


def _map(given: _Given, observes: str | Path) -> PolicyMap:
    text = str(observes)
    if text in MAPS:
        try:
            return validate(PolicyMap, MAPS[text](given))
        except (KeyError, ValueError, TypeError, IndexError) as error:
            said = one_line(error) + " is missing" * isinstance(error, KeyError)
            raise InvalidValueError(f"{given.path} is no policy of {text}: {said}") from error
    if not text.endswith((".yaml", ".yml")):
        raise UnknownNameError("map of what a policy observes", text, MAPS)
    with naming(text):
        content: Any = parse_yaml(read_text(Path(text)))
        if not isinstance(content, Mapping):
            raise InvalidValueError("a map of what a policy observes has keys, such as controller")
        return validate(PolicyMap, content)


def _servos(known: Mapping[str, Any], found: PolicyMap, home: Mapping[str, float]) -> dict[str, Any]:
    """Servos with the policy's gains that can be sent to both sides of home."""
    gains = {"stiffness": found.stiffness, "damping": found.damping, "torque": found.torque}
    servos = {}
    for joint, middle in home.items():
        own = {key: values[joint] for key, values in gains.items() if joint in values}
        servos[joint] = {**known.get(joint, {}), **own, "range": [middle - _REACH, middle + _REACH]}
    return servos


def _images(robot: Robot) -> list[dict[str, list[float]]] | None:
    """What becomes of what a policy sees and of the joints in a mirror; None if that is unknown."""
    controller, mirror = robot.controller, find_symmetry(robot)
    if mirror is None or not isinstance(controller, Residual):
        return None
    images = controller.inputs.images(mirror)
    pairs = (images, mirror.actions) if images else ()
    return [{"images": part.images.tolist(), "signs": part.signs.tolist()} for part in pairs] or None


def _playground(given: _Given) -> dict[str, Any]:
    """MuJoCo Playground: joystick policies of quadrupeds, and of bipeds with a clock."""
    joints = len(given.joints)
    sensed, own = ["linear_velocity", "gyroscope", "gravity"], ["joint_position", "joint_speed", "action"]
    known = {12 + 3 * joints: [*own, "command"], 16 + 3 * joints: ["command", *own, "phase"]}
    if given.inputs not in known:
        widths = " or ".join(map(str, known))
        raise ValueError(f"of {joints} joints these have {widths} inputs, not {given.inputs}")
    model = given.robot.model
    sites = {model.site(number).name for number in range(model.nsite)}
    observes = [
        {"term": name, **(_WAVES if name == "phase" else {})} for name in (*sensed, *known[given.inputs])
    ]
    return {
        "controller": {"observes": observes, "joints": given.joints, "scale": 0.5},
        "imu": next((site for site in _IMUS if site in sites), None),
    }


def _legged_gym(given: _Given) -> dict[str, Any]:
    """legged_gym and what descends from it: legs in the order of their names."""
    legs = given.robot.description.legs
    sensed = [("linear_velocity", 2.0), ("gyroscope", 0.25), ("gravity", 1.0), ("command", [2.0, 2.0, 0.25])]
    rest = [("joint_position", 1.0), ("joint_speed", 0.05), ("action", 1.0)]
    joints = [joint for name in sorted(legs) for joint in legs[name].joints]
    terms = (sensed if given.inputs == 12 + 3 * len(joints) else sensed[1:]) + rest
    observes = [{"term": term, "scale": scale} for term, scale in terms]
    return {"controller": {"observes": observes, "joints": joints, "scale": 0.25}}


def _mjlab(given: _Given) -> dict[str, Any]:
    """mjlab, which writes into the file what it observes."""

    def words(key: str) -> list[str]:
        return given.metadata[key].split(",")

    def numbers(key: str) -> list[list[float]]:
        return [[float(x) for x in entry.split(";")] for entry in words(key)]

    def of_joints(key: str) -> dict[str, float]:
        return dict(zip(joints, (entry[0] for entry in numbers(key)), strict=True))

    joints, scales = words("joint_names"), [entry[0] for entry in numbers("action_scale")]
    histories = [max(1, int(float(length))) for length in words("observation_terms_history_length")]
    clips = numbers("observation_terms_clip")
    terms = zip(words("observation_names"), numbers("observation_terms_scale"), clips, histories, strict=True)
    return {
        "controller": {
            "observes": [
                _observed(name, scale if len(scale) > 1 else scale[0], clip, history)
                for name, scale, clip, history in terms
            ],
            "joints": joints,
            "home": of_joints("default_joint_pos"),
            "scale": scales if len(scales) > 1 else scales[0],
        },
        "stiffness": of_joints("joint_stiffness"),
        "damping": of_joints("joint_damping"),
    }


def _unitree(given: _Given) -> dict[str, Any]:
    """unitree_rl_lab: the file deploy.yaml in the folder params next to that of the policy."""
    place = Path(given.path).resolve().parent.parent / "params" / "deploy.yaml"
    # the only tag that Isaac Lab writes, for joints that are all of them
    text = re.sub(r"!!python/object/apply:builtins\.slice \[[\w, ]*\]", "null", read_text(place))
    told: Any = parse_yaml(text)
    order = told["joint_ids_map"]
    joints = [given.joints[number] for number in order]
    action = told["actions"]["JointPositionAction"]
    ranges = told["commands"]["base_velocity"]["ranges"]
    least, most = zip(*(ranges[key] for key in ("lin_vel_x", "lin_vel_y", "ang_vel_z")), strict=True)
    observes = []
    for name, term in told["observations"].items():
        period = (term.get("params") or {}).get("period")
        scale, history = [float(x) for x in term["scale"]], term.get("history_length") or 1
        found = _observed(name, scale, term.get("clip"), history)
        observes.append(found | ({"period": period} if period else {}))
    command = {"default": [most[0], 0.0, 0.0], "least": [*map(float, least)], "most": [*map(float, most)]}
    return {
        "controller": {
            "observes": observes,
            "joints": joints,
            "home": dict(zip(joints, map(float, action["offset"]), strict=True)),
            "scale": [float(x) for x in action["scale"]],
            "command": command,
        },
        "stiffness": dict(zip(given.joints, map(float, told["stiffness"]), strict=True)),
        "damping": dict(zip(given.joints, map(float, told["damping"]), strict=True)),
    }


def _observed(
    name: str, scale: float | list[float], limits: Sequence[float] | None, history: int
) -> dict[str, Any]:
    """A term of what Isaac Lab's and mjlab's policies observe; with limits of 0 it has none."""
    if name not in _ISAAC:
        raise UnknownNameError("term of what a policy observes", name, _ISAAC)
    size = max(map(abs, limits or [0.0]))
    clip = None if size in (0.0, float("inf")) else size
    return {"term": _ISAAC[name], "scale": scale, "clip": clip, "history": history, "oldest_first": True}


MAPS: Mapping[str, Callable[[_Given], dict[str, Any]]] = {
    "playground": _playground,
    "mjlab": _mjlab,
    "unitree_rl_lab": _unitree,
    "legged_gym": _legged_gym,
    # trained on an environment of ours: observations and actions as they are
    "sb3": lambda _: {"controller": {"observes": ["observation"], "scale": None, "lost_joints": "middle"}},
}
