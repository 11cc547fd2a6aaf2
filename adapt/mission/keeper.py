"""`Keeper`: keeps a robot behind a link going; `KeeperProcess`: even while others think.

What it does ends by itself, whether or not anybody tells it what comes next:

| motion | ends | then |
|---|---|---|
| none, before the first | never: nothing is commanded, and the robot's motors are damped | |
| a gait | after its time; | it stands, or is damped where motors cannot hold a pose |
| a gait, or standing | when the robot falls, or has damped itself for 0.5 s; | it is damped |
| standing | after its time; | it is damped |
| damped | never | |
"""

import multiprocessing
import os
import select
import socket
import struct
import time
from collections import deque
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from adapt.mission.pose import Pose, wrapped_angle
from adapt.mission.world import RAMP, ramped
from repertoire.execution.workers import starting_processes
from robots.errors import SurefootError
from robots.falls import has_fallen
from robots.link.driving import RISE, SUNK, Senses, angles, ask_for_priority, first_state
from robots.link.legs import LegOdometry
from robots.link.link import LinkError, RobotLink
from robots.link.messages import Odometry, State
from robots.motors import Motors
from robots.plugins import load_plugins
from robots.robot import Robot
from robots.stance import all_servos, standing_action

HOLD = 15.0  # [s] that a robot stands which is told nothing else; then it is damped
_BEGIN = 120.0  # [s] that a keeper's process may take to begin
_ANSWER = 5.0  # [s] that it may take to answer, or to take what it is told
_GUARD = 'a script that makes a mission does so under `if __name__ == "__main__":`'
_KEPT = 100  # actions, of which those are known that a state answers
_FRAME = (0.0, 0.0, 0.0)  # what controllers see is turned into their frames already
_SILENT = 1.0  # [s] of states that may not come; a robot that is silent for longer is lost


class Motion(NamedTuple):
    """What a robot does until it is told something else, but for so long at the most; see above.

    Attributes:
        row: of a gait; None where it stands.
        parameters: of the gait's controller, (p,).
        frame: that the controller sees itself in.
        abrupt: whether the gait begins at once, without a ramp from what servos were told last.
        damped: whether its motors have no stiffness.
        seconds: how long at the most.
    """

    row: int | None = None
    parameters: np.ndarray = np.zeros(0, np.float32)
    frame: Pose = Pose()
    abrupt: bool = False
    damped: bool = False
    seconds: float = HOLD


DAMPED = Motion(damped=True)


class Seen(NamedTuple):
    """What a robot told after a control step.

    Attributes:
        state: the same.
        told: the last action that had reached it, (a,).
        place: where it is by its odometry, or that of its legs, along the axes of its IMU.
        rests: whether it is told nothing but to be damped.
    """

    state: State
    told: np.ndarray
    place: Pose
    rests: bool = False


