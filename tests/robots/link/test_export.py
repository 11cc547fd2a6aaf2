"""Exported gaits do on other runtimes what the simulation does, and say what a robot must be told."""

import copy
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import onnx
import onnxruntime
import pytest
import yaml
from scipy.spatial.transform import Rotation

from robots.errors import InvalidValueError
from robots.importing.policies import with_policy
from robots.link.export import onnx_model, unitree_files, write_deploy_yaml, write_onnx
from robots.motors import motor_of
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper
from tests.robots.controllers import test_policy
from tests.robots.link.unitree_runtime import Runtime
from tests.robots.stepping import begun

SEEN = (
    "{terms: [gravity, {term: gyroscope, delay: 1}, {term: joint_position, history: 3}, "
    "{term: joint_speed, scale: 0.07, history: 2}, {term: last_action, history: 2}, command]}"
)
MORE = (
    "{preset: proprioception, terms: [{term: clock, period: 0.6}, heading_error, command, roll, "
    "{term: pitch, delay: 3}]}"
)
COMMANDED = "\ncommand: {speed: [0.1, 0.5], turn: [-0.4, 0.5]}\n"


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def quadruped(observations: str) -> Robot:
    """With networks that see something else."""
    known = load_robot("quadruped")
    text = re.sub(r"(?m)^observations:.*$", f"observations: {observations}", known.yaml)
    text = re.sub(r"(?ms)^controller:.*?(?=^\w|\Z)", "controller: {kind: mlp, hidden: [8]}\n", text)
    return robot_from_text(known.xml, text + COMMANDED, origin="it")


def sensed(stepper: Stepper, data: mujoco.MjData) -> dict[str, float]:
    """What encoders and an IMU in the torso's frame tell, read off MuJoCo's own state, and the command."""
    robot = stepper.robot
    data.qpos[:], data.qvel[:] = stepper.data.qpos, stepper.data.qvel
    turned = Rotation.from_quat(data.qpos[3:7], scalar_first=True)
    yaw, pitch, roll = turned.as_euler("ZYX")
    found = {"heading": yaw, "pitch": pitch, "roll": roll}
    down = turned.inv().apply([0, 0, -1])
    for axis, name in enumerate("xyz"):
        found |= {f"gravity {name}": down[axis], f"gyroscope {name}": data.qvel[3 + axis]}
    for joint in robot.description.joints:
        found[f"{joint} position"] = data.joint(joint).qpos[0]
        found[f"{joint} speed"] = data.joint(joint).qvel[0]
    found["commanded speed"] = stepper.tally.commanded_speed
    found["commanded turn"] = stepper.tally.commanded_turn
    return found


def channels_of(stepper: Stepper) -> dict[str, float]:
    """What the sensors of any robot read, in the units of quantities."""
    known = zip(stepper.robot.channels, stepper.state.readings, strict=True)
    return {channel.name: reading / channel.gain + channel.zero for channel, reading in known}


def differences(robot: Robot, parameters: np.ndarray, steps: int = 120):
    """How far actions of the exported gait are from the simulated one's at most, and what its file tells."""
    gait = session(onnx_model(robot, parameters, gait="row 3"))
    told = json.loads(gait.get_modelmeta().custom_metadata_map["surefoot"])
    stepper, worst = begun(robot, 3), 0.0
    data = mujoco.MjData(robot.physics)
    feeds = {given.name: np.zeros(given.shape, np.float32) for given in gait.get_inputs()}
    for _ in range(steps):
        known = sensed(stepper, data) if robot.name != "ant" else channels_of(stepper)
        if "obs" in feeds:
            feeds["obs"] = np.array([[known[column["name"]] for column in told["obs"]]], np.float32)
        actions, targets, *kept = gait.run(None, feeds)
        if kept:
            feeds["state"] = kept[0]
        wanted = stepper.action(parameters)
        worst = max(worst, float(np.abs(actions[0] - wanted).max()))
        sent = [one["offset"] + one["scale"] * a for one, a in zip(told["actions"], wanted, strict=True)]
        assert targets[0] == pytest.approx(sent, abs=1e-4)
        stepper.step(wanted)
    return worst, told


