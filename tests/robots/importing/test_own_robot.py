"""A robot of one's own: the pose it starts in, its ranges, its actuators."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from dogs import dog, write_dog

from robots.errors import InvalidFileError, InvalidRobotError, UnknownNameError
from robots.facts import actuation_words
from robots.importing.checks import check_robot
from robots.importing.draft import draft_robot
from robots.robot import Robot, find_robot, load_robot, read_robot
from robots.stance import standing_on_floor
from tests.robots.stepping import begun

POSE = [0.5, -0.9] * 4
HIP = "front_left_hip"
PLAIN = {"kind": "periodic", "period": 0.5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the draft of a robot, without what it has servos told."""
    path = draft_robot(write_dog(tmp_path)).path
    changed(path, servos=None)
    return path


def changed(path: Path, **changes: object) -> Robot:
    """The robot with other values in its YAML; None takes a key out."""
    content = yaml.safe_load(path.read_text()) | changes
    content = {key: value for key, value in content.items() if value is not None}
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return read_robot(path)


def first_state(robot: Robot, seed: int = 1) -> np.ndarray:
    return begun(robot, seed).data.qpos.copy()


def test_episodes_start_in_the_pose_of_the_keyframe_but_for_what_the_yaml_gives(path: Path) -> None:
    robot = changed(path, reset_joint_noise=0.0)
    np.testing.assert_allclose(first_state(robot), [0, 0, 0.365, 1, 0, 0, 0, *POSE])
    np.testing.assert_allclose(standing_on_floor(robot).qpos[7:], POSE)
    start = {"trunk_joint_0": [0, 0, 0.5, 1, 0, 0, 0], "front_left_hip": 0.2}
    other = changed(path, start=start)
    np.testing.assert_allclose(first_state(other), [0, 0, 0.5, 1, 0, 0, 0, 0.2, *POSE[1:]])
    without = changed(path, start=None, keyframe=None)
    np.testing.assert_allclose(first_state(without), [0, 0, 0.4, 1, 0, 0, 0, *[0] * 8])


def test_a_robot_that_lost_a_joint_or_a_leg_starts_in_the_rest_of_the_pose(path: Path) -> None:
    robot = changed(path, reset_joint_noise=0.0)

    def lock(spec: mujoco.MjSpec) -> None:
        spec.delete(next(actuator for actuator in spec.actuators if actuator.target == "front_left_knee"))
        spec.delete(spec.joint("front_left_knee"))

    np.testing.assert_allclose(first_state(robot.modified("locked", lock))[7:], [0.5, *POSE[2:]])
    lost = robot.modified("lost", lambda spec: spec.delete(spec.body("front_left_thigh")))
    np.testing.assert_allclose(first_state(lost)[7:], POSE[2:])


def test_ranges_limit_joints_and_what_their_servos_are_told(path: Path) -> None:
    robot = changed(path, ranges={"front_left_hip": [-0.2, 0.6]})
    assert robot.joint_ranges[:2] == pytest.approx(np.array([[-0.2, 0.6], [-np.pi / 3, np.pi / 3]]), rel=1e-4)
    for model in (robot.model, robot.physics, robot.modified("nothing", lambda spec: None).physics):
        assert model.joint("front_left_hip").range == pytest.approx([-0.2, 0.6])
        assert model.actuator_ctrlrange[0] == pytest.approx([-0.2, 0.6])
        assert model.actuator_ctrlrange[1] == pytest.approx([-np.pi / 3, np.pi / 3], rel=1e-4)


def test_a_geared_servo_is_told_what_its_joint_shall_reach(tmp_path: Path) -> None:
    xml = dog('    <position joint="{}" gear="-2" ctrlrange="-1 1" inheritrange="0"/>\n')
    path = draft_robot(write_dog(tmp_path, xml)).path
    robot = changed(path, servos=None, ranges={"front_left_hip": [-0.2, 0.6]})
    assert robot.physics.actuator_ctrlrange[0] == pytest.approx([-1.2, 0.4])


def test_servos_are_told_positions_and_motors_become_servos_of_the_same_greatest_torque(path: Path) -> None:
    (path.parent / "dog.xml").write_text(dog('    <motor joint="{}" gear="-4" ctrlrange="-5 5"/>\n'))
    hip = {"range": [0.2, 0.6], "stiffness": 40.0}
    robot = changed(path, servos={"front_left_hip": hip})
    for model in (robot.model, robot.modified("nothing", lambda spec: None).physics):
        np.testing.assert_allclose(model.actuator_ctrlrange[:2], [[0.2, 0.6], [-5, 5]])
        np.testing.assert_allclose(model.actuator_forcerange[0], [-20, 20])
        np.testing.assert_allclose(model.actuator_gear[:2, 0], [1, -4])
        stiffness, damping = -model.actuator_biasprm[0, 1:3]
        inertia = 1 / model.actuator_acc0[0]  # what a unit of force accelerates
        assert stiffness == model.actuator_gainprm[0, 0] == 40
        assert damping == pytest.approx(2 * np.sqrt(40 * inertia), rel=0.5)
        assert model.jnt_range[1] == pytest.approx([-np.pi / 3, np.pi / 3], rel=1e-4), "it goes further"
    with pytest.raises(InvalidRobotError, match="'front_left_knee' is no position servo: give servos"):
        changed(path, servos={"front_left_knee": {"range": [0.2, 0.6]}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranges": {"tail": [0, 1]}}, "ranges names the joint 'tail', which is not among its joints: front"),
        ({"ranges": {HIP: [1, 0]}}, r"ranges\.front_left_hip must go from low to high, not from 1 to 0"),
        ({"keyframe": "sit"}, "the MJCF has no keyframe 'sit'; available: home"),
        ({"servos": {HIP: {"range": [1, 0]}}}, r"servos\.front_left_hip must go from low to high, not from"),
        ({"servos": {"tail": {"range": [0, 1]}}}, "servos names the joint 'tail', which is not among its"),
        ({"start": {"tail": 0.5}}, "start names the joint 'tail', which the MJCF lacks: trunk_joint_0"),
        ({"start": {"trunk_joint_0": [0, 0, 0.4]}}, r"start\.trunk_joint_0 must have 7 numbers, not 3"),
    ],
)
def test_what_the_mjcf_lacks_is_refused(path: Path, changes: dict, message: str) -> None:
    with pytest.raises(InvalidRobotError, match=message):
        changed(path, **changes)


