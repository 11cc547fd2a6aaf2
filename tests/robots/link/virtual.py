"""A robot and the computer that drives it, on a network and a clock that are simulated, or in one process."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import zmq

from robots.link import remote as remote_module
from robots.link import server as server_module
from robots.link.link import RobotLink
from robots.link.messages import Hello, MotorCommand, State, encode
from robots.link.remote import RemoteLink
from robots.link.server import RobotServer
from robots.link.simulated import SimulatedRobot
from robots.robot import Robot

ADDRESS = "tcp://127.0.0.1:6000"


class SimulatedLink(RobotLink):
    """A link to a robot that is simulated in this process; the clock stands still between commands."""

    def __init__(self, simulated: SimulatedRobot) -> None:
        super().__init__(simulated.face)
        self._robot, self.state = simulated, simulated.state(0, "ready", 0)

    def observe(self) -> State:
        return self.state

    def send(self, commands: tuple[MotorCommand, ...]) -> None:
        self._robot.step(commands)
        self.state = self._robot.state(self.sent, "driven" if self._told else "damping", self.sent)


class Watched(SimulatedRobot):
    """A simulated robot that notes in every control step when it was, and whether its motors were stiff."""

    def __init__(self, rig: "Rig", robot: Robot, **options: Any) -> None:
        self.rig, self.stiff = rig, list[tuple[float, bool]]()
        super().__init__(robot, robot, **options)

    def reset(self) -> None:
        self.rig.on_reset()
        super().reset()

    def step(self, commands: tuple[MotorCommand, ...]) -> None:
        stiff = any(command.mode for command in commands)
        self.rig.on_step(stiff)
        self.stiff.append((self.rig.now, stiff))
        super().step(commands)


class Rig:
    """Both sides, of which the server's takes a control step whenever it is due on the clock of the rig.

    Attributes:
        now: by the clock [s].
        machine, server: the robot's side.
        on_command: what becomes of a command under way: the messages that come.
        on_state: what becomes of a state, as JSON; None of one that is lost.
        on_step: called before each control step with whether motors will be stiff; what it raises.
        on_reset: likewise, before the robot begins anew.
        commands: that were sent, as they were.
        states: likewise.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, robot: Robot, **options: Any) -> None:
        self.now = self._due = 100.0
        self._step, self._agenda = robot.control_step, list[tuple[float, Callable[[], object]]]()
        self.inbox, self.commands, self.states = deque[list[bytes]](), list[bytes](), list[dict[str, Any]]()
        self._hello: list[bytes] | None = None
        self._answer: bytes | None = None
        self._newest: bytes | None = None
        self.on_command: Callable[[bytes], list[bytes]] = lambda message: [message]
        self.on_state: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda state: state
        self.on_step: Callable[[bool], object] = lambda _: None
        self.on_reset: Callable[[], object] = lambda: None
        for module in (remote_module, server_module):
            monkeypatch.setattr(module, "time", self)
            monkeypatch.setattr(module, "new_socket", lambda _, kind, **__: _Socket(self, kind))
        self.machine = Watched(self, robot, **options)
        self.server = RobotServer(self.machine, ADDRESS)

    def link(self, robot: Robot | None = None) -> RemoteLink:
        """A new computer that drives."""
        return RemoteLink(robot or self.machine.face.robot, ADDRESS)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._due <= end:
            self.now = self._due
            while self._agenda and self._agenda[0][0] <= self.now:
                self._agenda.pop(0)[1]()
            if self._hello is not None:
                with self.server._survived("a hello could not be answered"):
                    self.server._greet()
            self.server._step()
            self._due += self._step
        self.now = end

    def at(self, seconds: float, action: Callable[[], object]) -> None:
        """Have something happen then."""
        self._agenda = sorted([*self._agenda, (seconds, action)], key=lambda entry: entry[0])

    def say_hello(self, **changes: object) -> Hello:
        """What the robot answers to a computer that does nothing else, or says something else."""
        socket = _Socket(self, zmq.REQ)
        socket.send(encode(Hello.of(self.machine.face).model_copy(update=changes)))
        return Hello.model_validate_json(socket.recv())

    def restart(self) -> None:
        """The robot's side begins anew."""
        self.server.close()
        self.server = RobotServer(self.machine, ADDRESS)


class _Socket:
    """What either side has of the network."""

    rcvtimeo = sndtimeo = 5000

    def __init__(self, rig: Rig, kind: int) -> None:
        self._rig, self._kind = rig, kind

    def bind(self, _: str) -> None: ...

    connect = subscribe = bind

    def __enter__(self) -> "_Socket":
        return self

    def __exit__(self, *_: object) -> None: ...

    def send(self, message: bytes, _flags: int = 0) -> None:
        rig = self._rig
        if self._kind == zmq.PUSH:
            rig.commands.append(message)
            rig.inbox.extend([each] for each in rig.on_command(message))
        elif self._kind == zmq.PUB:
            rig.states.append(json.loads(message))
            state = rig.on_state(json.loads(message))
            rig._newest = rig._newest if state is None else json.dumps(state).encode()
        elif self._kind == zmq.REQ:
            rig._hello = [message]
        else:
            rig._answer = message

    def poll(self, milliseconds: int) -> bool:
        end = self._rig.now + milliseconds / 1e3
        while self._arrived() is None and self._rig.now < end:
            self._rig.sleep(max(0.0, min(self._rig._due, end) - self._rig.now))
        return self._arrived() is not None

    def _arrived(self) -> bytes | None:
        return self._rig._newest if self._kind == zmq.SUB else self._rig._answer

    def recv(self, _flags: int = 0) -> bytes:
        if not self.poll(self.rcvtimeo):
            raise zmq.Again
        found = self._arrived()
        if self._kind == zmq.SUB:
            self._rig._newest = None
        else:
            self._rig._answer = None
        return found

    def recv_multipart(self, _flags: int = 0) -> list[bytes]:
        rig = self._rig
        if self._kind == zmq.REP:
            found, rig._hello = rig._hello, None
        else:
            found = rig.inbox.popleft() if rig.inbox else None
        if found is None:
            raise zmq.Again
        return found
