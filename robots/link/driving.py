"""`Keeper`: keeps a robot behind a link going; `drive` plays a single gait over a link.

What a keeper does ends by itself, whether or not anybody tells it what comes next. Before the first motion
nothing is commanded, and the robot's motors are damped. After the time of a gait the robot stands, or is
damped where motors cannot hold a pose; after the time of standing it is damped, and stays so. It is also
damped when it falls, or has damped itself for 0.5 s.
"""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.controllers.controller import Actor
from robots.errors import InvalidValueError
from robots.falls import has_fallen
from robots.link.link import RobotLink
from robots.link.messages import State
from robots.link.observer import LegOdometry, Observer
from robots.motors import Motors
from robots.pose import Pose, wrapped_angle
from robots.robot import Robot
from robots.simulation.observing import TARGET_X
from robots.simulation.state import imu_axes
from robots.stance import RAMP, all_servos, ramped, standing_action

HOLD = 15.0  # [s] that a robot stands which is told nothing else; then it is damped
RISE = 1.5  # [s] in which servos take a robot from where it lies to where it stands
_SETTLE = 0.3  # [s] that it stands then
_NEAR = 0.3  # [rad or m] from the pose in which it stands, within which no joint has to be taken there
_SUNK = 0.5  # [s] in damping, since commands were late, after which a robot does not go on
_SILENT = 1.0  # [s] of states that may not come; a robot that is silent for longer is lost
_KEPT = 100  # actions, of which those are known that a state answers
_PRIORITY = 10  # of a control loop, above all that has none
_ODOMETRY = ("velocity", "height", "bearing")


class Motion(NamedTuple):
    """What a robot does until it is told something else, but for so long at the most; see above."""

    row: int | None = None  # of a gait; None where it stands
    parameters: np.ndarray = np.zeros(0, np.float32)  # of the gait's controller, (p,)
    frame: Pose = Pose()  # that the controller sees itself in
    abrupt: bool = False  # whether the gait begins at once, without a ramp from what servos were told last
    damped: bool = False  # whether its motors have no stiffness
    seconds: float = HOLD


DAMPED = Motion(damped=True)


class Seen(NamedTuple):
    """What a robot told after a control step."""

    state: State
    told: np.ndarray  # the last action that had reached it, (a,)
    place: Pose  # where it is by its odometry, or that of its legs, along the axes of its IMU
    rests: bool = False  # whether it is told nothing but to be damped


