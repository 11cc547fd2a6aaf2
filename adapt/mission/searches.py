"""`Searches`: what a robot works on while it walks."""

from collections.abc import Callable
from typing import Any, NamedTuple

from adapt.mission.world import BackgroundSearch, World


class _Begun(NamedTuple):
    """A search, when it should be done [s], and who takes what it finds."""

    due: float
    search: BackgroundSearch
    take: Callable[[Any], None]


class Searches:
    """Searches that are done in the order in which they began.

    Args:
        world: where the robot walks meanwhile.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._begun: list[_Begun] = []

    def begin(self, work: Callable[[], Any], seconds: float, take: Callable[[Any], None]) -> None:
        """Begin with what is done so many seconds from now, and have `take` called with what it finds."""
        due = self._world.clock + seconds
        self._begun.append(_Begun(due, self._world.search(work, seconds), take))

    def give_up(self) -> None:
        """Care for none of them any more."""
        self._begun = []

    def due(self, seconds: float) -> bool:
        """Whether one of them should have been done within the last seconds."""
        return any(0 <= self._world.clock - one.due < seconds for one in self._begun)

    def take_found(self) -> None:
        """Take what was found by those that are done."""
        while self._begun and self._begun[0].search.done():
            first = self._begun.pop(0)
            first.take(first.search.result())
