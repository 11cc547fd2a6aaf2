"""`Keeper`: keeps a robot behind a link going; `KeeperProcess`: even while others think."""

import multiprocessing
import select
from collections import deque
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from adapt.mission.pose import Pose, wrapped_angle
from adapt.mission.world import all_servos, ramped, standing_action
from repertoire.execution.workers import interrupts_blocked
from robots.errors import SurefootError
from robots.falls import has_fallen
from robots.link.driving import Senses, angles, ask_for_priority, first_state
from robots.link.legs import LegOdometry
from robots.link.link import LinkError, RobotLink
from robots.link.messages import Odometry, State
from robots.motors import Motors
from robots.plugins import load_plugins
from robots.robot import Robot

_KEPT = 100  # actions, of which those are known that a state answers
_FRAME = (0.0, 0.0, 0.0)  # what controllers see is turned into their frames already
_SILENT = 1.0  # [s] of states that may not come; a robot that is silent for longer is lost


class Motion(NamedTuple):
    """What a robot does until it is told something else.

    Attributes:
        row: of a gait; None where it stands.
        parameters: of the gait's controller, (p,).
        frame: that the controller sees itself in.
        abrupt: whether the gait begins at once, without a ramp from what servos were told last.
        damped: whether its motors have no stiffness.
    """

    row: int | None = None
    parameters: np.ndarray = np.zeros(0, np.float32)
    frame: Pose = Pose()
    abrupt: bool = False
    damped: bool = False


class Seen(NamedTuple):
    """What a robot told after a control step.

    Attributes:
        state: the same.
        told: the last action that had reached it, (a,).
        place: where it is by its odometry, or that of its legs, along the axes of its IMU.
    """

    state: State
    told: np.ndarray
    place: Pose


class Driver(Protocol):
    """Keeps a robot going."""

    def begin(self, motion: Motion) -> None:
        """Do something else from now on."""

    def latest(self) -> Seen:
        """What the robot told last."""

    def next(self) -> Seen:
        """What it tells next.

        Raises:
            LinkError: the robot was lost.
        """

    def rest(self) -> None:
        """Go on alone for a while: nobody asks what the robot tells."""

    def close(self) -> str:
        """Damp the robot and let go of it; how regularly it told its states, in words."""


class Keeper:
    """Keeps a robot going; its time passes where it is asked for the next state. See `Driver`.

    Until the first motion a robot is left as it is. One that falls stands from then on, as far as it can.

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
        self._made, self._since = 0, 0.0  # control steps of the motion, and when it began [s]
        self._sent: dict[int, np.ndarray] = {}  # the last actions, by the number of their command
        known, seen = self._robot.controller, np.zeros(self._robot.observation_dim, np.float32)
        known.act(np.zeros(known.parameter_count, np.float32), seen, 0)  # compiled before it must be in time
        self._first = first_state(link)
        self._senses = Senses(self._robot, self._first, origin=_FRAME)
        self._take(self._first)

    def begin(self, motion: Motion) -> None:
        """See `Driver.begin`; a gait that is on its way goes on in its cycle."""
        before, self._motion = self._motion, motion
        if before is not None and before.damped:
            self._told = self._hanging()
        if motion.row is not None:
            self._senses = Senses(self._robot, self._first, origin=_FRAME)
        if motion.abrupt or before is None or (motion.row, motion.damped) != (before.row, before.damped):
            self._made, self._from, self._since = 0, self._told, self._seen.state.time

    def latest(self) -> Seen:
        """See `Driver.latest`."""
        return self._seen

    def next(self) -> Seen:
        """See `Driver.next`."""
        while not self.tick():
            pass
        return self._seen

    def rest(self) -> None:
        """See `Driver.rest`."""

    def close(self) -> str:
        """See `Driver.close`."""
        self._link.damp()
        self._link.close()
        return self._link.words

    def tick(self) -> bool:
        """A control step: tell the robot what to do, and wait for the state after it; whether it came.

        Raises:
            LinkError: the robot was lost.
        """
        motion = self._motion
        if motion is not None and motion.damped:
            self._link.damp()
        elif motion is not None:
            self._told = self._action(motion)
            self._link.act(self._told)
            self._sent[self._link.sent] = self._told
            self._sent.pop(self._link.sent - _KEPT, None)
        self._made += 1
        state = self._link.observe()
        if state is None:
            return False
        self._take(state)
        lost = round((state.time - self._since) / self._robot.control_step) - self._made
        for _ in range(min(lost, self._most_lost)):  # steps whose states did not come count, too
            self._made += 1
            if motion is not None and motion.row is not None:
                self._senses(_turned(self._seen, motion.frame), self._told)
        if (
            motion is not None
            and motion.row is not None
            and has_fallen(self._robot, state.imu_state.quaternion)
        ):
            self.begin(Motion())
        return True

    def _take(self, state: State) -> None:
        self._legs.take(state)
        x, y, _ = state.odometry.position if state.odometry else self._legs.place
        told = self._sent.get(state.answered, self._told)
        self._seen = Seen(state, told, Pose(float(x), float(y), wrapped_angle(float(angles(state)[2]))))

    def _action(self, motion: Motion) -> np.ndarray:
        """What a motion tells the motors now, (a,)."""
        action = self._standing
        if motion.row is not None:
            seen = self._senses(_turned(self._seen, motion.frame), self._told)
            action = self._robot.controller.act(motion.parameters, seen, self._made)
        if self._stands and not motion.abrupt:
            action = ramped(self._from, action, (self._made + 1) * self._robot.control_step)
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
    """A `Keeper` of a robot somewhere else, in a process of its own that nothing holds up; see `Driver`.

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
        self._process = context.Process(target=_keep, args=(other, robot, address, keys), daemon=True)
        with interrupts_blocked():
            self._process.start()
        other.close()
        self._words = ""
        self._received()  # it has begun

    def begin(self, motion: Motion) -> None:
        """See `Driver.begin`."""
        self._send(motion)

    def latest(self) -> Seen:
        """See `Driver.latest`."""
        while self._pipe.poll():
            self._received()
        self._send(True)
        return self._received()

    def next(self) -> Seen:
        """See `Driver.next`."""
        return self._received()

    def rest(self) -> None:
        """See `Driver.rest`."""
        self._send(False)

    def close(self) -> str:
        """See `Driver.close`."""
        with suppress(SurefootError):
            self._send(None)
            while True:
                self._received()
        self._process.join()
        return self._words

    def _send(self, what: Motion | bool | None) -> None:
        with suppress(OSError):  # of a process that ended, which what it told last explains
            self._pipe.send(what)

    def _received(self) -> Seen:
        try:
            found: Seen | str | SurefootError = self._pipe.recv()
        except (EOFError, OSError):
            raise LinkError("what kept the robot going has ended: the robot damps itself") from None
        if isinstance(found, SurefootError):
            raise found
        if isinstance(found, str):
            self._words = found
            return self._received()
        return found


def _keep(pipe: Connection, robot: Robot, address: str, keys: Path | None) -> None:
    """Keep a robot going; the pipe tells motions, whether states are wanted, and None to end."""
    from robots.link.remote import RemoteLink

    load_plugins()
    ask_for_priority()
    with suppress(EOFError, OSError), ExitStack() as stack:  # where whom it works for has ended
        try:
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