class Keeper:
    """Keeps a robot going; its time passes where it is asked for the next state.

    Args:
        link: to the robot.

    Raises:
        LinkError: the robot is silent.
        InvalidValueError: its controller needs odometry that it does not have.
    """

    def __init__(self, link: RobotLink) -> None:
        self._link, self._robot = link, link.face.robot
        self._legs, self._standing = LegOdometry(self._robot), standing_action(self._robot)
        self._stands = all_servos(self._robot)
        self._most_lost = round(_SILENT / self._robot.control_step)
        self._motion: Motion | None = None
        self._told = self._from = self._standing  # the latter when the motion began
        self._passed = self._began = self._end = (
            0  # control steps: so far, when the motion began, and will end
        )
        self._since = self._driven = 0.0  # [s] when the motion began, and when the robot was last driven
        self._ramp = RAMP
        self._sent: dict[int, np.ndarray] = {}  # the last actions, by the number of their command
        known, seen = self._robot.controller, np.zeros(self._robot.observation_dim, np.float32)
        known.act(np.zeros(known.parameter_count, np.float32), seen, 0)  # compiled before it must be in time
        self._first = first_state(link)
        self._senses = Senses(self._robot, self._first, origin=_FRAME)
        self._take(self._first)

    def begin(self, motion: Motion) -> None:
        """Do something else from now on; a gait that is on its way goes on in its cycle."""
        before, self._motion = self._motion or DAMPED, motion
        now = self._seen.state.time
        self._end = self._passed + round(motion.seconds / self._robot.control_step)
        if before.damped:
            self._told, self._driven = self._hanging(), now
        if motion.row is not None:
            self._senses = Senses(self._robot, self._first, origin=_FRAME)
        if motion.abrupt or (motion.row, motion.damped) != (before.row, before.damped):
            self._began, self._from, self._since = self._passed, self._told, now
            self._ramp = RISE if before.damped and motion.row is None else RAMP

    def latest(self) -> Seen:
        """What the robot told last."""
        return self._seen

    def next(self) -> Seen:
        """What it tells next.

        Raises:
            LinkError: the robot was lost.
        """
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
        """A control step: tell the robot what to do, and wait for the state after it; whether it came.

        Raises:
            LinkError: the robot was lost.
        """
        motion = self._motion
        if motion is not None and not motion.damped and self._passed >= self._end:
            motion = Motion() if motion.row is not None and self._stands else DAMPED
            self.begin(motion)
        if motion is not None and motion.damped:
            self._link.damp()
        elif motion is not None:
            self._told = self._action(motion)
            self._link.act(self._told)
            self._sent[self._link.sent] = self._told
            self._sent.pop(self._link.sent - _KEPT, None)
        self._passed += 1
        state = self._link.observe()
        if state is None:
            return False
        lost = round((state.time - self._since) / self._robot.control_step) - self._made
        self._take(state)
        gait = motion if motion is not None and motion.row is not None else None
        for _ in range(min(lost, self._most_lost)):  # steps whose states did not come count, too
            self._passed += 1
            if gait is not None:
                self._senses(_turned(self._seen, gait.frame), self._told)
        self._driven = state.time if state.mode == "driven" else self._driven
        fell = has_fallen(self._robot, state.imu_state.quaternion)
        if not self._rests and (fell or state.time - self._driven > SUNK):
            self.begin(DAMPED)
        return True

    @property
    def _made(self) -> int:
        """Control steps of the motion."""
        return self._passed - self._began

    @property
    def _rests(self) -> bool:
        return self._motion is None or self._motion.damped

    def _take(self, state: State) -> None:
        self._legs.take(state)
        x, y, _ = state.odometry.position if state.odometry else self._legs.place
        told = self._sent.get(state.answered, self._told)
        place = Pose(float(x), float(y), wrapped_angle(float(angles(state)[2])))
        self._seen = Seen(state, told, place, self._rests)

    def _action(self, motion: Motion) -> np.ndarray:
        """What a motion tells the motors now, (a,)."""
        action = self._standing
        if motion.row is not None:
            seen = self._senses(_turned(self._seen, motion.frame), self._told)
            action = self._robot.controller.act(motion.parameters, seen, self._made)
        if self._stands and not motion.abrupt:
            action = ramped(self._from, action, (self._made + 1) * self._robot.control_step, self._ramp)
        return np.clip(action, -1, 1).astype(np.float32)

    def _hanging(self) -> np.ndarray:
        """The action that holds servos where the joints are, (a,)."""
        positions = np.array([motor.q for motor in self._seen.state.motor_state])
        return Motors.of(self._robot.physics, self._robot.description.joints).actions(positions)


def _turned(seen: Seen, frame: Pose) -> State:
    """A state as seen from a frame."""
    turn, state = Rotation.from_euler("z", -frame.yaw), seen.state
    attitude = turn * Rotation.from_quat(state.imu_state.quaternion, scalar_first=True)
    quaternion = tuple(attitude.as_quat(scalar_first=True).tolist())
    changed: dict[str, Any] = {"imu_state": state.imu_state.model_copy(update={"quaternion": quaternion})}
    if (known := state.odometry) is not None:
        x, y, _ = seen.place.seen_from(frame)
        velocity = tuple(turn.apply(known.velocity).tolist())
        changed["odometry"] = Odometry.model_construct(position=(x, y, known.position[2]), velocity=velocity)
    return state.model_copy(update=changed)


