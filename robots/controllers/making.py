"""`robot_controller`: the controllers that drive a robot, by its description or by their name."""

from robots.controllers.controller import Controller
from robots.controllers.mlp import MLP
from robots.controllers.periodic import Periodic, whole_samples
from robots.description import MLPShape, PeriodicShape
from robots.errors import InvalidValueError
from robots.robot import Robot


def robot_controller(robot: Robot) -> Controller:
    """The controllers that a robot's description asks for.

    Raises:
        InvalidValueError: they are periodic, and the period is no whole number of control steps.
    """
    shape = robot.description.controller
    if isinstance(shape, MLPShape):
        return MLP((robot.observation_dim, *shape.hidden, robot.action_dim))
    return _periodic(shape, robot)


def with_controller(robot: Robot, name: str) -> Robot:
    """The robot driven by the controllers of a name: its own, or networks such as `mlp-28-128-128-8`.

    Raises:
        InvalidValueError: they do not fit the robot.
    """
    own = robot_controller(robot)
    if own.shape == name:
        return robot
    kind, *sizes = name.split("-")
    if kind == "mlp" and len(sizes) > 2 and all(size.isdecimal() and len(size) < 6 for size in sizes):
        layers = tuple(map(int, sizes))
        if layers[0] == robot.observation_dim and layers[-1] == robot.action_dim and min(layers) > 0:
            return robot.with_controller(MLPShape(kind="mlp", hidden=layers[1:-1]))
    raise InvalidValueError(
        f"its controllers are {name!r}, but those of its robot, {robot.name}, are {own.shape!r}"
    )


def _periodic(shape: PeriodicShape, robot: Robot) -> Periodic:
    """Periodic controllers: joints that play another's signal have none of their own."""
    joints = robot.description.joints
    own = [joint for joint in joints if joint not in shape.opposite]
    return Periodic(
        inputs=robot.observation_dim,
        signals=tuple(own.index(shape.opposite.get(joint, joint)) for joint in joints),
        signs=tuple(-1 if joint in shape.opposite else 1 for joint in joints),
        samples=whole_samples(shape.period, robot.control_step),
    )
