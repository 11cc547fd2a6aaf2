"""`onnx_model` and `unitree_files`: a gait as files that robots' own runtimes read.

A gait or robot that has no such form is an `InvalidValueError`, a missing onnx a `SurefootError`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np
import yaml

from robots.controllers.graph import Graph
from robots.errors import InvalidValueError
from robots.files.atomic import replace_file, write_text
from robots.link.interface import Interface
from robots.robot import Robot
from robots.stance import start_positions
from robots.task.observations import OBSERVATION_LIMIT, Entry

if TYPE_CHECKING:
    import onnx

_FRAMES = (
    "x ahead, y to the left, z up; quaternions w, x, y, z; angles about the fixed axes x, y, z; gyroscope "
    "and accelerometer along the IMU's own axes; speeds along its heading; joints as in the MJCF"
)
_READ, _TOLD, _WAVED, _COMMANDED, _RELATIVE = range(5)  # kinds of `Entry`
_TURN = "commanded turn"
# the terms that Unitree's runtime knows, by ours
_UNITREE = {
    "gyroscope": "base_ang_vel",
    "gravity": "projected_gravity",
    "command": "velocity_commands",
    "joint_position": "joint_pos_rel",
    "joint_speed": "joint_vel_rel",
    "last_action": "last_action",
}
_PHASE = "gait_phase"
_EARLIER = 2  # phases that Unitree's runtime computes before that of the first action


def onnx_model(robot: Robot, parameters: np.ndarray, *, gait: str, rate: float = np.inf) -> onnx.ModelProto:
    """A gait as a graph from what sensors read to what motors are told, in opset 13 and float32.

    It takes `obs` (1, n), quantities in the units that the metadata list, unless the gait sees nothing; and
    gives `actions` (1, a) in [-1, 1] and `targets` (1, a), what these tell the motors [rad, m, N m or N]. All
    else is in the graph: scales, limits, delays, histories, clocks, a policy. What remembers something has
    `state` and `next_state`, too: zeros at first, then what came out a control step before.

    Args:
        robot: whole.
        parameters: of its controller, (p,).
        gait: what to call it.
        rate: how fast the targets of servos may change at most, after the first [rad/s or m/s], where the
            robot does not declare a lower one. The simulation knows no such limit: a gait that exceeds it
            walks otherwise.
    """
    return _model(robot, parameters, gait, _Quantities(robot), rate)


def unitree_files(
    robot: Robot, parameters: np.ndarray, *, gait: str
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """A gait for Unitree's RL deployment: the graph of its `policy.onnx`, and what its `deploy.yaml` holds.

    The runtime feeds `obs`, made of terms that it knows, and remembers nothing but their histories; a clock
    is its `gait_phase`. Terms come as they are, since scales and limits are in the graph. Gains are in the
    order of the robot's motors, everything else in that of the actions; `joint_ids_map` has the motor of each
    action. The runtime clips a target after scale and offset [rad or m].

    Args:
        robot: see `onnx_model`.
        parameters: likewise.
        gait: likewise.
    """
    face = Interface.of(robot)
    count = len(face.motors)
    if not face.servos.all():
        joint = robot.description.joints[int(np.argmin(face.servos))]
        raise InvalidValueError(
            f"deploy.yaml is for servos, but {joint} of {robot.name} is told torques: give it a stiffness "
            "under servos in its YAML"
        )
    if sorted(face.motors.tolist()) != list(range(count)):
        raise InvalidValueError(
            f"deploy.yaml needs one motor for each of the {count} actions of {robot.name}"
        )
    if np.isfinite(face.rate):
        raise InvalidValueError(
            f"Unitree's runtime knows no rate, but the YAML of {robot.name} declares a target_rate of "
            f"{face.rate:g}: export it without deploy.yaml"
        )
    terms = _Terms(robot, face)
    model = _model(robot, parameters, gait, terms)
    by_motor, command = np.argsort(face.motors), robot.description.command
    ranges = command and {
        "lin_vel_x": list(command.speed),
        "lin_vel_y": [0.0, 0.0],
        "ang_vel_z": list(command.turn),
    }
    return model, {
        "joint_ids_map": face.motors.tolist(),
        "step_dt": robot.control_step,
        "stiffness": face.kp[by_motor].tolist(),
        "damping": face.kd[by_motor].tolist(),
        "default_joint_pos": face.offset.tolist(),
        "commands": {"base_velocity": {"ranges": ranges}} if ranges else {},
        "actions": {
            "JointPositionAction": {
                "clip": np.sort([face.kept(face.targets(end)) for end in (-1, 1)], axis=0).T.tolist(),
                "joint_names": [".*"],
                "scale": face.scale.tolist(),
                "offset": face.offset.tolist(),
                "joint_ids": None,
            }
        },
        "observations": terms.described,
    }


def write_onnx(path: Path, model: onnx.ModelProto) -> None:
    """Write a graph to a file."""
    with replace_file(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def write_deploy_yaml(path: Path, described: dict[str, Any]) -> None:
    """Write what a `deploy.yaml` holds, see `unitree_files`."""
    write_text(path, yaml.safe_dump(described, sort_keys=False, default_flow_style=None, width=110))


def _model(
    robot: Robot, parameters: np.ndarray, gait: str, source: _Source, rate: float = np.inf
) -> onnx.ModelProto:
    parameters = robot.controller.checked_parameters(parameters)
    if not np.isfinite(parameters).all():
        raise InvalidValueError("the gait's parameters are not finite: choose another one")
    face = Interface.of(robot, rate)
    observation = source.observation() if robot.controller.closed_loop else ""
    action = robot.controller.written(parameters, source, observation)
    source.of("Clip", action, -1.0, 1.0, name="actions")
    source.acted("actions")
    neutral = np.where(face.servos, face.offset, face.torque_offset)
    targets = source.of("Add", source.of("Mul", "actions", face.action_scale), neutral)
    low, high, change = face.allowed
    targets = source.clipped(targets, low, high)
    if np.isfinite(change).any():
        last, part = source.recalled(robot.action_dim)
        near = source.clipped(targets, source.of("Sub", last, change), source.of("Add", last, change))
        targets = source.of("Where", source.of("Equal", source.step, 0.0), targets, near)
        source.keep(part, targets)
    source.of("Identity", targets, name="targets")
    told = _metadata(face, gait, source.columns)
    return source.model(len(source.columns), robot.action_dim, ["actions", "targets"], told)


class _Column(NamedTuple):
    """A number of `obs`: a quantity, less what is taken off it, so many control steps ago."""

    name: str
    unit: str
    less: float = 0.0
    lag: int = 0


class _Source(Graph, ABC):
    """A graph whose `obs` a runtime makes.

    Attributes:
        columns: of `obs`, once the observation is written.
    """

    columns: tuple[_Column, ...] = ()
    _remembers = True  # whether the graph remembers what was before, and not the runtime

    def __init__(self, robot: Robot) -> None:
        super().__init__()
        self._robot = robot

    def observation(self) -> str:
        """What the controller sees, (1, o)."""
        entries = self._robot.entries
        distinct = list(dict.fromkeys(map(self._made, entries)))
        row, places = self._pool(distinct)
        less = [self.columns[place].less if place < len(self.columns) else 0.0 for place in places]
        low, high, zero = np.array([self._range(entry) for entry in distinct]).T - less
        row = self.of("Sub", self.clipped(self.chosen(row, places), low, high), zero)
        row = self.of("Mul", row, np.array([entry.scale for entry in distinct]))
        count, lags = len(distinct), [entry.lag * self._remembers for entry in entries]
        every = self.recent(row, count, max(lags))
        numbers = [distinct.index(self._made(entry)) for entry in entries]
        limits = np.array([entry.limit for entry in entries])
        return self.clipped(self.chosen(every, np.array(lags) * count + numbers), -limits, limits)

    def acted(self, actions: str) -> None:
        """Take note of the actions of a control step; nothing by default."""

    @abstractmethod
    def _pool(self, entries: Sequence[Entry]) -> tuple[str, list[int]]:
        """A row that begins with `obs`, and the places in it of what entries are made of."""

    def _made(self, entry: Entry) -> Entry:
        """What an entry is made of, whenever it is seen."""
        return entry._replace(lag=0, noise=0.0, limit=0.0) if self._remembers else entry

    def _range(self, entry: Entry) -> tuple[float, float, float]:
        """Between which a sensor reads a quantity, and where it counts as 0."""
        if entry.kind != _READ:
            return -np.inf, np.inf, 0.0
        channel = self._robot.channels[entry.source]
        reach = OBSERVATION_LIMIT / abs(channel.gain)
        return channel.zero - reach, channel.zero + reach, entry.zero


class _Quantities(_Source):
    """`obs` holds each quantity once."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self._acted: int | None = None

    def acted(self, actions: str) -> None:
        if self._acted is not None:
            self.keep(self._acted, actions)

    def _pool(self, entries: Sequence[Entry]) -> tuple[str, list[int]]:
        units = {}
        for entry in entries:
            if entry.kind in (_READ, _RELATIVE):
                channel = self._robot.channels[entry.source]
                units[channel.name] = channel.unit
            elif entry.kind == _COMMANDED:
                units[entry.name] = entry.unit
        if any(entry.kind == _RELATIVE for entry in entries):
            units[_TURN] = "rad/s"
        self.columns, names = tuple(_Column(*both) for both in units.items()), list(units)
        parts, places, size = ["obs"] * bool(names), dict[Entry, int](), len(names)
        if any(entry.kind == _TOLD for entry in entries):
            last, self._acted = self.recalled(self._robot.action_dim)
            parts.append(last)
            places |= {entry: size + entry.source for entry in entries if entry.kind == _TOLD}
            size += self._robot.action_dim
        for entry in entries:
            if entry.kind in (_WAVED, _RELATIVE):
                wave = entry.kind == _WAVED
                parts.append(self._wave(entry) if wave else self._relative(names, entry))
                places[entry] = size
                size += 1
            elif entry.kind != _TOLD:
                read = entry.kind == _READ
                places[entry] = names.index(self._robot.channels[entry.source].name if read else entry.name)
        return self.together(*parts), [places[entry] for entry in entries]

    def _wave(self, entry: Entry) -> str:
        turned = self.of("Mul", self.step, np.array([[2 * np.pi * entry.turns]]))
        return self.of("Sin", self.of("Add", turned, entry.phase))

    def _relative(self, names: Sequence[str], entry: Entry) -> str:
        """The heading less what the commanded turn added up to, from -π to π."""
        heading, turn = (
            self.chosen("obs", [names.index(name)])
            for name in (self._robot.channels[entry.source].name, _TURN)
        )
        told, part = self.recalled(1)
        self.keep(part, self.of("Add", told, self.of("Mul", turn, self._robot.control_step)))
        error = self.of("Sub", heading, told)
        whole = self.of("Round", self.of("Div", error, 2 * np.pi))
        return self.of("Sub", error, self.of("Mul", whole, 2 * np.pi))