def random_gait(robot: Robot) -> np.ndarray:
    """Networks with weights of a usual size, and others anywhere."""
    rng, scale = np.random.default_rng(1), 0.3 if robot.controller.layers else 0.8
    return (scale * rng.uniform(-1, 1, robot.controller.parameter_count)).astype(np.float32)


@pytest.mark.parametrize(
    ("robot", "sees"),
    [
        (load_robot("ant").with_controller("mlp-28-4-8"), 28),
        (load_robot("hexapod"), 0),
        (load_robot("quadruped"), None),
        (quadruped(SEEN), 3 + 3 + 12 + 12 + 2),
        (quadruped(MORE), 3 + 3 + 1 + 12 + 12 + 2 + 2),
    ],
    ids=["network", "periodic", "reflexes", "history", "clock"],
)
def test_a_gait_does_what_the_simulation_does(robot: Robot, sees: int | None) -> None:
    worst, told = differences(robot, random_gait(robot))
    assert worst < 1e-5
    assert sees is None or len(told["obs"]) == sees


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_gait_around_a_policy_takes_it_along(mirrored: bool, tmp_path) -> None:
    robot = test_policy.around_a_policy(tmp_path)
    parameters = random_gait(robot)
    parameters[-1] = 10.0 * mirrored
    assert differences(robot, parameters)[0] < 1e-5


def test_a_gait_around_a_policy_with_a_memory_is_refused(tmp_path) -> None:
    (tmp_path / "policy.onnx").write_bytes(test_policy.recurrent())
    robot = with_policy(load_robot("quadruped"), tmp_path / "policy.onnx")
    with pytest.raises(InvalidValueError, match="other operators"):
        onnx_model(robot, random_gait(robot), gait="row 3")


def test_files_are_for_runtimes_of_years_ago() -> None:
    model = onnx_model(load_robot("hexapod"), random_gait(load_robot("hexapod")), gait="row 3")
    assert [opset.version for opset in model.opset_import] == [13]
    assert model.ir_version == 7


def limited(robot: Robot, rate: float | None, reach: float = 1.0) -> Robot:
    """A robot that declares a rate [rad/s], and whose servos were trained to go so many times as far."""
    content = yaml.safe_load(robot.yaml) | ({"target_rate": rate} if rate else {})
    content["servos"] = {
        joint: {"range": (ends.mean() + reach * (ends - ends.mean())).tolist()}
        for joint, ends in zip(robot.description.joints, robot.targets, strict=True)
    }
    return robot_from_text(robot.xml, yaml.safe_dump(content), origin="it")


@pytest.mark.parametrize(("declared", "given"), [(None, 3.0), (3.0, np.inf), (3.0, 5.0), (5.0, 3.0)])
def test_targets_change_no_faster_than_a_declared_rate(declared: float | None, given: float) -> None:
    known, most = load_robot("hexapod"), 3.0  # [rad/s]
    robot = limited(known, declared)
    free = session(onnx_model(known, random_gait(known), gait="row 3"))
    slow = session(onnx_model(robot, random_gait(robot), gait="row 3", rate=given))
    assert json.loads(slow.get_modelmeta().custom_metadata_map["surefoot"])["rate"] == most
    targets = []
    for gait in (free, slow):
        state = np.zeros(gait.get_inputs()[0].shape, np.float32)
        made = []
        for _ in range(100):
            row, state = gait.run(["targets", "next_state"], {"state": state})
            made.append(row[0])
        targets.append(np.array(made))
    wanted, told = targets
    np.testing.assert_array_equal(told[0], wanted[0])
    step = most * robot.control_step
    assert np.abs(np.diff(wanted, axis=0)).max() > 2 * step
    assert np.abs(np.diff(told, axis=0)).max() < step * 1.0001
    np.testing.assert_allclose(told[1:], np.clip(wanted[1:], told[:-1] - step, told[:-1] + step), atol=1e-6)


def _reversed_motors(robot: Robot) -> Robot:
    """Its joints in the opposite order of its motors, each of another stiffness."""
    physics = copy.copy(robot.physics)
    physics.actuator_gainprm[:, 0] = 10.0 + np.arange(physics.nu) / 3
    physics.actuator_biasprm[:, 1] = -physics.actuator_gainprm[:, 0]
    joints = robot.description.joints[::-1]
    description = robot.description.model_copy(update={"joints": joints})
    return replace(robot, description=description, physics=physics, joint_ranges=robot.joint_ranges[::-1])


