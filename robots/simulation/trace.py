"""The columns of a trace: what a robot's sensors read in every control step of an episode."""

from typing import NamedTuple

from robots.robot import Robot

SENSORS = ("encoders", "currents", "imu", "contacts", "odometry")


class TraceColumns(NamedTuple):
    """Where the parts of a trace begin. The first part is what the controller told each joint."""

    angle: int  # (encoders) of each joint, rescaled to [-1, 1] over the joint's range
    torque: int  # (currents) that the motor of each joint gave [N m or N]
    attitude: int  # (imu) roll, pitch and yaw [rad]
    rate: int  # (imu) rates about the torso's own axes [rad/s]
    contact: int  # (contacts) of each foot, 0 or 1
    position: int  # (odometry) x and y [m]
    end: int  # number of all columns

    @classmethod
    def of(cls, robot: Robot) -> "TraceColumns":
        """The columns of a robot's traces."""
        return trace_columns(robot.action_dim, len(robot.description.feet))


def trace_columns(joints: int, feet: int) -> TraceColumns:
    """The columns of a trace of so many joints and feet; kernels call it too."""
    attitude = 3 * joints
    position = attitude + 6 + feet
    return TraceColumns(joints, 2 * joints, attitude, attitude + 3, attitude + 6, position, position + 2)
