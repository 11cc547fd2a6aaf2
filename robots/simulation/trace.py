"""The columns of a trace: what a robot's sensors read in every control step of an episode."""

from typing import NamedTuple

from robots.robot import Robot

SENSORS = ("encoders", "currents", "imu", "contacts", "odometry")


class TraceColumns(NamedTuple):
    """Where the parts of a trace of j joints and f feet begin, in the order of `trace_names`.

    The first part is the action of each joint.

    Attributes:
        angle: of each joint.
        torque: of each joint.
        attitude: roll, pitch and yaw.
        rate: the rate of each.
        contact: of each foot.
        position: x and y.
        end: number of all columns.
    """

    angle: int
    torque: int
    attitude: int
    rate: int
    contact: int
    position: int
    end: int

    @classmethod
    def of(cls, robot: Robot) -> "TraceColumns":
        """The columns of a robot's traces."""
        return trace_columns(robot.action_dim, len(robot.description.feet))


def trace_columns(joints: int, feet: int) -> TraceColumns:
    """The columns of a trace of so many joints and feet; kernels call it too."""
    attitude = 3 * joints
    position = attitude + 6 + feet
    return TraceColumns(joints, 2 * joints, attitude, attitude + 3, attitude + 6, position, position + 2)


def trace_names(robot: Robot) -> tuple[str, ...]:
    """Names of the columns, each with its sensor, before the colon, and its unit in brackets.

    The action of every joint is what the controller said; an angle is what the joint's sensor read, rescaled
    to [-1, 1] over the joint's range, a torque what the motor gave, a rate that about the torso's own axis.
    """
    joints, feet = robot.description.joints, robot.description.feet
    return (
        *(f"command: {joint} action" for joint in joints),
        *(f"encoders: {joint} angle [half ranges]" for joint in joints),
        *(f"currents: {joint} torque [N m]" for joint in joints),
        *(f"imu: {axis} [rad]" for axis in ("roll", "pitch", "yaw")),
        *(f"imu: {axis} rate [rad/s]" for axis in ("roll", "pitch", "yaw")),
        *(f"contacts: {foot} [0 or 1]" for foot in feet),
        *(f"odometry: {axis} [m]" for axis in "xy"),
    )