def _turned_around(robot: Robot) -> Robot:
    """A robot whose servos go the other way."""
    physics = copy.copy(robot.physics)
    physics.actuator_gear[:, 0] *= -1
    return replace(robot, physics=physics, joint_ranges=-robot.joint_ranges[:, ::-1])


def _told_speeds(robot: Robot) -> Robot:
    """A robot whose servos hold speeds: `<velocity kv="2" ctrlrange="-3 5"/>`, compiled."""
    physics = copy.copy(robot.physics)
    physics.actuator_gainprm[:, 0], physics.actuator_biasprm[:, :3] = 2.0, (0, 0, -2.0)
    physics.actuator_ctrlrange[:] = -3, 5
    return replace(robot, physics=physics)


def ends_of(robot: Robot) -> tuple[list[int], np.ndarray]:
    """The motor of each joint, and to which positions an action of -1 and of 1 sends it [rad]."""
    motors, physics = [motor_of(robot.physics, joint) for joint in robot.description.joints], robot.physics
    return motors, physics.actuator_ctrlrange[motors] / physics.actuator_gear[motors, :1]


def walk_with_unitree(robot: Robot, parameters: np.ndarray, steps: int = 100) -> Runtime:
    """Drive a robot by the simulation and ask Unitree's runtime for the same targets, to 0.00001 rad."""
    with tempfile.TemporaryDirectory() as folder:  # the runtime is given what is written
        policy, deploy = Path(folder, "exported/policy.onnx"), Path(folder, "params/deploy.yaml")
        policy.parent.mkdir()
        deploy.parent.mkdir()
        model, told = unitree_files(robot, parameters, gait="row 3")
        write_onnx(policy, model)
        write_deploy_yaml(deploy, told)
        runtime = Runtime(Path(folder))
    stepper = begun(robot, 3)
    data, (motors, ends) = mujoco.MjData(robot.physics), ends_of(robot)
    for step in range(steps):
        known = sensed(stepper, data)
        q, dq = np.zeros((2, len(motors)))
        for joint, motor in zip(robot.description.joints, motors, strict=True):
            q[motor], dq[motor] = known[f"{joint} position"], known[f"{joint} speed"]
        down, rates = ([known[f"{what} {axis}"] for axis in "xyz"] for what in ("gravity", "gyroscope"))
        runtime.sensed = {"q": q, "dq": dq, "gravity": np.array(down), "gyroscope": np.array(rates)}
        runtime.command(known["commanded speed"], 0.0, known["commanded turn"])
        if not step:
            runtime.reset()
        action, sent = stepper.action(parameters), runtime.step()
        trained = ends[:, 0] + np.diff(ends)[:, 0] * (action + 1) / 2
        np.testing.assert_allclose(sent[motors], trained, atol=1e-5)
        stepper.step(action)
    return runtime


@pytest.mark.parametrize(
    "robot",
    [
        load_robot("hexapod"),
        _reversed_motors(load_robot("hexapod")),
        quadruped(SEEN),
        _turned_around(quadruped(SEEN)),
    ],
    ids=["periodic", "reversed", "network", "turned"],
)
def test_unitrees_runtime_sends_motors_where_the_simulation_does(robot: Robot) -> None:
    parameters = random_gait(robot)
    told = walk_with_unitree(robot, parameters).told
    for joint, motor in zip(robot.description.joints, told["joint_ids_map"], strict=True):
        actuator = motor_of(robot.physics, joint)
        assert motor == actuator
        assert told["stiffness"][motor] == -robot.physics.actuator_biasprm[actuator, 1]
        assert told["damping"][motor] == -robot.physics.actuator_biasprm[actuator, 2]


