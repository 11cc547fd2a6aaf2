"""`World`: what a mission asks of the robot that walks it, simulated or behind a link; and `Searches`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from adapt.damage import HEALTHY
from robots.errors import InvalidValueError
from robots.pose import Pose
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.trace import SENSORS
from robots.stance import all_servos

ASSISTANCE = 20.0  # [s] of a simulated mission's clock that it takes somebody to set the robot upright
Until = Callable[[np.ndarray, int], bool]


def go_on(_trace: np.ndarray, _made: int) -> bool:
    """An `until` that never ends a stretch."""
    return False


@dataclass(frozen=True, eq=False)
class Stretch:
    """What happened while one gait was driven without a break."""

    row: int  # of the gait
    start: Pose  # pose at its beginning, in the world
    end: Pose  # and at its end
    # what the sensors read, in the frame that the gait was told, see `robots.simulation.trace`
    trace: np.ndarray
    episodes: Episodes  # the stretch as the only one of some episodes
    fell: bool  # whether it ended because the robot was not upright any more

    @property
    def moved(self) -> Pose:
        """Where the robot was at the end, in the frame of the start."""
        return self.end.seen_from(self.start)


class BackgroundSearch(NamedTuple):
    """Work that goes on while the robot walks: whether it is done, and what it found then."""

    done: Callable[[], bool]
    result: Callable[[], Any]


class World(ABC):
    """Where a mission's robot walks; what its attributes say changes during calls of its methods alone.

    Args:
        robot: that walks; raises InvalidValueError where it cannot turn.

    Attributes:
        robot: as it is now, as far as is known here: behind a link the whole one.
        damage: text of what is known to be broken there: behind a link always `healthy`.
        holds_pose: whether all of the robot's motors are servos, which hold a pose.
        sensors: what a diagnosis may rely on, of `robots.simulation.trace.SENSORS`.
        driving: row of the gait that is on its way; None while the robot stands.
        clock: time since the beginning [s].
        steps: control steps since the beginning.
        pose: where the robot is, seen from where it began.
        upright: whether the robot is on its feet.
    """

    robot: Robot
    damage = HEALTHY
    sensors: tuple[str, ...] = SENSORS
    driving: int | None = None
    clock: float
    steps: int
    pose: Pose
    upright: bool

    def __init__(self, robot: Robot) -> None:
        if not robot.moves_freely:
            raise InvalidValueError(f"a mission needs a robot that can turn, which the {robot.name} cannot")
        self.holds_pose = all_servos(robot)

    @property
    @abstractmethod
    def touching(self) -> np.ndarray:
        """Which feet touch the floor, (f,) bool."""

    @abstractmethod
    def posed_data(self) -> mujoco.MjData:
        """The robot as it is now, seen from where it began, as data of its model."""

    @abstractmethod
    def drive(
        self,
        row: int,
        parameters: np.ndarray,
        steps: int,
        *,
        towards: float = 0.0,
        abrupt: bool = False,
        until: Until = go_on,
    ) -> Stretch:
        """Drive a gait from where the robot is.

        Args:
            row: of the gait.
            parameters: of its controller, (p,).
            steps: how long at most [control steps].
            towards: heading that the gait takes to be straight ahead, relative to that of the robot [rad].
            abrupt: whether it begins as episodes do, without a ramp from what servos were told last.
            until: called after each step with the trace and the number of its rows; True ends the stretch.
        """

    @abstractmethod
    def stand(self, steps: int) -> None:
        """Let time pass: servos hold the pose in which episodes start, motors that are told torques rest."""

    @abstractmethod
    def set_upright(self, within: float) -> bool:
        """Have somebody put the robot on its feet where it lies, with its heading and its joints as they are.

        Returns whether that was done within so many seconds; if not, the robot lies where it lay.
        """

    @abstractmethod
    def think(self, seconds: float, row: int | None, parameters: np.ndarray) -> bool:
        """Let so many seconds of thinking pass, where time stands still meanwhile; returns whether it fell.

        The robot goes on with the gait of a row and its parameters, (p,), or stands if there is no row.
        """

    @abstractmethod
    def search(self, work: Callable[[], Any], seconds: float) -> BackgroundSearch:
        """Begin with what takes so many seconds while the robot walks."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the robot."""


class Searches:
    """Searches that are done one after the other, in the order in which they were asked for."""

    def __init__(self, world: World) -> None:
        self._world = world
        # work, how long it takes [s], and who takes what it finds; the first is being done
        self._left: list[tuple[Callable[[], Any], float, Callable[[Any], None]]] = []
        self._running: BackgroundSearch | None = None
        self._due = 0.0  # when that should be done [s]

    def add(self, work: Callable[[], Any], seconds: float, take: Callable[[Any], None]) -> None:
        """Do work that takes so many seconds, after all else, and have `take` called with what it finds."""
        self._left.append((work, seconds, take))
        self._begin()

    def give_up(self) -> None:
        """Care for none of them any more."""
        self._left, self._running = [], None

    def due(self, seconds: float) -> bool:
        """Whether the one that is being done should have been done within the last seconds."""
        return self._running is not None and 0 <= self._world.clock - self._due < seconds

    @property
    def wait(self) -> float:
        """Seconds until the one that is being done should be done; 0 without any."""
        return 0.0 if self._running is None else max(0.0, self._due - self._world.clock)

    def take_found(self) -> None:
        """Take what was found by those that are done."""
        while self._running is not None and self._running.done():
            found, (*_, take) = self._running.result(), self._left.pop(0)
            self._running = None
            take(found)
            self._begin()

    def _begin(self) -> None:
        """Begin with the first that is left, unless that was begun."""
        if self._running is None and self._left:
            work, seconds, _ = self._left[0]
            self._due = self._world.clock + seconds
            self._running = self._world.search(work, seconds)