class _Terms(_Source):
    """`obs` holds the terms of Unitree's runtime, each as far back as it is seen, the oldest first.

    Attributes:
        described: the terms as in `deploy.yaml`.
    """

    _remembers = False

    def __init__(self, robot: Robot, face: Interface) -> None:
        super().__init__(robot)
        self._rest = dict(zip(robot.description.joints, face.offset.tolist(), strict=True))
        self.described: dict[str, Any] = {}

    @property
    def step(self) -> str:
        """Refused: the runtime counts no control steps."""
        raise self._refused("counts control steps")

    def recalled(self, size: int) -> tuple[str, int]:
        """Refused: the runtime has no memory for a gait."""
        raise self._refused("remembers something")

    def _refused(self, what: str) -> InvalidValueError:
        return InvalidValueError(
            f"Unitree's runtime feeds observations alone, but a {self._robot.controller.label} gait of "
            f"{self._robot.name} {what}: export it without deploy.yaml"
        )

    def step_in(self, samples: int) -> str:
        """See `Graph`: the runtime knows it as a sine and a cosine."""
        at = len(self.columns)
        self.columns += (_Column("sine of the phase", ""), _Column("cosine of the phase", ""))
        self._describe(_PHASE, 2, 1, {"period": samples * self._robot.control_step})
        angles = 2 * np.pi * (np.arange(samples) + _EARLIER) / samples
        alike = self.of(
            "MatMul", self.chosen("obs", [at, at + 1]), np.array([np.sin(angles), np.cos(angles)])
        )
        return self.of("ArgMax", alike, axis=1, keepdims=0)

    def _pool(self, entries: Sequence[Entry]) -> tuple[str, list[int]]:
        columns = []
        for term in dict.fromkeys(entry.term for entry in entries):
            if term not in _UNITREE:
                raise InvalidValueError(
                    f"Unitree's runtime knows no {term}, which gaits of {self._robot.name} see: it knows "
                    f"{', '.join(_UNITREE)}; export without deploy.yaml, or train gaits that see these alone"
                )
            own = [entry for entry in entries if entry.term == term]
            now, lags = self._numbers(term, own), max(entry.lag for entry in own)
            columns += [column._replace(lag=lag) for lag in range(lags, -1, -1) for column in now]
            self._describe(_UNITREE[term], len(now), lags + 1)
        self.columns = tuple(columns)
        places = {(column.name, column.lag): place for place, column in enumerate(columns)}
        return "obs", [places[entry.name, entry.lag] for entry in entries]

    def _numbers(self, term: str, entries: Sequence[Entry]) -> list[_Column]:
        """What a term holds."""
        if term == "command":
            speed, turn = (
                _Column(f"commanded {what}", unit) for what, unit in (("speed", "m/s"), ("turn", "rad/s"))
            )
            return [speed, _Column("commanded speed to the left", "m/s"), turn]
        if term == "last_action":
            return [_Column(f"{joint} last action", "") for joint in self._robot.description.joints]
        found = [channel for channel in self._robot.channels if channel.term == term]
        if term == "joint_position":
            rest = self._rest
            return [_Column(c.name, c.unit, rest[c.name.removesuffix(" position")]) for c in found]
        return [_Column(channel.name, channel.unit) for channel in found]

    def _describe(self, term: str, count: int, history: int, params: dict[str, Any] | None = None) -> None:
        self.described[term] = {
            "params": params or {},
            "clip": None,
            "scale": [1.0] * count,
            "history_length": history,
        }