@pytest.mark.parametrize("robot", [load_robot("hexapod"), limited(load_robot("hexapod"), None, 9.0)])
def test_targets_keep_to_their_joints_whatever_a_runtime_does(robot: Robot) -> None:
    term = unitree_files(robot, random_gait(robot), gait="row 3")[1]["actions"]["JointPositionAction"]
    joints = [robot.physics.joint(joint).range for joint in robot.description.joints]
    low, high = np.transpose(joints)
    ends = np.clip(np.sort(ends_of(robot)[1], axis=1).T, low, high).T
    np.testing.assert_allclose(term["clip"], ends)
    gait = session(onnx_model(robot, random_gait(robot), gait="row 3"))
    state, made = np.zeros(gait.get_inputs()[0].shape, np.float32), []
    for _ in range(50):
        targets, actions, state = gait.run(["targets", "actions", "next_state"], {"state": state})
        made.append(targets[0])
        wanted = term["offset"] + actions[0] * term["scale"]
        np.testing.assert_allclose(targets[0], np.clip(wanted, low, high), atol=1e-6)
    assert (np.ptp(made, axis=0) > 0.1).any()
    told = json.loads(gait.get_modelmeta().custom_metadata_map["surefoot"])["actions"]
    np.testing.assert_allclose([one["range"] for one in told], joints)


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (quadruped("{terms: [gravity, {term: clock, period: 0.6}]}"), "knows no clock"),
        (limited(load_robot("hexapod"), 3.0), "declares a target_rate of 3"),
        (load_robot("ant"), "is for servos, but .* is told torques"),
    ],
    ids=["clock", "rate", "torques"],
)
def test_what_unitrees_runtime_has_not_is_refused(robot: Robot, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        unitree_files(robot, random_gait(robot), gait="row 3")


def test_metadata_say_at_full_precision_what_is_simulated(ant: Robot, controllers: np.ndarray) -> None:
    hexapod = _reversed_motors(load_robot("hexapod"))
    told = session(onnx_model(hexapod, random_gait(hexapod), gait="row 3")).get_modelmeta()
    known = told.custom_metadata_map
    joints, details = known["joint_names"].split(","), json.loads(known["surefoot"])
    for joint, kp, action in zip(joints, json.loads(known["kp"]), details["actions"], strict=True):
        assert kp == -hexapod.physics.actuator_biasprm[motor_of(hexapod.physics, joint), 1] == action["kp"]
    assert [float(kp) for kp in known["joint_stiffness"].split(",")] == json.loads(known["kp"])
    assert (details["control_step"], details["obs"]) == (0.02, [])
    network = session(onnx_model(ant, controllers[0], gait="row 3")).get_modelmeta().custom_metadata_map
    assert len(network["observation_names"].split(",")) == 28
    assert {action["kind"] for action in json.loads(network["surefoot"])["actions"]} == {"torque"}


@pytest.mark.parametrize(
    "robot",
    [load_robot("ant"), load_robot("quadruped"), _told_speeds(load_robot("quadruped"))],
    ids=["torques", "positions", "speeds"],
)
def test_the_law_of_a_file_gives_the_torques_of_mujoco(robot: Robot) -> None:
    gait = session(onnx_model(robot, random_gait(robot), gait="row 3"))
    told = json.loads(gait.get_modelmeta().custom_metadata_map["surefoot"])["actions"]
    data, rng = mujoco.MjData(robot.physics), np.random.default_rng(0)
    for action in rng.uniform(-1, 1, (20, len(told))):
        data.qpos[7:] = rng.normal(0, 0.3, robot.physics.nq - 7)
        data.qvel[6:] = rng.normal(0, 3, robot.physics.nv - 6)
        low, high = robot.physics.actuator_ctrlrange[[one["motor"] for one in told]].T
        data.ctrl[[one["motor"] for one in told]] = low + (high - low) * (action + 1) / 2
        mujoco.mj_forward(robot.physics, data)
        for share, one in zip(action, told, strict=True):
            joint, target = data.joint(one["joint"]), one["offset"] + one["scale"] * share
            wanted = one["kp"] * (target - joint.qpos[0]) if one["kind"] == "position" else target
            limit = one["torque_limit"] or np.inf
            torque = np.clip(wanted - one["kd"] * joint.qvel[0], -limit, limit)
            assert torque == pytest.approx(joint.qfrc_actuator[0], abs=1e-6)


def test_a_gait_that_is_not_finite_is_refused(ant: Robot, controllers: np.ndarray) -> None:
    with pytest.raises(InvalidValueError, match="not finite"):
        onnx_model(ant, controllers[0] * np.nan, gait="row 1")
