"""`Walk`: how a robot went over the ground, in one episode or on average over several, and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robots.robot import Robot
    from robots.simulation.episodes import Episodes

WALK_EPISODES = 5  # that tell how a gait walks
IN_CIRCLES = "in circles"
_MOSTLY = 0.5  # share of falls above which a gait is one that falls
_MOVES = 0.1  # [m] between start and end, or [rad] turned, below which a robot does not walk
_CIRCLE = math.radians(90)  # a robot that turns further is said to walk in circles
_STRAIGHT = math.radians(15)  # and one that turns less, straight, ...
_BESIDE = 0.1  # ... if it ends up beside the line straight ahead by less than this share of the way ahead


@dataclass(frozen=True)
class Walk:
    """How a robot went over the ground; on average over several episodes, sizes of what goes to a side."""

    ahead: float  # net displacement towards the target [m]
    aside: float  # net displacement to the left [m]
    path: float  # length of the torso's way, swaying included [m]
    turned: float  # how far the torso turned, to the left less to the right [rad]
    single: bool = False  # whether it is of a single episode, which has a left and a right
    falls: float = 0.0  # share of the episodes that ended in a fall, see `robots.falls`

    @classmethod
    def of(cls, episodes: Episodes) -> Walk | None:
        """The average over those episodes that did not diverge; None where all did."""
        good = ~episodes.diverged
        if not good.any():
            return None
        assert episodes.paths is not None
        assert episodes.turned is not None
        columns = (episodes.distances, abs(episodes.lateral), episodes.paths, abs(episodes.turned))
        ahead, aside, path, turned = (float(np.mean(column[good])) for column in columns)
        return cls(ahead, aside, path, turned, falls=float(np.mean(episodes.fell[good])))

    @classmethod
    def tried(cls, robot: Robot, parameters: np.ndarray, seeds: np.ndarray) -> Walk | None:
        """That of a gait (p,) in the episodes of these seeds, see `of`."""
        from robots.simulation.backend import ModelBatch
        from robots.simulation.threads import Threads

        solutions = np.repeat(parameters[None], len(seeds), axis=0)
        return cls.of(Threads(1).run(ModelBatch(robot), solutions, seeds))

    @property
    def course(self) -> str:
        """Whether it went straight, in a curve or in circles."""
        if abs(self.turned) >= _CIRCLE:
            return IN_CIRCLES
        if abs(self.turned) < _STRAIGHT and abs(self.aside) < _BESIDE * abs(self.ahead):
            return "straight"
        return "in a curve"

    @property
    def words(self) -> str:
        """Displacement, path and turning, and what it does: it falls, hardly moves, or walks on a course."""
        if self.falls > _MOSTLY:
            return f"{self.way}: it falls"
        moves = max(math.hypot(self.ahead, self.aside), abs(self.turned)) > _MOVES
        return f"{self.way}: it {f'walks {self.course}' if moves else 'hardly moves'}"

    @property
    def way(self) -> str:
        """Displacement, path and turning."""

        def side(value: float) -> str:
            return f"to the {'left' if value > 0 else 'right'}" if self.single else "to the side"

        turned = f"turned by {math.degrees(abs(self.turned)):.0f}°"
        return (
            f"{self.ahead:.2f} m ahead and {abs(self.aside):.2f} m {side(self.aside)} on a path of "
            f"{self.path:.2f} m, {turned}{' ' + side(self.turned) if self.single else ''}"
        )
