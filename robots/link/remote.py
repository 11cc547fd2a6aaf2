"""`RemoteLink`: a robot somewhere else, driven over ZeroMQ; `Belief`: which of its states are believed."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import numpy as np
import zmq

from robots.attitude import turned_by
from robots.errors import InvalidValueError, shown
from robots.link.interface import Interface
from robots.link.link import LinkError, RobotLink
from robots.link.messages import (
    TAKEN,
    CommandMessage,
    Hello,
    MotorCommand,
    State,
    decode,
    encode,
)
from robots.link.sockets import COMMANDS, HELLOS, STATES, check_keys, new_socket, parse_address, unlock
from robots.robot import Robot

_WAIT = 1.5  # control steps for a state, after which the computer goes on without
_SILENCE = 1.0  # [s] of listening without any state, after which the robot counts as lost
_DEAF = 1.0  # [s] of commands without any that is answered, after which it does, too
_BUSY = 1.0  # [s] within which a robot may be let go of that another computer drove

_AHEAD = 0.5  # [s] that the robot's clock may gain on this computer's, and ...
_DRIFT = 0.02  # of the time since the first state
_EARLY = 0.75  # control steps between two states, at the least, or a gait would be played too fast
_FASTEST = 10.0  # [m/s] that odometry may tell of a robot
_WHIRL = 50.0  # [rad/s] that its attitude may tell while it is driven
_WHIP = 30.0  # [rad/s or m/s] that its joints may: motors of walking robots reach that without load
_SLACK = 0.5  # [m or rad] by which these may exceed that on the whole
_WITHIN = 0.1  # [s] for which these speeds count, however long no state came
_FROZEN = 0.2  # [s] of changing commands, in which sensors must change, too
_KEPT = 30_000  # times between states that are kept: ten minutes


class Belief:
    """Checks states in the order in which they come, and keeps the `last` one that was believed."""

    def __init__(self, face: Interface) -> None:
        self.last: State | None = None
        self._counts = len(face.motors), len(face.robot.description.feet)
        self._least = _EARLY * face.robot.control_step
        self._most_still = round(_FROZEN / face.robot.control_step)
        self._begun: tuple[float, float] | None = None  # by the robot's clock, and by this computer's [s]
        self._excess = {"odometry": 0.0, "IMU": 0.0, "joints": 0.0}  # beyond what these speeds allow
        self._still = {"joints": 0, "IMU": 0}  # new commands since they told anything new
        self._commanded: object = None

    def take(self, state: State, now: float, sent: int, commanded: object) -> None:
        """Believe a state that came at a time `now` of this computer's clock [s], or raise InvalidValueError.

        The last command has the number `sent`, and said `commanded`; () where the robot is damped.
        """
        counts = len(state.motor_state), len(state.foot_force)
        theirs, ours = self._begun = self._begun or (state.time, now)
        ahead = state.time - theirs - (1 + _DRIFT) * (now - ours)
        _refuse(counts != self._counts, f"it has {counts[0]} motors and {counts[1]} feet")
        _refuse(state.answered > sent, f"it answers the command {state.answered}, and {sent} were sent")
        _refuse(ahead > _AHEAD, f"its clock is {ahead:.4g} s ahead")
        if (last := self.last) is not None:
            known = "ended" if last.odometry else "begun"
            early = state.time - last.time < self._least
            _refuse(state.seq <= last.seq, f"its number is {state.seq}, after {last.seq}")
            _refuse(state.time <= last.time, f"its clock says {state.time:.2f} s, after {last.time:.2f} s")
            _refuse(early, "it tells more than a state in a control step")
            _refuse((state.odometry is None) != (last.odometry is None), f"its odometry has {known} midway")
            self._check_jumps(state, last)
            self._check_frozen(state, last, commanded)
        self.last = state

    def _check_jumps(self, state: State, last: State) -> None:
        passed = min(state.time - last.time, _WITHIN)
        if state.odometry and last.odometry:
            way = float(np.linalg.norm(np.subtract(state.odometry.position, last.odometry.position)))
            self._check_speed("odometry", way, _FASTEST * passed, "m")
        if state.mode == last.mode == "driven":  # otherwise somebody may be lifting the robot
            angle = turned_by(last.imu_state.quaternion, state.imu_state.quaternion)
            self._check_speed("IMU", angle, _WHIRL * passed, "rad")
            moved = [abs(one.q - old.q) for one, old in zip(state.motor_state, last.motor_state, strict=True)]
            self._check_speed("joints", max(moved), _WHIP * passed, "rad or m")

    def _check_speed(self, what: str, way: float, allowed: float, unit: str) -> None:
        excess = max(0.0, self._excess[what] + way - allowed)
        _refuse(excess > _SLACK, f"its {what} jumped by {way:.2f} {unit}")
        self._excess[what] = excess

    def _check_frozen(self, state: State, last: State, commanded: object) -> None:
        """Refuse sensors that tell the same bit for bit while commands change."""
        other, self._commanded = commanded not in ((), self._commanded), commanded
        same = {"joints": state.motor_state == last.motor_state, "IMU": state.imu_state == last.imu_state}
        for part, still in same.items():
            self._still[part] = (self._still[part] + other) * still
            _refuse(self._still[part] > self._most_still, f"sensors of its {part} are frozen")


def _refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise InvalidValueError(why)


class RemoteLink(RobotLink):
    """A link to the robot at an address, tcp://HOST:PORT, which must be that of the gait.

    Where others can reach the address, the link needs the folder of its `keys`. The robot may take `patience`
    to answer at first [s].
    """

    def __init__(
        self, robot: Robot, address: str, *, keys: Path | None = None, patience: float = 5.0
    ) -> None:
        super().__init__(Interface.of(robot))
        self._address = address
        self._host, self._port = parse_address(address)
        check_keys(self._host, keys)
        self._context, self._keys = zmq.Context(), keys
        self.intervals = deque[float](maxlen=_KEPT)  # between the last states [s]
        self.states = self.missed = self.skipped = 0  # that came, did not when they were due, or between
        self.damped = 0  # states of a robot that damped itself
        self.refused = self._doubted = 0  # states not believed, and those since the last one that was
        self.refusal, self._belief = "", Belief(self.face)
        self._listened, self._ignored = 0.0, 0
        try:
            self._session = self._greeted(patience)
            self._push = self._connected(zmq.PUSH, COMMANDS)
            self._sub = self._connected(zmq.SUB, STATES)
            self._sub.subscribe(b"")
            self.state = self._first(patience)
        except BaseException:
            self._context.destroy(linger=0)
            raise
        self._heard = time.monotonic()

    def observe(self) -> State | None:
        began = time.monotonic()
        state = self._received(_WAIT * self.face.robot.control_step)
        now = time.monotonic()
        # a computer that did something else meanwhile must not take that for the robot's silence
        self._listened = 0.0 if state else self._listened + now - began
        if state is None:
            self.missed += 1
            if self._listened > _SILENCE:
                what = (
                    f"told nothing that can be believed ({self.refusal})" if self._doubted else "been silent"
                )
                raise LinkError(f"the robot at {self._address} has {what} for {_SILENCE:g} s: it is damped")
            return None
        self._doubted = 0
        self.states += 1
        self.intervals.append(now - self._heard)
        self.damped += bool(self._told) and state.mode == "damping"
        self.skipped += state.seq - self.state.seq - 1
        heeds = not self._told or state.answered > self.state.answered
        self._ignored = 0 if heeds else self._ignored + 1
        self._heard, self.state = now, state
        if self._ignored * self.face.robot.control_step > _DEAF:
            raise LinkError(
                f"the robot at {self._address} has not taken commands for {_DEAF:g} s: does another computer "
                "drive it?"
            )
        return state

    def close(self) -> None:
        if not self._context.closed:
            self.damp()
            self._context.destroy(linger=100)

    @property
    def words(self) -> str:
        p50, p99 = np.percentile(self.intervals or [0.0], [50, 99]) * 1e3
        return (
            f"{self.states} states, {p50:.2f} ms (median) and {p99:.2f} ms (99%) apart; "
            f"{self.missed} not in time, {self.skipped} skipped, {self.refused} refused"
            f"{f' (the last: {self.refusal})' if self.refused else ''}, "
            f"{self.damped} in damping since commands were late{super().words}"
        )

    def _connected(self, kind: int, place: int) -> zmq.Socket:
        socket = new_socket(self._context, kind, latest=place == STATES)
        unlock(socket, self._keys)
        socket.connect(f"tcp://{self._host}:{self._port + place}")
        return socket

    def _greeted(self, patience: float) -> str:
        until, answer = time.monotonic() + min(_BUSY, patience), self._answer(patience)
        while answer.refusal == TAKEN and time.monotonic() < until:
            time.sleep(_BUSY / 10)
            answer = self._answer(patience)
        if answer.refusal:
            raise LinkError(f"the robot at {self._address} refuses: {shown(answer.refusal)}")
        if wrong := answer.unlike(Hello.of(self.face)):
            raise LinkError(f"the robot at {self._address} {wrong}")
        self.face = Interface.of(self.face.robot, answer.target_rate or np.inf)
        return answer.session

    def _answer(self, patience: float) -> Hello:
        with self._connected(zmq.REQ, HELLOS) as socket:
            socket.sndtimeo = socket.rcvtimeo = int(patience * 1e3)
            try:
                socket.send(encode(Hello.of(self.face)))  # waits where a robot with keys hangs up
                message = socket.recv()
            except zmq.Again as error:
                how = "with these keys" if self._keys else "without keys"
                raise LinkError(f"no robot answers at {self._address}: is it switched on, {how}?") from error
        try:
            return decode(Hello, message)
        except InvalidValueError as error:
            raise LinkError(f"what answers at {self._address} is no robot: {error}") from error

    def _first(self, patience: float) -> State:
        state = self._received(patience)
        if state is None:
            what = f"tells nothing that is one ({self.refusal})" if self.refused else "is silent"
            raise LinkError(
                f"the robot at {self._address} tells no states: port {self._port + STATES} {what}"
            )
        return state

    def _received(self, seconds: float) -> State | None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not self._sub.poll(max(int(left * 1e3), 1)):
                continue
            try:
                state = decode(State, self._sub.recv())
                self._belief.take(state, time.monotonic(), self.sent, self._told)
                return state
            except InvalidValueError as error:
                self.refused, self._doubted, self.refusal = self.refused + 1, self._doubted + 1, str(error)
        return None

    def send(self, commands: tuple[MotorCommand, ...]) -> None:
        message = encode(CommandMessage(session=self._session, seq=self.sent, motor_cmd=commands))
        try:
            self._push.send(message, zmq.NOBLOCK)
        except zmq.Again:  # the robot is gone, which its silence tells
            self.missed += 1