class KeeperProcess:
    """A `Keeper` of a robot somewhere else, in a process of its own that nothing holds up.

    Args:
        robot: whole.
        address: see `robots.link.remote.RemoteLink`.
        keys: likewise.

    Raises:
        InvalidValueError, LinkError: as `RemoteLink` and `Keeper`.
    """

    def __init__(self, robot: Robot, address: str, keys: Path | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_keep, args=(other,), daemon=True)
        self._words, self._lost = "", f"what keeps the robot going did not begin: {_GUARD}"
        try:
            _bound_waits(self._pipe, _BEGIN)
            with starting_processes():
                self._process.start()
            other.close()
            self._send((robot, address, keys))
            self._received()  # it has begun
            _bound_waits(self._pipe, _ANSWER)
        except BaseException as error:
            self._end()
            if isinstance(error, RuntimeError) and multiprocessing.current_process().name != "MainProcess":
                raise SystemExit(1) from None  # a script that is run again, to begin this very process
            raise
        self._lost = "what kept the robot going has ended: the robot damps itself"

    def begin(self, motion: Motion) -> None:
        """See `Keeper.begin`."""
        self._send(motion)

    def latest(self) -> Seen:
        """See `Keeper.latest`."""
        while self._pipe.poll():
            self._received()
        self._send(True)
        return self._received()

    def next(self) -> Seen:
        """See `Keeper.next`."""
        return self._received()

    def rest(self) -> None:
        """See `Keeper.rest`."""
        self._send(False)

    def close(self) -> str:
        """See `Keeper.close`."""
        with suppress(SurefootError):
            self._send(None)
            until = time.monotonic() + _ANSWER
            while time.monotonic() < until:
                self._received()
        self._process.join(_ANSWER)
        self._end()
        return self._words

    def _end(self) -> None:
        """End the process, however it is; the robot then damps itself."""
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()

    def _send(self, what: object) -> None:
        with suppress(OSError):  # of a process that ended or hangs, which what it told last explains
            self._pipe.send(what)

    def _received(self) -> Seen:
        try:
            found: Seen | str | SurefootError = self._pipe.recv()
        except BlockingIOError:
            self._end()
            raise LinkError(
                "what keeps the robot going hung, and was ended: the robot damps itself"
            ) from None
        except (EOFError, OSError):
            raise LinkError(self._lost) from None
        if isinstance(found, SurefootError):
            raise found
        if isinstance(found, str):
            self._words = found
            return self._received()
        return found


Driver = Keeper | KeeperProcess


def _bound_waits(pipe: Connection, seconds: float) -> None:
    """Have a pipe that can be neither read nor written for so long raise BlockingIOError."""
    limit = struct.pack("ll", int(seconds), 0)
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, limit)


def _keep(pipe: Connection) -> None:
    """Keep a robot going; the pipe tells which, then motions, whether states are wanted, and None to end."""
    from robots.link.remote import RemoteLink

    load_plugins()
    ask_for_priority()
    _bound_waits(pipe, _ANSWER)
    with suppress(EOFError, OSError), ExitStack() as stack:  # where whom it works for has ended, or hangs
        try:
            robot, address, keys = pipe.recv()
            link = RemoteLink(robot, address, keys=keys)
            stack.callback(link.close)
            keeper = Keeper(link)
            pipe.send(keeper.latest())
            _follow(keeper, pipe)
        except SurefootError as error:
            pipe.send(error)
            return
        pipe.send(keeper.close())


def _follow(keeper: Keeper, pipe: Connection) -> None:
    waiting: deque[Seen] = deque(maxlen=1000)
    tells = False
    while True:
        while pipe.poll():
            what: Motion | bool | None = pipe.recv()
            if what is None:
                return
            if isinstance(what, bool):
                tells = what
                waiting.clear()
                waiting.append(keeper.latest())
            else:
                keeper.begin(what)
        if keeper.tick() and tells:
            waiting.append(keeper.latest())
        while tells and waiting and select.select((), (pipe,), (), 0)[1]:  # or else it would wait
            pipe.send(waiting.popleft())
