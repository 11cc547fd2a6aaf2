"""`Mission`: a mission whose repertoire, goals and damages may be given by names and texts."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from adapt.mission import mission
from adapt.mission.linked import LinkedWorld
from adapt.mission.log import Event, LogWriter, MissionFacts, MissionResult
from adapt.mission.world import World
from adapt.rehearsal.table import Table
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import find_selector, find_table
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.link.keeper import KeeperProcess
from robots.simulation.threads import backend_of
from surefoot.keywords import asked, takes
from surefoot.shipped import opened


@takes(MissionRequest)
class Mission:
    """A robot walks to goals while things break; iterate over it for its events, then read its `result`.

    Args:
        source: a repertoire, a repertoire file, the folder of a run, or the name of an included repertoire.
        rehearsal: what `surefoot.rehearse` returned, or its file; by default that next to the repertoire's.
        robot: address of a robot to walk with, tcp://HOST:PORT, see `surefoot robot`; in the end, and upon
            any error, it is damped. By default the mission simulates one.
        keys: folder with the keys of an encrypted link.
        log: file to which every event and all poses are written as they come, for `surefoot explore`; it is
            replaced.
        world: where the robot walks, in place of a simulation or `robot`.
        threads: of the simulation; all cores by default.
        on_step: called after every control step with the world in which the robot walks.
        say: told what somebody near the robot has to do.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector or kind of damage.
        InvalidValueError: the repertoire is empty, its robot cannot turn, or an argument is wrong.
        InvalidFileError: a file cannot be read.
        robots.link.link.LinkError: no robot answers, or it is another one; while iterating, it was lost.
        SurefootError: pyzmq is not installed.

    Attributes:
        repertoire: with episodes as long as what is planned.
        request: what it is to do.
        linked: the robot behind a link, None where it is simulated.
    """

    def __init__(
        self,
        source: Repertoire | str | Path,
        *,
        rehearsal: Table | str | Path | None = None,
        robot: str | None = None,
        keys: str | Path | None = None,
        log: str | Path | None = None,
        world: World | None = None,
        threads: int | None = None,
        on_step: Callable[[Any], None] = lambda _: None,
        say: Callable[[str], object] = print,
        **settings: Any,
    ) -> None:
        repertoire, file = opened(source)
        self.request = asked(MissionRequest, settings)
        selector = self.request.selector
        table, _ = find_table(repertoire, file, selector, rehearsal)
        if robot is not None and self.request.changes:
            raise InvalidValueError(
                "what breaks is for a simulation: have the robot behind a link break itself"
            )
        self._log: LogWriter | None = None

        def stepped(where: World) -> None:
            if self._log:
                self._log.note(where)
            on_step(where)

        self.linked: LinkedWorld | None = None
        with ExitStack() as stack:
            if robot is not None:
                driver = KeeperProcess(repertoire.robot, robot, None if keys is None else Path(keys))
                stack.callback(driver.close)
                world = self.linked = LinkedWorld(repertoire.robot, driver, on_step=stepped, say=say)
            self._mission = mission.Mission(
                repertoire,
                self.request,
                table=table,
                backend=backend_of(threads),
                world=world,
                on_step=stepped,
            )
            stack.pop_all()
        self.repertoire = self._mission.repertoire
        if log is not None:
            facts = dict(self.request) | {"selector": selector and find_selector(selector).name}
            self._log = LogWriter(
                Path(log),
                MissionFacts(
                    **facts,
                    robot=repertoire.robot.name,
                    repertoire=fingerprint(repertoire),
                    rehearsal=str(rehearsal) if isinstance(rehearsal, str | Path) else None,
                ),
            )

    def __iter__(self) -> Generator[Event]:
        if self._log:
            self._log.begin()
        with closing(iter(self._mission)) as events:
            for event in events:
                if self._log:
                    self._log.add(event)
                yield event

    @property
    def result(self) -> MissionResult:
        """How it went so far."""
        return self._mission.result

    @property
    def latest(self) -> Event | None:
        """The latest event, None before the first."""
        return self._mission.latest