class Keeper:
    """Keeps a robot going; its time passes where it is asked for the next state.

    A gait that follows a command, a speed [m/s] and a turn to the left [rad/s], is given one.
    """

    def __init__(self, link: RobotLink, command: tuple[float, float] | None = None) -> None:
        self._link, self._robot, self._command = link, link.face.robot, command
        self._legs, self._standing = LegOdometry(self._robot), standing_action(self._robot)
        self._stands = all_servos(self._robot)
        self._most_lost = round(_SILENT / self._robot.control_step)
        self._motion: Motion | None = None
        self.told = self._from = self._standing  # the last action, (a,), and that when the motion began
        self.passed = self._began = self._end = 0  # control steps so far, when the motion began, and will end
        self._since = self._driven = 0.0  # [s] when the motion began, and when the robot was last driven
        self._ramp = RAMP
        self._sent: dict[int, np.ndarray] = {}  # the last actions, by the number of their command
        known, seen = self._robot.controller, np.zeros(self._robot.observation_dim, np.float32)
        self._act = Actor(known)
        self._act(np.zeros(known.parameter_count, np.float32), seen, 0)  # compiled before it must be in time
        self._first = first_state(link)
        self._senses = Senses(self._robot, self._first, command)
        self._take(self._first)

    def begin(self, motion: Motion) -> None:
        """Do something else from now on; a gait on its way, and a controller that blends, go on."""
        before, self._motion = self._motion or DAMPED, motion
        now = self._seen.state.time
        self._end = self.passed + round(motion.seconds / self._robot.control_step)
        if before.damped:
            joints = Motors.of(self._robot.physics, self._robot.description.joints)
            hanging = np.array([motor.q for motor in self._seen.state.motor_state])
            self.told, self._driven = joints.actions(hanging), now
        if motion.row is not None:
            self._senses = Senses(self._robot, self._first, self._command)
        blends = self._robot.controller.blends and None not in (motion.row, before.row)
        same = blends or motion.row == before.row
        if motion.abrupt or not same or motion.damped != before.damped:
            self._began, self._from, self._since = self.passed, self.told, now
            self._ramp = RISE if before.damped and motion.row is None else RAMP

    def latest(self) -> Seen:
        """What the robot told last."""
        return self._seen

    def next(self) -> Seen:
        """What it tells next; raises a LinkError where the robot was lost."""
        while not self.tick():
            pass
        return self._seen

    def rest(self) -> None:
        """Go on alone for a while: nobody asks what the robot tells."""

    def close(self) -> str:
        """Damp the robot and let go of it; how regularly it told its states, in words."""
        self._link.damp()
        self._link.close()
        return self._link.words

    def tick(self) -> bool:
        """A control step: tell the robot what to do, and wait for the state after it; whether it came."""
        motion = self._motion
        if motion is not None and not motion.damped and self.passed >= self._end:
            motion = Motion() if motion.row is not None and self._stands else DAMPED
            self.begin(motion)
        if motion is not None and motion.damped:
            self._link.damp()
        elif motion is not None:
            self.told = self._action(motion)
            self._link.act(self.told)
            self._sent[self._link.sent] = self.told
            self._sent.pop(self._link.sent - _KEPT, None)
        self.passed += 1
        state = self._link.observe()
        if state is None:
            return False
        lost = round((state.time - self._since) / self._robot.control_step) - self._made
        self._take(state)
        gait = motion if motion is not None and motion.row is not None else None
        for _ in range(min(lost, self._most_lost)):  # steps whose states did not come count, too
            self.passed += 1
            if gait is not None:
                self._senses(self._seen, gait.frame, self.told)
        self._driven = state.time if state.mode == "driven" else self._driven
        fell = has_fallen(self._robot, state.imu_state.quaternion)
        if not self.rests and (fell or state.time - self._driven > _SUNK):
            self.begin(DAMPED)
        return True

    @property
    def _made(self) -> int:
        return self.passed - self._began

    @property
    def rests(self) -> bool:
        """Whether the robot is told nothing but to be damped."""
        return self._motion is None or self._motion.damped

    def _take(self, state: State) -> None:
        self._legs.take(state)
        x, y, _ = state.odometry.position if state.odometry else self._legs.place
        told = self._sent.get(state.answered, self.told)
        place = Pose(float(x), float(y), wrapped_angle(float(angles(state)[2])))
        self._seen = Seen(state, told, place, self.rests)

    def _action(self, motion: Motion) -> np.ndarray:
        action = self._standing
        if motion.row is not None:
            seen = self._senses(self._seen, motion.frame, self.told)
            action = self._act(motion.parameters, seen, self._made)
            if not np.isfinite(action).all():  # whoever lets go of the robot damps it
                raise InvalidValueError("no finite action follows from what the robot senses")
        if self._stands and not motion.abrupt:
            action = ramped(self._from, action, (self._made + 1) * self._robot.control_step, self._ramp)
        return np.clip(action, -1, 1).astype(np.float32)


class DrivenStep(NamedTuple):
    """A control step: the state at its end, and the action that led to it, (a,)."""

    step: int
    state: State
    action: np.ndarray


