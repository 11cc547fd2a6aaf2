"""`Searches`: what a robot works on while it walks."""

from collections.abc import Callable
from typing import Any, NamedTuple

from adapt.mission.world import BackgroundSearch, World


class _Search(NamedTuple):
    """Work, how long it takes [s], and who takes what it finds."""

    work: Callable[[], Any]
    seconds: float
    take: Callable[[Any], None]


class Searches:
    """Searches that are done one after the other, in the order in which they were asked for.

    Args:
        world: where the robot walks meanwhile.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._left: list[_Search] = []  # the first is being done
        self._running: BackgroundSearch | None = None
        self._due = 0.0  # when that should be done [s]

    def add(self, work: Callable[[], Any], seconds: float, take: Callable[[Any], None]) -> None:
        """Do work that takes so many seconds, after all else, and have `take` called with what it finds."""
        self._left.append(_Search(work, seconds, take))
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
            found, take = self._running.result(), self._left.pop(0).take
            self._running = None
            take(found)
            self._begin()

    def _begin(self) -> None:
        """Begin with the first that is left, unless that was begun."""
        if self._running is None and self._left:
            work, seconds, _ = self._left[0]
            self._due = self._world.clock + seconds
            self._running = self._world.search(work, seconds)
