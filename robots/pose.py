"""`Pose`: where a robot is on the floor, and which way it looks."""

from __future__ import annotations

import math
from typing import NamedTuple


class Pose(NamedTuple):
    """A place on the floor and a heading; also the frame whose origin and x axis these are.

    Attributes:
        x: [m].
        y: [m].
        yaw: [rad], to the left positive.
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def __matmul__(self, other: Pose) -> Pose:
        """A pose in this frame as one in the frame in which this one is."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        yaw = wrapped_angle(self.yaw + other.yaw)
        return Pose(self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y, yaw)

    def seen_from(self, frame: Pose) -> Pose:
        """This pose in a frame."""
        c, s, x, y = math.cos(frame.yaw), math.sin(frame.yaw), self.x - frame.x, self.y - frame.y
        return Pose(c * x + s * y, c * y - s * x, wrapped_angle(self.yaw - frame.yaw))

    def distance(self, place: tuple[float, ...]) -> float:
        """To a place or pose [m]."""
        return math.hypot(place[0] - self.x, place[1] - self.y)

    def bearing(self, place: tuple[float, ...]) -> float:
        """Direction in which a place lies, relative to the heading [rad], to the left positive."""
        return wrapped_angle(math.atan2(place[1] - self.y, place[0] - self.x) - self.yaw)


def wrapped_angle(angle: float) -> float:
    """The same angle from -π to π [rad]."""
    return angle - 2 * math.pi * round(angle / (2 * math.pi))
