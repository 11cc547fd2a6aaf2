"""`onnx_model` and `deploy_yaml`: a gait as files that robots' own runtimes read.

A gait or robot that has no such form is an `InvalidValueError`, a missing onnx a `SurefootError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import yaml

from robots.controllers.controller import Controller
from robots.errors import InvalidValueError, SurefootError
from robots.files.atomic import replace_file, write_text
from robots.link.interface import Interface
from robots.robot import Robot
from robots.stance import start_positions
from robots.task.observations import OBSERVATION_LIMIT, Entry

if TYPE_CHECKING:
    import onnx

_OPSET, _IR = 17, 8  # what runtimes on robots read; those of today write newer ones by default
_CLIP = OBSERVATION_LIMIT
_LIMITS = {"minus_one": -1.0, "zero": 0.0, "one": 1.0, "two": 2.0}  # of actions and strides
_EARLY = 0.01  # control steps by which a phase may fall short of a step and still count as it
_FRAMES = (
    "x ahead, y to the left, z up; quaternions w, x, y, z; angles about the fixed axes x, y, z; gyroscope "
    "and accelerometer along the IMU's own axes; speeds along its heading; joints as in the MJCF"
)


def export_gait(robot: Robot, parameters: np.ndarray, path: Path, *, gait: str) -> None:
    """Write a gait as ONNX; see `onnx_model`."""
    model = onnx_model(robot, parameters, gait=gait)
    with replace_file(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def export_deploy_yaml(robot: Robot, path: Path) -> None:
    """Write `deploy_yaml`."""
    write_text(path, yaml.safe_dump(deploy_yaml(robot), sort_keys=False, default_flow_style=None, width=110))


def onnx_model(robot: Robot, parameters: np.ndarray, *, gait: str) -> onnx.ModelProto:
    """A gait as a graph with the output `actions` (1, a), in [-1, 1].

    Its input is `obs` (1, o) of a network, and of a gait that repeats itself `phase` (1, 1): the time since
    the start in periods, of which whole ones do not count. A gait with reflexes takes both. All are float32.
    Actions hold for a control step.

    Args:
        robot: whole.
        parameters: of its controller, (p,).
        gait: what to call it.
    """
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise SurefootError(
            "ONNX is written with onnx, which is not installed: pip install 'surefoot[robot]'"
        ) from error
    controller = robot.controller
    parameters = controller.checked_parameters(parameters)
    if not np.isfinite(parameters).all():
        raise InvalidValueError("the gait's parameters are not finite: choose another one")
    table = controller.period(parameters)
    if table is not None:
        graph = _periodic_graph(table, controller.reactions(parameters))
    elif controller.layers:
        graph = _network_graph(controller, parameters)
    else:
        raise InvalidValueError(
            f"controllers of the kind {controller.label!r} cannot be written as ONNX: networks and "
            "gaits that repeat themselves can"
        )
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=_IR, producer_name="surefoot")
    helper.set_model_props(model, _metadata(robot, gait, 0 if table is None else len(table)))
    checker.check_model(model)
    return model


def _network_graph(controller: Controller, parameters: np.ndarray) -> onnx.GraphProto:
    """Layers of y = tanh(x W + b)."""
    from onnx import helper, numpy_helper

    nodes, constants, place, x = [], [], 0, "obs"
    last = len(controller.layers) - 2
    for number, (inputs, outputs) in enumerate(pairwise(controller.layers)):
        weights, place = parameters[place : place + inputs * outputs], place + inputs * outputs
        biases, place = parameters[place : place + outputs], place + outputs
        w, b, s, y = (f"{name}{number}" for name in ("weights", "biases", "sum", "layer"))
        constants += [
            numpy_helper.from_array(weights.reshape(inputs, outputs), w),
            numpy_helper.from_array(biases, b),
        ]
        y = "actions" if number == last else y
        nodes += [helper.make_node("Gemm", [x, w, b], [s]), helper.make_node("Tanh", [s], [y])]
        x = y
    return _graph(nodes, constants, {"obs": controller.observation_dim}, controller.action_dim)


def _periodic_graph(table: np.ndarray, reactions: tuple[np.ndarray, np.ndarray] | None) -> onnx.GraphProto:
    """The row of a table for the share of the period that has passed, and what reflexes make of it."""
    from onnx import TensorProto, helper, numpy_helper

    samples, action_dim = table.shape
    constants = [
        numpy_helper.from_array(np.ascontiguousarray(table, np.float32), "table"),
        numpy_helper.from_array(np.array([samples], np.float32), "samples"),
        numpy_helper.from_array(np.array([_EARLY], np.float32), "early"),
        numpy_helper.from_array(np.array([samples], np.int64), "count"),
        numpy_helper.from_array(np.array([1], np.int64), "flat"),
    ]
    nodes = [
        helper.make_node("Reshape", ["phase", "flat"], ["whole_phase"]),
        helper.make_node("Floor", ["whole_phase"], ["periods"]),
        helper.make_node("Sub", ["whole_phase", "periods"], ["share"]),
        helper.make_node("Mul", ["share", "samples"], ["exact_step"]),
        helper.make_node("Add", ["exact_step", "early"], ["late_step"]),
        helper.make_node("Floor", ["late_step"], ["step"]),
        helper.make_node("Cast", ["step"], ["index"], to=TensorProto.INT64),
        helper.make_node("Mod", ["index", "count"], ["row"]),  # a share that rounds up begins anew
        helper.make_node("Gather", ["table", "row"], ["signals" if reactions else "actions"], axis=0),
    ]
    inputs = {"phase": 1}
    if reactions:
        inputs["obs"] = len(reactions[0])
        numbers = {name: np.array(number, np.float32) for name, number in _LIMITS.items()}
        constants += [
            numpy_helper.from_array(array, name)
            for name, array in zip(
                ("strides", "offsets", *numbers), (*reactions, *numbers.values()), strict=True
            )
        ]
        nodes += [
            helper.make_node("MatMul", ["obs", "strides"], ["longer"]),
            helper.make_node("Add", ["longer", "one"], ["stride"]),
            helper.make_node("Clip", ["stride", "zero", "two"], ["limited_stride"]),
            helper.make_node("Mul", ["signals", "limited_stride"], ["strode"]),
            helper.make_node("MatMul", ["obs", "offsets"], ["offset"]),
            helper.make_node("Add", ["strode", "offset"], ["free_actions"]),
            helper.make_node("Clip", ["free_actions", "minus_one", "one"], ["actions"]),
        ]
    return _graph(nodes, constants, inputs, action_dim)


def _graph(
    nodes: list[Any], constants: list[Any], inputs: Mapping[str, int], outputs: int
) -> onnx.GraphProto:
    """A graph from rows of numbers to another; a batch of one, as runtimes in C++ need it."""
    from onnx import TensorProto, helper

    x = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in inputs.items()]
    y = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, outputs])
    return helper.make_graph(nodes, "gait", x, [y], constants)


def _metadata(robot: Robot, gait: str, samples: int) -> dict[str, str]:
    """What mjlab's exports tell, under its keys, at full precision; then what they do not."""
    face, entries = Interface.of(robot), robot.entries if robot.controller.closed_loop else ()
    kp, kd = face.kp.tolist(), face.kd.tolist()
    return {
        "run_path": "surefoot",
        "joint_names": ",".join(robot.description.joints),
        "joint_stiffness": _csv(kp),
        "joint_damping": _csv(kd),
        "default_joint_pos": _csv(face.offset.tolist()),
        "command_names": "speed,turn" if robot.description.observations.commanded else "",
        "action_scale": _csv(face.action_scale.tolist()),
        "observation_names": ",".join(entry.label.replace(",", "") for entry in entries),
        "observation_terms_scale": _csv(entry.scale for entry in entries),
        "observation_terms_clip": ",".join("{};{}".format(*_seen_range(entry)) for entry in entries),
        "observation_terms_history_length": ",".join("0" for _ in entries),
        "observation_terms_flatten_history_dim": ",".join("1" for _ in entries),
        "kp": json.dumps(kp),
        "kd": json.dumps(kd),
        "surefoot": json.dumps(_details(face, gait, samples), allow_nan=False),
    }