def _metadata(face: Interface, gait: str, columns: Sequence[_Column]) -> dict[str, str]:
    """What mjlab's exports tell, under its keys, at full precision; then what they do not."""
    kp, kd, count = face.kp.tolist(), face.kd.tolist(), len(columns)
    return {
        "run_path": "surefoot",
        "joint_names": ",".join(face.robot.description.joints),
        "joint_stiffness": _csv(kp),
        "joint_damping": _csv(kd),
        "default_joint_pos": _csv(face.offset.tolist()),
        "command_names": "speed,turn" if face.robot.description.observations.commanded else "",
        "action_scale": _csv(face.action_scale.tolist()),
        "observation_names": ",".join(column.name.replace(",", "") for column in columns),
        "observation_terms_scale": ",".join(["1.0"] * count),
        "observation_terms_clip": ",".join(["-inf;inf"] * count),
        "observation_terms_history_length": ",".join(["0"] * count),
        "observation_terms_flatten_history_dim": ",".join(["1"] * count),
        "kp": json.dumps(kp),
        "kd": json.dumps(kd),
        "surefoot": json.dumps(_details(face, gait, columns), allow_nan=False),
    }


def _details(face: Interface, gait: str, columns: Sequence[_Column]) -> dict[str, Any]:
    robot, limits = face.robot, [None if np.isinf(limit) else limit for limit in face.limit.tolist()]
    joints = [robot.physics.joint(name).type[0] for name in robot.description.joints]
    ranges = face.allowed[:2].T.tolist()
    slides = np.array(joints) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    values = {
        "joint": robot.description.joints,
        "motor": face.motors.tolist(),
        "kind": ["position" if servo else "torque" for servo in face.servos],
        "unit": np.where(face.servos, np.where(slides, "m", "rad"), np.where(slides, "N", "N m")).tolist(),
        "offset": np.where(face.servos, face.offset, face.torque_offset).tolist(),
        "scale": face.action_scale.tolist(),
        "kp": face.kp.tolist(),
        "kd": face.kd.tolist(),
        "range": [ends if servo else None for ends, servo in zip(ranges, face.servos, strict=True)],
        "torque_limit": limits,
    }
    return {
        "format": 2,
        "robot": robot.name,
        "model": face.model_hash,
        "gait": gait,
        "control_step": robot.control_step,
        "rate": face.rate if np.isfinite(face.rate) else None,
        "physics_step": robot.physics.opt.timestep,
        "frames": _FRAMES,
        "imu": robot.description.observations.imu,
        "start": start_positions(robot).tolist(),
        "obs": [column._asdict() for column in columns],
        "law": "position: torque = kp * (target - q) - kd * dq; torque: torque = target - kd * dq; limited "
        "to +- torque_limit; target = offset + scale * action",
        "actions": [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)],
    }


def _csv(numbers: Iterable[float]) -> str:
    return ",".join(repr(float(number)) for number in numbers)
