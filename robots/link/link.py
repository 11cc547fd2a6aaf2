"""`RobotLink`: what drives a robot, be it simulated in this process or somewhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from robots.errors import SurefootError
from robots.link.interface import Interface
from robots.link.messages import State


class LinkError(SurefootError):
    """A robot that does not answer, or answers what it should not; it is in damping, or will be at once."""


class RobotLink(ABC):
    """Gives the robot's states, and sends it commands."""

    face: Interface
    sent: int  # number of the last command, which `State.answered` repeats

    @abstractmethod
    def observe(self) -> State | None:
        """The newest state, or None if none comes in time; raises LinkError after too long a silence."""

    @abstractmethod
    def act(self, action: np.ndarray) -> None:
        """Have the motors do what an action from -1 to 1 commands, (a,)."""

    @abstractmethod
    def damp(self) -> None:
        """Have the robot sink down."""

    @property
    def words(self) -> str:
        """How regularly states came, in a line; "" where none can be late."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Let go of the robot, which is in damping then."""

    def __enter__(self) -> RobotLink:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