def _details(face: Interface, gait: str, samples: int) -> dict[str, Any]:
    """Units, frames, rates, order and normalisation."""
    robot, limits = face.robot, [None if np.isinf(limit) else limit for limit in face.limit.tolist()]
    joints = [robot.physics.joint(name).type[0] for name in robot.description.joints]
    slides = np.array(joints) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    columns = {
        "joint": robot.description.joints,
        "motor": face.motors.tolist(),
        "kind": ["position" if servo else "torque" for servo in face.servos],
        "unit": np.where(face.servos, np.where(slides, "m", "rad"), np.where(slides, "N", "N m")).tolist(),
        "offset": np.where(face.servos, face.offset, face.torque_offset).tolist(),
        "scale": face.action_scale.tolist(),
        "kp": face.kp.tolist(),
        "kd": face.kd.tolist(),
        "torque_limit": limits,
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    seen = [entry._asdict() for entry in robot.entries] if robot.controller.closed_loop else []
    return {
        "format": 1,
        "robot": robot.name,
        "model": face.model_hash,
        "gait": gait,
        "control_step": robot.control_step,
        "physics_step": robot.physics.opt.timestep,
        "period": samples * robot.control_step or None,
        "input": ", ".join(["phase: time since the start / period"] * bool(samples) + ["obs"] * bool(seen)),
        "frames": _FRAMES,
        "imu": robot.description.observations.imu,
        "start": start_positions(robot).tolist(),
        "normalisation": f"obs = clip(scale * (quantity - zero), -{_CLIP}, {_CLIP}) of lag control steps "
        "ago; no running statistics",
        "observation": seen,
        "law": "position: torque = kp * (offset + scale * action - q) - kd * dq; torque: torque = offset + "
        "scale * action - kd * dq; limited to +- torque_limit",
        "actions": rows,
    }


def _seen_range(entry: Entry) -> list[float]:
    """What other runtimes clip a number of an observation to [its unit]: they scale it only afterwards."""
    return [-_CLIP / abs(entry.scale), _CLIP / abs(entry.scale)]


def _csv(numbers: Iterable[float]) -> str:
    return ",".join(repr(float(number)) for number in numbers)


def deploy_yaml(robot: Robot) -> dict[str, Any]:
    """What the `deploy.yaml` of Unitree's RL deployment holds.

    Gains are in the order of the robot's motors, everything else in that of the actions; `joint_ids_map` has
    the motor of each action. The runtime clips a target after scale and offset, in rad (or m), but an
    observation before its scale: each clip is in these units, and changes nothing of a gait.
    """
    face = Interface.of(robot)
    count = len(face.motors)
    if not face.servos.all():
        names = [
            joint for joint, servo in zip(robot.description.joints, face.servos, strict=True) if not servo
        ]
        raise InvalidValueError(
            f"deploy.yaml is for servos, but {names[0]} of {robot.name} is told torques: give it a stiffness "
            "under servos in its YAML"
        )
    if sorted(face.motors.tolist()) != list(range(count)):
        raise InvalidValueError(
            f"deploy.yaml needs one motor for each of the {count} actions of {robot.name}"
        )
    by_motor = np.argsort(face.motors)
    observations = {
        entry.label: {"params": {}, "clip": _seen_range(entry), "scale": [entry.scale], "history_length": 1}
        for entry in (robot.entries if robot.controller.closed_loop else ())
    }
    return {
        "joint_ids_map": face.motors.tolist(),
        "step_dt": robot.control_step,
        "stiffness": face.kp[by_motor].tolist(),
        "damping": face.kd[by_motor].tolist(),
        "default_joint_pos": face.offset.tolist(),
        "commands": {},
        "actions": {
            "JointPositionAction": {
                "clip": np.sort([face.offset - face.scale, face.offset + face.scale], axis=0).T.tolist(),
                "joint_names": [".*"],
                "scale": face.scale.tolist(),
                "offset": face.offset.tolist(),
                "joint_ids": None,
            }
        },
        "observations": observations,
    }
