"""`RobotLink`: what drives a robot, be it simulated in this process or somewhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter

import numpy as np

from robots.errors import SurefootError
from robots.link.interface import Interface
from robots.link.messages import MotorCommand, State, damping_commands, motor_commands

_SAME = 1e-6  # [rad or m]


class LinkError(SurefootError):
    """A robot that does not answer, or answers what it should not; it is in damping, or will be at once."""


class RobotLink(ABC):
    """Gives the robot's states, and sends it commands that keep to what is allowed, see `Interface.kept`.

    Attributes:
        face: what actions mean on the robot.
        sent: number of the last command, which `State.answered` repeats.
        state: that was observed last.
    """

    state: State

    def __init__(self, face: Interface) -> None:
        self.face, self.sent = face, 0
        self._told: tuple[MotorCommand, ...] = ()  # the last command, () where the robot is damped
        self._limited = Counter[str]()  # commands in which the target of a joint was

    @abstractmethod
    def observe(self) -> State | None:
        """The newest state, or None if none comes in time; raises LinkError after too long a silence."""

    @abstractmethod
    def send(self, commands: tuple[MotorCommand, ...]) -> None:
        """Send the command with the number `sent`."""

    def act(self, action: np.ndarray) -> None:
        """Have the motors do what an action from -1 to 1 commands, (a,)."""
        driven = self._told if self.state.mode == "driven" else ()
        last = np.array([each.q for each in driven or self.state.motor_state])
        self._told = motor_commands(self.face, action, last)
        wanted, (low, high, _) = self.face.targets(np.clip(action, -1, 1)), self.face.allowed
        for joint, command in enumerate(self._told):
            if abs(command.q - wanted[joint]) > _SAME:
                what = "rate" if low[joint] <= wanted[joint] <= high[joint] else "range"
                self._limited[f"{self.face.robot.description.joints[joint]} to its {what}"] += 1
        self.sent += 1
        self.send(self._told)

    def damp(self) -> None:
        """Have the robot sink down."""
        self._told = ()
        self.sent += 1
        self.send(damping_commands(self.face))

    @property
    def words(self) -> str:
        """What was to be noted of states and commands, in a line."""
        most = [f"that of {what} in {count} commands" for what, count in self._limited.most_common(3)]
        return f"; targets were limited, {', '.join(most)}" if most else ""

    def close(self) -> None:  # noqa: B027
        """Let go of the robot, which is in damping then."""

    def __enter__(self) -> RobotLink:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
