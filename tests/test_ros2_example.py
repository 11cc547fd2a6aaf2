"""The node of examples/ros2, with messages as a package of ROS 2's own reads them from a log."""

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest
import yaml

import surefoot
from robots.deployment.deployment import deploy
from robots.link.export import onnx_model, write_onnx
from robots.link.telemetry import write_mcap
from tests.robots.link.test_export import quadruped, random_gait

ROS2 = Path(__file__).parent.parent / "examples/ros2"
GAIT = runpy.run_path(str(ROS2 / "gait_node.py"))["Gait"]


def messages(path: Path) -> list[dict]:
    """The messages of each control step, by topic."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    found: dict[int, dict] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            found.setdefault(message.log_time, {})[channel.topic] = decoded
            if channel.topic in ("/joint_states", "/imu"):
                assert schema.name == f"sensor_msgs/msg/{'Imu' if channel.topic == '/imu' else 'JointState'}"
    return [found[time] for time in sorted(found)]


def test_messages_of_a_log_lead_to_what_motors_were_told(tmp_path: Path) -> None:
    robot = quadruped("{terms: [gravity, gyroscope, roll, pitch, joint_position, joint_speed, command]}")
    robot, solution = robot.with_command(0.3, -0.2), random_gait(robot)
    telemetry = deploy(robot, solution, seconds=1, seed=1)
    write_mcap(telemetry, tmp_path / "walk.mcap", gait="gait")
    write_onnx(tmp_path / "gait.onnx", onnx_model(robot, solution, gait="gait"))
    gait, log = GAIT(str(tmp_path / "gait.onnx")), messages(tmp_path / "walk.mcap")
    scale = np.array([one["scale"] for one in gait.told["actions"]])
    offset = np.array([one["offset"] for one in gait.told["actions"]])
    assert len(log) == len(telemetry) > 20
    for now, after in itertools.pairwise(log):
        names = now["/joint_states"].name
        for field in ("name", "position", "velocity"):  # ROS promises no order
            setattr(now["/joint_states"], field, list(getattr(now["/joint_states"], field))[::-1])
        assert list(now["/joint_states"].name) == list(names)[::-1]
        told = gait.targets(now["/joint_states"], now["/imu"], (0.3, -0.2))
        sent = offset + scale * np.clip(after["/control_step"].action, -1, 1)
        np.testing.assert_allclose(told, sent, atol=1e-4)


def test_the_controllers_name_the_joints_in_the_order_of_targets(tmp_path: Path) -> None:
    gaits = surefoot.load("hexapod")
    best = gaits.gaits.solutions[gaits.find("best")]
    write_onnx(tmp_path / "gait.onnx", onnx_model(gaits.robot, best, gait="best"))
    gait = GAIT(str(tmp_path / "gait.onnx"))
    assert gait.controllers == (ROS2 / "controllers.yaml").read_text()
    told = yaml.safe_load(gait.controllers)["gait_controller"]["ros__parameters"]
    assert told == {"interface_name": "position", "joints": list(gaits.robot.description.joints)}
    pairs = zip(
        gait.told["actions"], deploy(gaits.robot, best, seconds=0.02, seed=1).commands[0], strict=True
    )
    expected = [one["offset"] + one["scale"] * action for one, action in pairs]
    assert gait.targets(None, None) == pytest.approx(expected, abs=1e-5)
