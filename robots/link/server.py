"""`RobotServer`: a robot that keeps real time and is driven over ZeroMQ; it owns the watchdog."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import zmq
from zmq.auth.thread import ThreadAuthenticator

from robots.errors import InvalidValueError
from robots.link.interface import Interface
from robots.link.messages import (
    PROTOCOL,
    TAKEN,
    CommandMessage,
    Hello,
    Mode,
    MotorCommand,
    State,
    damping_commands,
    decode,
    encode,
    motor_commands,
)
from robots.link.sockets import (
    COMMANDS,
    HELLOS,
    STATES,
    check_keys,
    guard,
    make_keys,
    new_socket,
    parse_address,
)

_LATE = 2  # control steps without a command, after which the robot is in damping
_FORGOTTEN = 2.0  # [s] without a command, after which another computer may drive
_LET_GO = 0.5  # [s] the same where there was no command yet, or the last one damped the robot
_MOST_MESSAGES = 100  # looked at in a control step
_BEHIND = 10  # control steps, beyond which lost time is not made up for


@dataclass
class DeadlineTiming:
    """How well deadlines were kept.

    Attributes:
        late: how much later than its deadline each control step began [s].
        overruns: control steps that were not done when the next one was due.
        damped: control steps in damping after the first command.
        refused: messages that were none, or too old.
    """

    late: list[float] = field(default_factory=list)
    overruns: int = 0
    damped: int = 0
    refused: int = 0

    @property
    def words(self) -> str:
        """All of it in a line."""
        p50, p99 = np.percentile(self.late or [0.0], [50, 99]) * 1e3
        return (
            f"{len(self.late)} control steps, begun late by {p50:.2f} ms (median) and {p99:.2f} ms (99%); "
            f"{self.overruns} overruns, {self.damped} steps in damping, {self.refused} messages refused"
        )


class Machine(Protocol):
    """What is served: a `SimulatedRobot`, or what a bridge makes of a real one."""

    @property
    def face(self) -> Interface:
        """What actions mean on it."""

    def reset(self) -> None:
        """Go to the first pose, where it can."""

    def step(self, commands: tuple[MotorCommand, ...]) -> None:
        """Have the motors do this for a control step."""

    def state(self, seq: int, mode: Mode, answered: int) -> State:
        """What its sensors report."""


class RobotServer:
    """Serves a robot.

    Args:
        robot: the robot.
        address: tcp://HOST:PORT, see `robots.link.sockets`.
        keys: folder of the keys that encrypt the link; needed where others can reach the address.

    Attributes:
        timing: of the control steps so far.

    Raises:
        InvalidValueError: the address is none, in use, or needs keys.
        InvalidFileError: keys cannot be read or made.
    """

    def __init__(self, robot: Machine, address: str, *, keys: Path | None = None) -> None:
        host, port = parse_address(address)
        check_keys(host, keys)
        self._robot, self.timing = robot, DeadlineTiming()
        self._context, self._guard = zmq.Context(), None
        if keys is not None:
            make_keys(keys)
            self._guard = ThreadAuthenticator(self._context)
            self._guard.start()
            self._guard.configure_curve(domain="*", location=str(keys))
        self._session, self._seq, self._answered, self._silent = "", 0, 0, 0
        self._commands: CommandMessage | None = None
        kinds = {COMMANDS: zmq.PULL, STATES: zmq.PUB, HELLOS: zmq.REP}
        try:
            sockets = {
                place: new_socket(self._context, kinds[place], latest=place == STATES) for place in kinds
            }
            for place, socket in sockets.items():
                guard(socket, keys)
                socket.bind(f"tcp://{host}:{port + place}")
        except zmq.ZMQError as error:
            self.close()
            raise InvalidValueError(
                f"nothing can listen at {address} and the two ports after it: {error.strerror}"
            ) from error
        self._pull, self._pub, self._rep = (sockets[place] for place in (COMMANDS, STATES, HELLOS))

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Keep real time until `stop()`; every control step has an absolute deadline."""
        step = self._robot.face.robot.control_step
        start, due = time.monotonic(), 0
        while not stop():
            self._wait(start + due * step)
            now = time.monotonic()
            self.timing.late.append(now - start - due * step)
            self._step()
            due += 1
            behind = int((time.monotonic() - start) / step) - due
            if behind >= 0:
                self.timing.overruns += 1
            if behind > _BEHIND:
                due += behind

    def close(self) -> None:
        """Close the sockets; commands then have no effect."""
        if self._guard is not None:
            self._guard.stop()
        self._context.destroy(linger=0)

    def _wait(self, deadline: float) -> None:
        """Answer hellos until the deadline."""
        while (left := deadline - time.monotonic()) > 0:
            if left > 2e-3 and self._rep.poll(int(left * 1e3) - 1):
                self._greet()
            elif left <= 2e-3:
                time.sleep(left)

    def _step(self) -> None:
        """A control step: take commands, watch over them, move, tell."""
        self._receive()
        mode: Mode = "ready" if self._commands is None else "damping" if self._silent >= _LATE else "driven"
        face = self._robot.face
        if mode == "driven" and self._commands is not None:
            commands = self._commands.motor_cmd
            if all(command.mode == 0 for command in commands):
                mode = "damping"
        else:
            commands = (
                motor_commands(face, np.zeros(len(face.motors)))
                if mode == "ready"
                else damping_commands(face)
            )
        self.timing.damped += mode == "damping"
        self._robot.step(commands)
        self._seq += 1
        self._pub.send(encode(self._robot.state(self._seq, mode, self._answered)))

    def _receive(self) -> None:
        """Take the newest command that is one."""
        self._silent += 1
        for _ in range(_MOST_MESSAGES):
            try:
                message = self._pull.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                command = decode(CommandMessage, message)
                self._check(command)
            except InvalidValueError:
                self.timing.refused += 1
                continue
            self._commands, self._answered, self._silent = command, command.seq, 0

    def _check(self, command: CommandMessage) -> None:
        """Raise InvalidValueError where a command is not for now."""
        if not self._session or not secrets.compare_digest(command.session.encode(), self._session.encode()):
            raise InvalidValueError("a command of another session")
        if command.seq <= self._answered or len(command.motor_cmd) != len(self._robot.face.motors):
            raise InvalidValueError("an old command, or one of another robot")

    def _greet(self) -> None:
        """Answer a hello; who is let in finds the robot in its first pose."""
        robot, refusal = self._robot.face.robot, ""
        try:
            message, *more = self._rep.recv_multipart(zmq.NOBLOCK)
            asked = decode(Hello, b"" if more else message)
            if asked.protocol != PROTOCOL:
                refusal = f"this robot speaks protocol {PROTOCOL}, not {asked.protocol}"
        except InvalidValueError:
            self.timing.refused += 1
            refusal = "this is no hello"
        told = self._commands.motor_cmd if self._commands else ()
        patience = _FORGOTTEN if any(command.mode for command in told) else _LET_GO
        if not refusal and self._session and self._silent * robot.control_step < patience:
            refusal = TAKEN
        if not refusal:
            self._session, self._answered, self._commands, self._silent = secrets.token_hex(16), 0, None, 0
            self._robot.reset()
        description = robot.description
        answer = Hello(
            protocol=PROTOCOL,
            robot=robot.name,
            joints=description.joints,
            feet=tuple(description.feet),
            control_step=robot.control_step,
            model=self._robot.face.model_hash,
            session="" if refusal else self._session,
            refusal=refusal,
        )
        with suppress(zmq.Again):
            self._rep.send(encode(answer), zmq.NOBLOCK)
