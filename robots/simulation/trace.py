"""The columns of a trace: what a robot's sensors read in every control step of an episode."""

from robots.robot import Robot

SENSORS = ("encoders", "currents", "imu", "contacts", "odometry")


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
