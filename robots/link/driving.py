"""`drive`: plays a gait over a link, whatever robot is at its other end."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.errors import InvalidValueError
from robots.falls import has_fallen
from robots.link.link import RobotLink
from robots.link.messages import Odometry, State
from robots.link.observer import Observer
from robots.motors import Motors
from robots.robot import Robot
from robots.simulation.observing import TARGET_X
from robots.simulation.state import imu_axes
from robots.stance import all_servos, standing_action

_PRIORITY = 10  # of a control loop, above all that has none
_ODOMETRY = ("velocity", "height", "bearing")
RISE = 1.5  # [s] in which servos take a robot from where it lies to where it stands
_SETTLE = 0.3  # [s] that it stands then
_NEAR = 0.3  # [rad or m] from the pose in which it stands, within which no joint has to be taken there
SUNK = 0.5  # [s] in damping, since commands were late, after which a robot does not go on


class DrivenStep(NamedTuple):
    """A control step: the state at its end, and the action that led to it, (a,)."""

    step: int
    state: State
    action: np.ndarray


class Drive(NamedTuple):
    """How it went.

    Attributes:
        steps: control steps of the gait.
        ended: because the time was up, the robot fell, or it damped itself for 0.5 s.
        ahead: way along the robot's first heading [m]; None where the robot does not know.
    """

    steps: int
    ended: Literal["time", "fall", "damping"]
    ahead: float | None


def drive(
    link: RobotLink,
    parameters: np.ndarray,
    seconds: float,
    on_step: Callable[[DrivenStep], None] | None = None,
    command: tuple[float, float] | None = None,
) -> Drive:
    """Play a gait until the time is up or the robot has fallen; in the end, and upon any error, it is damped.

    Servos first take a robot that does not stand to the pose in which it does. The gait's time is that of the
    robot's clock, so that lost messages do not slow it down, but each command counts as a control step at
    least: a robot whose clock is slow does not walk for longer.

    Args:
        link: to the robot.
        parameters: of its controller, (p,).
        seconds: how long.
        on_step: called with each control step after which a state came.
        command: speed [m/s] and turn to the left [rad/s], for a gait that follows one.

    Raises:
        LinkError: the robot went silent, or takes no commands.
        InvalidValueError: the gait needs observations that this robot does not give, or another command.
    """
    robot = link.face.robot
    controller = robot.controller
    steps = round(seconds / robot.control_step)
    try:
        # what is compiled at the first call must not keep the robot waiting
        controller.act(parameters, np.zeros(robot.observation_dim, np.float32), 0)
        first, action = stand_up(link, first_state(link)), np.zeros(robot.action_dim)
        state: State | None = first
        sent: dict[
            int, np.ndarray
        ] = {}  # actions by the number of their command, from the one answered last on
        last, step, seen, driven = first, 0, 0, first.time
        observe = Senses(robot, first, command)
        while True:
            if state is not None:
                last = state
                step = min(max(step, round((state.time - first.time) / robot.control_step)), steps)
                sent = {number: told for number, told in sent.items() if number >= state.answered}
                if on_step and state.answered in sent:
                    on_step(DrivenStep(step, state, sent[state.answered]))
                if has_fallen(robot, state.imu_state.quaternion):
                    return Drive(step, "fall", _ahead(first, last))
                driven = state.time if state.mode == "driven" else driven
                if state.time - driven > SUNK:
                    return Drive(step, "damping", _ahead(first, last))
                while seen <= step:  # steps whose states were lost count, too
                    observation, seen = observe(state, action), seen + 1
            if step == steps:
                return Drive(steps, "time", _ahead(first, last))
            action = np.clip(controller.act(parameters, observation, step), -1, 1)
            link.act(action)
            sent[link.sent] = action
            step += 1
            state = link.observe()
    finally:
        link.damp()


def first_state(link: RobotLink) -> State:
    """The first state that comes; raises LinkError where none does."""
    while (state := link.observe()) is None:
        pass
    return state


def stands(robot: Robot, state: State) -> bool:
    """Whether all joints are about where they are in the first pose."""
    starts = [robot.start_of(joint) for joint in robot.description.joints]
    return bool(max(abs(np.subtract([motor.q for motor in state.motor_state], starts))) < _NEAR)


def stand_up(link: RobotLink, state: State) -> State:
    """Have servos take a robot that does not stand to the first pose; returns the state then.

    Raises:
        LinkError: the robot went silent.
    """
    robot, step = link.face.robot, link.face.robot.control_step
    motors = Motors.of(robot.physics, robot.description.joints)
    if not all_servos(robot) or stands(robot, state):
        return state
    hanging = motors.actions(np.array([motor.q for motor in state.motor_state]))
    for made in range(round((RISE + _SETTLE) / step)):
        link.act(hanging + min(1.0, made * step / RISE) * (standing_action(robot) - hanging))
        state = link.observe() or state
    return state


def ask_for_priority() -> None:
    """Have the system run this thread before others, where it lets us: commands must not be late."""
    if hasattr(os, "sched_setscheduler"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))


class Senses:
    """What a controller sees of states.

    Args:
        robot: whole.
        first: the state before the first action.
        command: that it is to follow, see `drive`.
        origin: x, y [m] and yaw [rad] from which a target is straight ahead; those of the first state by
            default.

    Raises:
        InvalidValueError: its observations need odometry, which the robot does not have; it needs a command
            and there is none, or one outside its ranges.
    """

    def __init__(
        self,
        robot: Robot,
        first: State,
        command: tuple[float, float] | None = None,
        *,
        origin: tuple[float, float, float] | None = None,
    ) -> None:
        self._command = command
        if origin is None and first.odometry is not None:
            origin = (*first.odometry.position[:2], float(angles(first)[2]))
        self._origin = origin or (0.0, 0.0, 0.0)
        if command is not None:
            robot = robot.with_command(*command)
        self._observer, self._start = Observer(robot), first.odometry
        self._imu = Rotation.from_matrix(imu_axes(robot))  # from the torso's frame, that of states
        lacking = [name for name in self._observer.needs if name in _ODOMETRY]
        self._blind = not robot.controller.closed_loop
        if command is None and "command" in self._observer.needs and not self._blind:
            raise InvalidValueError(
                "this gait follows a speed and a turn that it is told: deploy it with --command"
            )
        if lacking and not self._blind and first.odometry is None:
            raise InvalidValueError(
                f"this gait needs {', '.join(lacking)}, which a robot without odometry does not know"
            )

    def __call__(self, state: State, action: np.ndarray) -> np.ndarray:
        """The observation after an action, (o,) float32; zeros for a controller that sees nothing."""
        if self._blind:
            return np.zeros(self._observer.robot.observation_dim, np.float32)
        motors, imu = state.motor_state, state.imu_state
        attitude = Rotation.from_quat(imu.quaternion, scalar_first=True) * self._imu.inv()
        given = {
            "positions": [motor.q for motor in motors],
            "speeds": [motor.dq for motor in motors],
            "orientation": attitude.as_quat(scalar_first=True),
            "rates": self._imu.apply(imu.gyroscope),
            "acceleration": self._imu.apply(imu.accelerometer),
            "contacts": [force > 0 for force in state.foot_force],
            "last_action": action,
        }
        if self._command is not None:
            given["command"] = self._command
        if state.odometry is not None and self._start is not None:
            given |= self._placed(state.odometry, self._start, float(angles(state)[2]))
        return self._observer(**given)

    def _placed(self, now: Odometry, start: Odometry, yaw: float) -> dict[str, Any]:
        """What follows from odometry."""
        x0, y0, yaw0 = self._origin
        (x, y, z), (vx, vy, vz) = now.position, now.velocity
        ahead, aside = _along(yaw0, x - x0, y - y0)
        return {
            "velocity": (*_along(yaw, vx, vy), vz),
            "height": z - start.position[2],
            "bearing": math.atan2(-aside, TARGET_X - ahead) - math.remainder(yaw - yaw0, math.tau),
        }


def _ahead(first: State, last: State) -> float | None:
    """Way along the first heading [m]."""
    if first.odometry is None or last.odometry is None:
        return None
    dx, dy, _ = np.subtract(last.odometry.position, first.odometry.position)
    return _along(float(angles(first)[2]), dx, dy)[0]


def _along(yaw: float, x: float, y: float) -> tuple[float, float]:
    """A vector's parts along a heading, and to the left of it."""
    return math.cos(yaw) * x + math.sin(yaw) * y, math.cos(yaw) * y - math.sin(yaw) * x


def angles(state: State) -> np.ndarray:
    """Roll, pitch and yaw of the torso about fixed axes [rad], (3,)."""
    return np.asarray(Rotation.from_quat(state.imu_state.quaternion, scalar_first=True).as_euler("xyz"))
