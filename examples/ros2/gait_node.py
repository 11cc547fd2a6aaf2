"""An exported gait as a node of ROS 2, between the broadcasters and a forward controller of ros2_control.

NEVER RUN ON A ROBOT, NOR UNDER ROS: a test feeds it with messages as a log holds them. Hang the robot up.
The gait sees encoders, an IMU along the axes of the torso, and a command. Messages count by the names of
joints in them; the targets are in the order of the joints of the controller.

python gait_node.py gait.onnx --controllers > controllers.yaml    # for the controller manager
python gait_node.py gait.onnx                                     # needs rclpy, sensor_msgs, std_msgs
"""

import json
import sys
from typing import Any

import numpy as np
import onnxruntime

CONTROLLERS = """\
controller_manager:
  ros__parameters:
    update_rate: {rate}  # Hz, that of the servos; targets come every {step:g} s
    joint_state_broadcaster: {{type: joint_state_broadcaster/JointStateBroadcaster}}
    imu_sensor_broadcaster: {{type: imu_sensor_broadcaster/IMUSensorBroadcaster}}
    gait_controller: {{type: forward_command_controller/ForwardCommandController}}
imu_sensor_broadcaster:
  ros__parameters: {{sensor_name: imu, frame_id: torso}}
gait_controller:
  ros__parameters:
    interface_name: {interface}
    joints: [{joints}]  # in the order of the gait's targets
"""


class Gait:
    """An exported gait, fed with `sensor_msgs/JointState` and `Imu`."""

    def __init__(self, path: str) -> None:
        self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.told = json.loads(self._session.get_modelmeta().custom_metadata_map["surefoot"])
        self.joints = [one["joint"] for one in self.told["actions"]]
        self._feeds = {one.name: np.zeros(one.shape, np.float32) for one in self._session.get_inputs()}
        self._outputs = [one.name for one in self._session.get_outputs()]
        self._start: float | None = None  # heading before the first control step

    def targets(self, joints: Any, imu: Any, command: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
        """What motors are told in the next control step after these messages, in the order of `joints`."""
        if "obs" in self._feeds:
            known = self._quantities(joints, imu, command)
            row = [known[column["name"]] for column in self.told["obs"]]
            self._feeds["obs"] = np.array([row], np.float32)
        made = dict(zip(self._outputs, self._session.run(None, self._feeds), strict=True))
        if "state" in self._feeds:
            self._feeds["state"] = made["next_state"]
        return np.asarray(made["targets"][0])

    @property
    def controllers(self) -> str:
        """Parameters of the controller manager, as YAML."""
        kinds = {one["kind"] for one in self.told["actions"]}
        if len(kinds) > 1:
            raise ValueError("one controller takes positions or torques, not both")
        interface, step = {"position": "position", "torque": "effort"}[kinds.pop()], self.told["control_step"]
        rate, names = round(1 / self.told["physics_step"]), ", ".join(self.joints)
        return CONTROLLERS.format(rate=rate, step=step, interface=interface, joints=names)

    def _quantities(self, joints: Any, imu: Any, command: tuple[float, float]) -> dict[str, float]:
        """What messages say, under the names of the file."""
        found = dict(zip(("commanded speed", "commanded turn"), command, strict=True))
        for name, position, speed in zip(joints.name, joints.position, joints.velocity, strict=True):
            found |= {f"{name} position": position, f"{name} speed": speed}
        x, y, z, w = (getattr(imu.orientation, axis) for axis in "xyzw")
        down = 2 * (w * y - x * z), -2 * (w * x + y * z), 2 * (x * x + y * y) - 1
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        self._start = yaw if self._start is None else self._start
        heading = np.arctan2(np.sin(yaw - self._start), np.cos(yaw - self._start))
        found |= {"heading": heading, "roll": np.arctan2(-down[1], -down[2]), "pitch": np.arcsin(down[0])}
        for axis, gravity in zip("xyz", down, strict=True):
            found |= {
                f"gravity {axis}": gravity,
                f"gyroscope {axis}": getattr(imu.angular_velocity, axis),
                f"accelerometer {axis}": getattr(imu.linear_acceleration, axis),
            }
        return found


def spin(gait: Gait) -> None:
    """Tell the controller the targets in each control step, once both messages have come."""
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import Float64MultiArray

    rclpy.init()
    node, newest = rclpy.create_node("gait"), dict[str, Any]()
    out = node.create_publisher(Float64MultiArray, "/gait_controller/commands", 1)

    def keep(kind: str) -> Any:
        return lambda message: newest.update({kind: message})

    node.create_subscription(JointState, "/joint_states", keep("joints"), qos_profile_sensor_data)
    node.create_subscription(Imu, "/imu_sensor_broadcaster/imu", keep("imu"), qos_profile_sensor_data)

    def step() -> None:
        if len(newest) == 2:
            out.publish(Float64MultiArray(data=gait.targets(**newest).tolist()))

    node.create_timer(gait.told["control_step"], step)
    rclpy.spin(node)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--controllers"]):
        sys.exit("it takes a gait: gait_node.py gait.onnx [--controllers]")
    one = Gait(sys.argv[1])
    if sys.argv[2:]:
        print(one.controllers, end="")
    else:
        spin(one)
