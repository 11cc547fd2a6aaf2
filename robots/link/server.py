"""`RobotServer`: a robot that keeps real time and is driven over ZeroMQ; it owns the watchdog.

A robot is in one of three modes, which `RobotServer._mode` decides in every control step:

* ready: its motors are damped before the first good command of a session, and after an error of the motors.
* driven: they do what the last good command says, as long as that came in the last two control steps and the
  sensors work.
* damping: they are damped since that command came earlier, or since sensors told nothing sound for 0.2 s; the
  robot says so.

Nothing that a socket brings, and no error of the robot, ends the control loop.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Protocol

import numpy as np
import zmq
from zmq.auth.thread import ThreadAuthenticator

from robots.errors import InvalidValueError, shown
from robots.link.interface import Interface
from robots.link.messages import (
    PROTOCOL,
    TAKEN,
    CommandMessage,
    Hello,
    Mode,
    MotorCommand,
    State,
    check_commands,
    damping_commands,
    decode,
    encode,
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
_BLIND = 0.2  # [s] without a sound reading of its sensors, after which the robot is in damping
_FORGOTTEN = 2.0  # [s] without a command, after which another computer may drive
_LET_GO = 0.5  # [s] the same where there was no command yet, or the last one damped the robot
_MOST_MESSAGES = 100  # looked at in a control step
_READING = 0.25  # of a control step, which looking at messages may take
_MOST_SAID = 20  # sentences of different faults that are kept
_BEHIND = 10  # control steps: if it is further behind, it skips them
_KEPT = 30_000  # control steps whose lateness is kept: ten minutes


@dataclass
class DeadlineTiming:
    """How well deadlines were kept."""

    steps: int = 0
    # how much later than its deadline each of the last control steps began [s]
    late: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    overruns: int = 0  # control steps that were not done when the next one was due
    damped: int = 0  # control steps in damping after the first command
    refused: int = 0  # messages that were none, too old, or not what the motors may do
    faults: dict[str, int] = field(default_factory=dict)  # what went wrong, in sentences, and how often

    @property
    def words(self) -> str:
        """All of it in a line."""
        p50, p99 = np.percentile(self.late or [0.0], [50, 99]) * 1e3
        return (
            f"{self.steps} control steps, begun late by {p50:.2f} ms (median) and {p99:.2f} ms (99%); "
            f"{self.overruns} overruns, {self.damped} steps in damping, {self.refused} messages refused"
        ) + "".join(f"; {count} times: {fault}" for fault, count in self.faults.items())


class Machine(Protocol):
    """What is served: a `SimulatedRobot`, or what a bridge makes of a real one."""

    @property
    def face(self) -> Interface:
        """What actions mean on it."""

    def reset(self) -> None:
        """Begin anew for who drives next: a simulation in its first pose; a real robot must not move."""

    def step(self, commands: tuple[MotorCommand, ...]) -> None:
        """Have the motors do this for a control step, and no longer: damp them where no next call comes."""

    def state(self, seq: int, mode: Mode, answered: int) -> State:
        """What its sensors report; raises where that is not sound."""


class RobotServer:
    """Serves a robot.

    Args:
        robot: to serve.
        address: tcp://HOST:PORT, see `robots.link.sockets`.
        keys: folder of the keys that encrypt the link; needed where others can reach the address.
        say: called once with each fault, in a thread of its own, so that it cannot block the control loop.
    """

    def __init__(
        self,
        robot: Machine,
        address: str,
        *,
        keys: Path | None = None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        host, port = parse_address(address)
        check_keys(host, keys)
        self._robot, self.timing, self._say = robot, DeadlineTiming(), say
        self._step_length, self._damping = robot.face.robot.control_step, damping_commands(robot.face)
        self._context, self._guard = zmq.Context(), None
        if keys is not None:
            make_keys(keys)
            self._guard = ThreadAuthenticator(self._context)
            self._guard.start()
            self._guard.configure_curve(domain="*", location=str(keys))
        self._session, self._seq, self._answered = "", 0, 0
        self._silent = self._blind = 0  # control steps since the last good command, and since a sound reading
        self._commands: CommandMessage | None = None
        try:
            self._pull, self._pub, self._rep = (
                self._bound(kind, host, port, place, keys)
                for kind, place in ((zmq.PULL, COMMANDS), (zmq.PUB, STATES), (zmq.REP, HELLOS))
            )
        except zmq.ZMQError as error:
            self.close()
            raise InvalidValueError(
                f"nothing can listen at {address} and the two ports after it: {error.strerror}"
            ) from error

    def _bound(self, kind: int, host: str, port: int, place: int, keys: Path | None) -> zmq.Socket:
        socket = new_socket(self._context, kind, latest=place == STATES)
        guard(socket, keys)
        socket.bind(f"tcp://{host}:{port + place}")
        return socket

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Keep real time until `stop()`; every control step has an absolute deadline. It ends in damping."""
        step = self._step_length
        start, due = time.monotonic(), 0
        try:
            while not stop():
                self._wait(start + due * step)
                now = time.monotonic()
                self.timing.steps += 1
                self.timing.late.append(now - start - due * step)
                self._step()
                due += 1
                behind = int((time.monotonic() - start) / step) - due
                if behind >= 0:
                    self.timing.overruns += 1
                if behind > _BEHIND:
                    due += behind
        finally:
            with self._survived("the robot cannot be damped"):
                self._robot.step(self._damping)

    def close(self) -> None:
        """Close the sockets; commands then have no effect."""
        if self._guard is not None:
            self._guard.stop()
        self._context.destroy(linger=0)

    @contextmanager
    def _survived(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._note(f"{what}: {shown(str(error) or type(error).__name__)}")

    def _note(self, fault: str) -> None:
        """Count a fault; one that is new is said, without waiting for who listens."""
        faults = self.timing.faults
        if fault in faults or len(faults) < _MOST_SAID:
            faults[fault] = faults.get(fault, 0) + 1
            if faults[fault] == 1:
                Thread(target=self._say, args=(fault,), daemon=True).start()

    def _wait(self, deadline: float) -> None:
        """Answer hellos until the deadline, and look for one where it is past."""
        left = deadline - time.monotonic()
        while True:
            with self._survived("a hello could not be answered"):
                if self._rep.poll(max(int(left * 1e3) - 1, 0)):
                    self._greet()
            if (left := deadline - time.monotonic()) <= 2e-3:
                time.sleep(max(left, 0.0))
                return

    @property
    def _mode(self) -> Mode:
        if self._commands is None:
            return "ready"
        told = any(command.mode for command in self._commands.motor_cmd)
        heard, felt = self._silent < _LATE, self._blind * self._step_length < _BLIND
        return "driven" if told and heard and felt else "damping"

    def _step(self) -> None:
        with self._survived("commands could not be taken"):
            self._receive()
        mode = self._mode
        commands = self._commands.motor_cmd if mode == "driven" and self._commands else self._damping
        try:
            self._robot.step(commands)
        except Exception:
            with self._survived("the robot's motors failed, and it is damped until the next hello"):
                self._session, self._commands, mode = "", None, "damping"
                self._robot.step(self._damping)
                raise
        self.timing.damped += mode == "damping"
        self._seq, self._blind = self._seq + 1, self._blind + 1
        with self._survived("the robot's sensors tell nothing sound"):
            self._pub.send(encode(self._robot.state(self._seq, mode, self._answered)))
            self._blind = 0

    def _receive(self) -> None:
        """Take the newest command that is good, without looking at more than there is time for."""
        self._silent += 1
        until = time.monotonic() + _READING * self._step_length
        for _ in range(_MOST_MESSAGES):
            try:
                command = decode(CommandMessage, *self._pull.recv_multipart(zmq.NOBLOCK))
                self._check(command)
                self._commands, self._answered, self._silent = command, command.seq, 0
            except zmq.Again:
                return
            except InvalidValueError as error:
                self._refuse(error)
            if time.monotonic() > until:
                return

    def _refuse(self, error: InvalidValueError) -> None:
        self.timing.refused += 1
        self._note(f"a message was refused: {error}")

    def _check(self, command: CommandMessage) -> None:
        if not self._session or not secrets.compare_digest(command.session.encode(), self._session.encode()):
            raise InvalidValueError("a command of another session")
        if command.seq <= self._answered:
            raise InvalidValueError("an old command")
        check_commands(self._robot.face, command.motor_cmd)

    def _greet(self) -> None:
        """Answer a hello, which moves no motor; who is let in finds the robot ready."""
        try:
            message = self._rep.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:  # what came was no request, and is gone
            return
        refusal = "the robot is out of order"
        try:
            refusal = self._let_in(message)
        finally:  # or no further hello would be heard
            session = "" if refusal else self._session
            with suppress(zmq.Again):
                answer = Hello.of(self._robot.face, session=session, refusal=refusal)
                self._rep.send(encode(answer), zmq.NOBLOCK)

    def _let_in(self, message: Sequence[bytes]) -> str:
        """Begin a session with who says hello; why not, or ""."""
        try:
            asked = decode(Hello, *message)
        except InvalidValueError as error:
            self._refuse(error)
            return "this is no hello"
        if asked.protocol != PROTOCOL:
            return f"this robot speaks protocol {PROTOCOL}, not {asked.protocol}"
        if wrong := Hello.of(self._robot.face).unlike(asked):
            return f"it {wrong}"
        told = self._commands.motor_cmd if self._commands else ()
        patience = _FORGOTTEN if any(command.mode for command in told) else _LET_GO
        if self._session and self._silent * self._step_length < patience:
            return TAKEN
        self._robot.reset()
        self._session, self._answered = secrets.token_hex(16), 0
        self._commands, self._silent, self._blind = None, 0, 0
        return ""
