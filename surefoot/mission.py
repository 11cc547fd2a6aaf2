"""`Mission`: a mission whose repertoire, goals and damages may be given by names and texts."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapt.mission.events import Event, MissionFacts
from adapt.mission.keeper import KeeperProcess
from adapt.mission.linked import LinkedWorld
from adapt.mission.mission import CORES, EPISODES, MAX_FALLS, REFINEMENT
from adapt.mission.mission import Mission as _Mission
from adapt.mission.plan import Plan, read_changes, read_goal
from adapt.mission.poses import PoseRecorder
from adapt.selectors.catalogue import find_table
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.files.atomic import explain_errors, write_text
from robots.files.records import validate
from robots.simulation.threads import backend_of
from surefoot.shipped import opened

if TYPE_CHECKING:
    from adapt.rehearsal.table import Table

SECONDS = 120.0
WITHIN = 0.25


class Mission(_Mission):
    """A robot walks to goals while things break; iterate over it for its events, then read its `result`.

    Args:
        source: a repertoire, a repertoire file, the folder of a run, or the name of an included repertoire.
        goals: places to reach [m], x ahead of the first pose and y to its left, or texts X,Y; without any the
            robot walks ahead until its time is up.
        changes: what happens, as DAMAGE@SECONDS or `repaired@SECONDS`.
        seconds: that the mission may take.
        within: distance at which a goal is reached [m].
        rehearsal: what `surefoot.rehearse` returned, or its file; by default that next to the repertoire's.
        selector: what finds out what is wrong after an alarm or a fall; `self-model` by default.
        robot: address of a robot to walk with, tcp://HOST:PORT, see `surefoot robot`; in the end, and upon
            any error, it is damped. By default the mission simulates one.
        keys: folder with the keys of an encrypted link.
        log: file to which every event and all poses are written as they come, for `surefoot explore`; it is
            replaced.
        on_step: called after every control step with the simulation, or with the `LinkedWorld`.
        say: told what somebody near the robot has to do.
        **settings: of `adapt.mission.mission.Mission`: `seed`, `episodes`, `refinement`, `cores`,
            `max_falls`, `threads`, and `world` in place of `robot`.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector or kind of damage.
        InvalidValueError: the repertoire is empty, its robot cannot turn, or an argument is wrong.
        InvalidFileError: a file cannot be read.
        robots.link.link.LinkError: no robot answers, or it is another one; while iterating, it was lost.
        SurefootError: pyzmq is not installed.

    Attributes:
        linked: the robot behind a link, None where it is simulated.
    """

    def __init__(
        self,
        source: Repertoire | str | Path,
        *,
        goals: Sequence[tuple[float, float] | str] = (),
        changes: Sequence[str] = (),
        seconds: float = SECONDS,
        within: float = WITHIN,
        rehearsal: "Table | str | Path | None" = None,
        selector: str | None = None,
        robot: str | None = None,
        keys: str | Path | None = None,
        log: str | Path | None = None,
        on_step: Callable[[Any], None] = lambda _: None,
        say: Callable[[str], object] = print,
        **settings: Any,
    ) -> None:
        repertoire, file = opened(source)
        plan = Plan(
            tuple(read_goal(goal) if isinstance(goal, str) else goal for goal in goals),
            within,
            seconds,
            read_changes(changes, repertoire.robot),
        )
        table, _ = find_table(repertoire, file, selector, rehearsal)
        if robot is not None and changes:
            raise InvalidValueError(
                "what breaks is for a simulation: have the robot behind a link break itself"
            )
        self._log = None if log is None else _Log(Path(log))
        if self._log:
            on_step = self._log.noting(on_step)
        settings["backend"] = backend_of(settings.pop("threads", None))
        settings |= {"table": table, "selector": selector, "on_step": on_step}
        self.linked: LinkedWorld | None = None
        with ExitStack() as stack:
            if robot is not None:
                driver = KeeperProcess(repertoire.robot, robot, None if keys is None else Path(keys))
                stack.callback(driver.close)
                self.linked = LinkedWorld(repertoire.robot, driver, on_step=on_step, say=say)
                settings["world"] = self.linked
            super().__init__(repertoire, plan, **settings)
            stack.pop_all()
        if self._log:
            asked = {
                "robot": repertoire.robot.name,
                "repertoire": fingerprint(repertoire),
                "goals": plan.goals,
                "changes": changes,
                "seconds": seconds,
                "within": within,
                "think_episodes": settings.get("episodes", EPISODES),
                "refine": settings.get("refinement", REFINEMENT),
                "cores": settings.get("cores", CORES),
                "max_falls": settings.get("max_falls", MAX_FALLS),
                "seed": self.seed,
                "selector": selector,
                "rehearsal": str(rehearsal) if isinstance(rehearsal, str | Path) else None,
            }
            self._log.header = validate(MissionFacts, asked).line()

    def __iter__(self) -> Generator[Event]:
        if self._log is None:
            yield from super().__iter__()
            return
        self._log.begin()
        with closing(super().__iter__()) as events:
            for event in events:
                self._log.add(event)
                yield event


class _Log:
    """Writes the log of a mission.

    Args:
        path: of the file, which is open no longer than for an event, so that one that is cut off can be read.

    Attributes:
        header: its first line.
    """

    header: str

    def __init__(self, path: Path) -> None:
        self._path, self._poses = path, PoseRecorder()

    def noting(self, on_step: Callable[[Any], None]) -> Callable[[Any], None]:
        """An `on_step` that also takes in where the robot is."""

        def noted(world: Any) -> None:
            self._poses(world)
            on_step(world)

        return noted

    def begin(self) -> None:
        """Write the first line."""
        write_text(self._path, f"{self.header}\n")

    def add(self, event: Event) -> None:
        """Write an event, and the poses before it."""
        lines = [*self._poses.lines(), event.line()]
        with (
            explain_errors(f"{self._path} cannot be written"),
            self._path.open("a", encoding="utf-8") as file,
        ):
            file.writelines(f"{line}\n" for line in lines)