class Drive(NamedTuple):
    """How it went."""

    steps: int  # control steps of the gait
    ended: Literal["time", "fall", "damping"]  # the time was up, it fell, or damped itself for 0.5 s
    ahead: float | None  # way along the robot's first heading [m]; None where the robot does not know


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

    The controller has the parameters (p,); `on_step` is called after each state that came.
    """
    robot = link.face.robot
    steps, rise = round(seconds / robot.control_step), round((RISE + _SETTLE) / robot.control_step)
    try:
        keeper = Keeper(link, command)
        if all_servos(robot) and not stands(robot, keeper.latest().state):
            keeper.begin(Motion())
            while keeper.passed < rise and not keeper.rests:
                keeper.tick()
        first, before, begun = keeper.latest(), link.sent, keeper.passed
        if has_fallen(robot, first.state.imu_state.quaternion):  # no motor is told anything then
            return Drive(0, "fall", 0.0 if first.state.odometry else None)
        keeper.begin(Motion(0, parameters, first.place, abrupt=True, seconds=seconds))
        keeper.told = np.zeros(robot.action_dim)  # as in training
        now, made = first, 0
        while made < steps and not keeper.rests:
            came, made = keeper.tick(), min(keeper.passed - begun, steps)
            now = keeper.latest()
            if came and on_step and now.state.answered > before:
                on_step(DrivenStep(made, now.state, now.told))
        fell = has_fallen(robot, now.state.imu_state.quaternion)
        ahead = now.place.seen_from(first.place).x if now.state.odometry else None
        return Drive(made, "fall" if fell else "damping" if keeper.rests else "time", ahead)
    finally:
        link.damp()


def first_state(link: RobotLink) -> State:
    """The first state that comes."""
    while (state := link.observe()) is None:
        pass
    return state


def stands(robot: Robot, state: State) -> bool:
    """Whether all joints are about where they are in the first pose."""
    starts = [robot.start_of(joint) for joint in robot.description.joints]
    return bool(max(abs(np.subtract([motor.q for motor in state.motor_state], starts))) < _NEAR)


def ask_for_priority() -> None:
    """Have the system run this thread before others, where it lets us: commands must not be late."""
    if hasattr(os, "sched_setscheduler"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))


class Senses:
    """What a controller sees of states, of which `first` is the one before the first action."""

    def __init__(self, robot: Robot, first: State, command: tuple[float, float] | None = None) -> None:
        self._command, self._start = command, first.odometry
        self._observer = Observer(robot if command is None else robot.with_command(*command))
        self._imu = Rotation.from_matrix(imu_axes(robot))  # from the torso's frame, that of states
        needs, self._blind = self._observer.needs, not robot.controller.closed_loop
        if command is None and "command" in needs and not self._blind:
            raise InvalidValueError(
                "this gait follows a speed and a turn that it is told: deploy it with --command"
            )
        lacking = [name for name in needs if name in _ODOMETRY]
        if lacking and not self._blind and first.odometry is None:
            raise InvalidValueError(
                f"this gait needs {', '.join(lacking)}, which a robot without odometry does not know"
            )

    def __call__(self, seen: Seen, frame: Pose, action: np.ndarray) -> np.ndarray:
        """The observation after an action in a frame, (o,) float32; zeros for a controller that sees nothing.

        The target is straight ahead of the frame.
        """
        if self._blind:
            return np.zeros(self._observer.robot.observation_dim, np.float32)
        motors, imu = seen.state.motor_state, seen.state.imu_state
        attitude = Rotation.from_quat(imu.quaternion, scalar_first=True) * self._imu.inv()
        given: dict[str, object] = {
            "positions": [motor.q for motor in motors],
            "speeds": [motor.dq for motor in motors],
            "orientation": attitude.as_quat(scalar_first=True),
            "rates": self._imu.apply(imu.gyroscope),
            "acceleration": self._imu.apply(imu.accelerometer),
            "contacts": [force > 0 for force in seen.state.foot_force],
            "last_action": action,
        }
        if self._command is not None:
            given["command"] = self._command
        if (now := seen.state.odometry) is not None and self._start is not None:
            x, y, yaw = seen.place.seen_from(frame)
            ahead, left, _ = Rotation.from_euler("z", -seen.place.yaw).apply(now.velocity)
            given |= {
                "velocity": (ahead, left, now.velocity[2]),
                "height": now.position[2] - self._start.position[2],
                "bearing": math.atan2(-y, TARGET_X - x) - yaw,
            }
        return self._observer(**given)


def angles(state: State) -> np.ndarray:
    """Roll, pitch and yaw of the torso about fixed axes [rad], (3,)."""
    return np.asarray(Rotation.from_quat(state.imu_state.quaternion, scalar_first=True).as_euler("xyz"))