@pytest.mark.parametrize(
    ("actuator", "message"),
    [
        (
            'motor joint="{}" ctrlrange="-1 1"',
            r"ranges: \{front_left_hip: .*: front_left_hip, front_left_knee,",
        ),
        ('motor joint="{}"', "actuators of these joints need a ctrlrange .*: front_left_hip, front_left_"),
        ('muscle joint="{}" ctrlrange="0 1"', "the actuator of the joint 'front_left_hip' must be a motor"),
        ('intvelocity joint="{}" actrange="-1 1" ctrlrange="-1 1"', "must be a motor, or a position"),
        ('motor joint="{0}"/><motor joint="{0}"', "one actuator must drive the joint 'front_left_hip', not"),
        ('motor jointinparent="{}"', "not 0; there are actuators that drive a joint in its"),
    ],
)
def test_actuators_and_joints_that_cannot_be_driven_are_refused(
    path: Path, actuator: str, message: str
) -> None:
    xml = dog(f"<{actuator}/>").replace('kp="30" kv="1" inheritrange="1"', "")
    xml = xml.replace('range="-60 60"', "" if "ranges" in message else 'range="-60 60"')
    (path.parent / "dog.xml").write_text(xml)
    with pytest.raises(InvalidRobotError, match=message):
        read_robot(path)


def test_what_looks_wrong_is_said(path: Path) -> None:
    (path.parent / "dog.xml").write_text(dog().replace("0.365 1", "0.1 1"))
    scene, stair = path.parent / "scene.xml", '<geom name="stair" size="0.1" pos="2 0 0"/>'
    scene.write_text(scene.read_text().replace("<worldbody>", "<worldbody>" + stair))
    content = yaml.safe_load(path.read_text())
    joints = [joint for joint in content["joints"] if not joint.startswith("back_left")]
    legs = {name: leg for name, leg in content["legs"].items() if name.startswith("front")}
    high = {**content["alive"], "min_height": 0.182}
    robot = changed(path, joints=joints, legs=legs, controller=PLAIN, alive=high)
    remarks = " ".join(check_robot(robot).remarks)
    for words in (
        "Its lowest foot starts 0.26 m deep in the ground",
        "Its torso starts 0.1 m high, but the robot is alive only above alive.min_height, 0.1",
        "The controller does not drive 2 of the 8 actuators; their control stays 0: number 5, number 6.",
        "Its feet can touch other fixed geoms than the floor (1): stair.",
        "These joints belong to no leg: back_right_hip, back_right_knee.",
        "Half of the random controllers fell within 1 control steps",
    ):
        assert words in remarks


def test_joints_servos_and_feet_that_cannot_work_are_said(path: Path) -> None:
    (path.parent / "dog.xml").write_text(dog('<position joint="{}" inheritrange="0" ctrlrange="-3 3"/>'))
    feet = yaml.safe_load(path.read_text())["feet"] | {"back_left": ["back_left_thigh_geom_0"]}
    remarks = " ".join(check_robot(changed(path, feet=feet, ranges={"back_left_knee": [0.1, 0.5]})).remarks)
    for words in (
        "These joints start outside their ranges: back_left_knee.",
        "accept positions far beyond the ranges of these joints: front_left_hip, front_left_knee",
        "These feet never touched the ground: back_left; does the YAML name the right soles?",
    ):
        assert words in remarks
    assert "back_left_knee; give" not in remarks


def test_actuators_and_stance_are_told(path: Path) -> None:
    facts = check_robot(read_robot(path)).facts
    assert facts["stands"][0] == "front_left: 0.15 m ahead, 0.10 m to the left"
    assert facts["stands"][3] == "back_right: 0.21 m behind, 0.10 m to the right"
    assert facts["body"] == ["6.2 kg; the torso stands 0.361 m high"]
    actuators = actuation_words(read_robot(path))[0]
    assert actuators.startswith("target 0 + action · 1.05, kp 30, kd ")
    assert actuation_words(load_robot("walker"))[0].startswith("forces from -40 to 40: ")


def test_a_robot_is_found_by_name_or_path(path: Path) -> None:
    assert find_robot("ant") is load_robot("ant")
    assert find_robot(str(path)).name == "robo_dog"
    for text, error, message in (
        ("robo_dog", UnknownNameError, "unknown robot 'robo_dog'; available: ant"),
        (str(path.parent), InvalidRobotError, f"YAML files in this folder: {re.escape(str(path))}"),
        (str(path.parent / "scene.xml"), InvalidRobotError, "is an MJCF, .*robots --draft .*scene.xml"),
        (str(path.parent / "cat.yaml"), InvalidFileError, "cannot read"),
    ):
        with pytest.raises(error, match=message):
            find_robot(text)
