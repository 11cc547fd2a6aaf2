"""Exported gaits do what the simulation does, and say what a robot must be told."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

from robots.controllers.periodic import Reflexes
from robots.errors import InvalidValueError
from robots.link.export import deploy_yaml, onnx_model
from robots.link.interface import Interface
from robots.motors import motor_of
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def test_a_network_answers_recorded_observations_alike(ant: Robot, controllers: np.ndarray) -> None:
    model = onnx_model(ant, controllers[0], gait="cell 1,2")
    assert [opset.version for opset in model.opset_import] == [17]
    assert model.ir_version == 8
    gait, stepper, off = session(model), Stepper(ant), []
    stepper.reset(1)
    for _ in range(300):
        observation = stepper.state.observation.copy()
        action = ant.controller.act(controllers[0], observation, 0)
        off.append(gait.run(["actions"], {"obs": observation[None]})[0][0] - action)
        stepper.step(action)
    assert np.abs(off).max() < 1e-5


def test_a_gait_with_reflexes_answers_alike() -> None:
    hexapod = load_robot("hexapod")
    reflexes = Reflexes(left=("left_front",), right=("right_front",), offsets=("pitch", "yaw"))
    robot = hexapod.with_controller(hexapod.description.controller.model_copy(update={"reflexes": reflexes}))
    rng = np.random.default_rng(1)
    parameters = rng.uniform(0, 1, robot.controller.parameter_count).astype(np.float32)
    gait = session(onnx_model(robot, parameters, gait="row 3"))
    for step in range(0, 200, 7):
        phase = np.float32([[step * robot.control_step]])
        observation = rng.uniform(-0.3, 0.3, robot.observation_dim).astype(np.float32)
        found = gait.run(["actions"], {"phase": phase, "obs": observation[None]})[0][0]
        np.testing.assert_allclose(found, robot.controller.act(parameters, observation, step % 50), atol=1e-6)


def test_a_periodic_gait_answers_alike_in_every_step_of_any_period() -> None:
    robot = load_robot("hexapod")
    parameters = robot.controller.initial(np.random.default_rng(1))
    gait = session(onnx_model(robot, parameters, gait="row 3"))
    for step in range(-60, 1000, 7):
        phase = np.float32([[step * robot.control_step]])  # its period is 1 s
        found = gait.run(["actions"], {"phase": phase})[0][0]
        np.testing.assert_array_equal(found, robot.controller.act(parameters, np.zeros(50), step % 50))


def test_metadata_say_at_full_precision_what_is_simulated(ant: Robot, controllers: np.ndarray) -> None:
    hexapod = _reversed_motors(load_robot("hexapod"))
    parameters = hexapod.controller.initial(np.random.default_rng(1))
    told = session(onnx_model(hexapod, parameters, gait="row 3")).get_modelmeta().custom_metadata_map
    joints, details = told["joint_names"].split(","), json.loads(told["surefoot"])
    for joint, kp, action in zip(joints, json.loads(told["kp"]), details["actions"], strict=True):
        assert kp == -hexapod.physics.actuator_biasprm[motor_of(hexapod.physics, joint), 1] == action["kp"]
    assert [float(kp) for kp in told["joint_stiffness"].split(",")] == json.loads(told["kp"])
    assert (details["control_step"], details["period"], details["observation"]) == (0.02, 1.0, [])
    network = session(onnx_model(ant, controllers[0], gait="row 3")).get_modelmeta().custom_metadata_map
    assert (
        len(network["observation_names"].split(","))
        == len(network["observation_terms_scale"].split(","))
        == 28
    )
    assert {action["kind"] for action in json.loads(network["surefoot"])["actions"]} == {"torque"}


def test_named_terms_are_exported_with_the_scale_that_is_simulated(ant: Robot) -> None:
    seen = "{preset: paper, terms: [{term: joint_speed, scale: 0.25, delay: 2}]}"
    robot = robot_from_text(ant.xml, f"{ant.yaml}\nobservations: {seen}\n", origin="test")
    parameters = np.zeros(robot.controller.parameter_count)
    told = session(onnx_model(robot, parameters, gait="row 3")).get_modelmeta().custom_metadata_map
    speeds = len(robot.description.joints)
    assert [float(scale) for scale in told["observation_terms_scale"].split(",")][-speeds:] == [0.25] * speeds
    assert [entry["lag"] for entry in json.loads(told["surefoot"])["observation"]][-speeds:] == [2] * speeds


def _reversed_motors(robot: Robot) -> Robot:
    """Its joints in the opposite order of its motors, each of another stiffness."""
    physics = copy.copy(robot.physics)
    physics.actuator_gainprm[:, 0] = 10.0 + np.arange(physics.nu) / 3
    physics.actuator_biasprm[:, 1] = -physics.actuator_gainprm[:, 0]
    joints = robot.description.joints[::-1]
    description = robot.description.model_copy(update={"joints": joints})
    return replace(robot, description=description, physics=physics, joint_ranges=robot.joint_ranges[::-1])


def test_gains_of_deploy_yaml_are_by_motor_and_targets_go_through_the_map() -> None:
    robot = _reversed_motors(load_robot("hexapod"))
    told, face, action = deploy_yaml(robot), Interface.of(robot), np.linspace(-1, 1, 18)
    term = told["actions"]["JointPositionAction"]
    targets = np.array(term["scale"]) * action + term["offset"]
    motors = [{"kp": kp, "kd": kd} for kp, kd in zip(told["stiffness"], told["damping"], strict=True)]
    for target, motor in zip(targets, told["joint_ids_map"], strict=True):  # as the runtime sends them
        motors[motor]["q"] = target
    for j, joint in enumerate(robot.description.joints):
        motor = motors[motor_of(robot.physics, joint)]
        assert (motor["kp"], motor["kd"]) == (face.kp[j], face.kd[j])
        assert motor["q"] == pytest.approx(face.offset[j] + face.scale[j] * action[j])
    assert told["joint_ids_map"] == list(range(18))[::-1]


def runtimes_target(term: dict, action: np.ndarray) -> np.ndarray:
    """What Unitree's JointAction and Isaac Lab's make of an action: scale and offset first, then the clip."""
    target = np.float32(action) * np.float32(term["scale"]) + np.float32(term["offset"])
    if term["clip"] is None:
        return target
    low, high = np.float32(term["clip"]).T
    return np.minimum(np.maximum(target, low), high)


def runtimes_observation(quantity: float, clip: list[float], scale: float) -> np.float32:
    """What their terms of an observation make of a quantity: they clip it first, and scale it then."""
    return np.float32(scale) * min(max(np.float32(quantity), np.float32(clip[0])), np.float32(clip[1]))


def _turned_around(robot: Robot) -> Robot:
    """A robot whose servos go the other way."""
    physics = copy.copy(robot.physics)
    physics.actuator_gear[:, 0] *= -1
    return replace(robot, physics=physics)


@pytest.mark.parametrize("robot", [load_robot("quadruped"), _turned_around(load_robot("quadruped"))])
def test_a_runtime_that_clips_targets_in_radians_sends_servos_where_training_did(robot: Robot) -> None:
    told, rng = deploy_yaml(robot)["actions"]["JointPositionAction"], np.random.default_rng(1)
    motors = [motor_of(robot.physics, joint) for joint in robot.description.joints]
    low, high = robot.physics.actuator_ctrlrange[motors].T
    gear = robot.physics.actuator_gear[0, 0]
    for action in (np.full(12, -1.0), np.zeros(12), np.ones(12), *rng.uniform(-1, 1, (20, 12))):
        trained = (low + (high - low) * (action + 1) / 2) / gear  # of joint positions, as MuJoCo's controls
        np.testing.assert_allclose(runtimes_target(told, action), trained, atol=1e-6)
    shank = robot.description.joints.index("front_left_shank")
    assert abs(runtimes_target(told, np.zeros(12))[shank]) == pytest.approx(1.8)  # and not 1.0
    wild = runtimes_target(told, np.full(12, 50.0))  # of a runtime gone wrong
    assert (wild <= np.maximum(low, high).max() + 1e-6).all()
    assert (np.sort([low / gear, high / gear], axis=0)[1] >= wild - 1e-6).all()


@pytest.mark.parametrize("scale", [0.05, -0.25, 2.0])
def test_a_runtime_that_clips_quantities_sees_what_training_did(scale: float) -> None:
    scaled = ", ".join(f"{{term: {term}, scale: {scale}}}" for term in ("joint_speed", "gravity"))
    seen = f"{{terms: [{scaled}, last_action, heading, roll, pitch]}}"
    known = load_robot("quadruped")
    described = re.sub(r"(?m)^observations:.*$", f"observations: {seen}", known.yaml)
    robot = robot_from_text(known.xml, described, origin="it")
    terms = deploy_yaml(robot)["observations"]
    parameters = np.zeros(robot.controller.parameter_count)
    told = session(onnx_model(robot, parameters, gait="row 3")).get_modelmeta().custom_metadata_map
    clips = [[float(end) for end in pair.split(";")] for pair in told["observation_terms_clip"].split(",")]
    for entry, clip in zip(robot.entries, clips, strict=True):
        term = terms[entry.label]
        assert clip == pytest.approx(term["clip"])
        for quantity in (-1000.0, -7.0, -0.3, 0.0, 0.3, 7.0, 1000.0):
            trained = np.clip(entry.scale * quantity, -5, 5)
            assert runtimes_observation(quantity, term["clip"], *term["scale"]) == pytest.approx(trained)


def test_what_cannot_be_exported_is_refused(ant: Robot, controllers: np.ndarray) -> None:
    with pytest.raises(InvalidValueError, match="not finite"):
        onnx_model(ant, controllers[0] * np.nan, gait="row 1")
    with pytest.raises(InvalidValueError, match=r"front_left_hip of ant is told torques"):
        deploy_yaml(ant)
