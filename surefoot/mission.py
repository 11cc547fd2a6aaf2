"""`Mission`: a mission whose repertoire, goals and damages may be given by names and texts."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapt.mission.events import read_log
from adapt.mission.keeper import KeeperProcess
from adapt.mission.linked import LinkedWorld
from adapt.mission.mission import Mission as _Mission
from adapt.mission.plan import Plan, read_changes, read_goal
from adapt.mission.recording import ReplayedWorld, check_decisions
from adapt.selectors.catalogue import find_table
from repertoire.repertoire import Repertoire
from robots.errors import InvalidFileError, InvalidValueError
from surefoot.shipped import repertoire_path

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
        on_step: called after every control step with the simulation, or with the `LinkedWorld`.
        say: told what somebody near the robot has to do.
        **settings: of `adapt.mission.mission.Mission`: `seed`, `episodes`, `refinement`, `cores`, `threads`,
            `record`, and `world` in place of `robot`.

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
        on_step: Callable[[Any], None] = lambda _: None,
        say: Callable[[str], object] = print,
        **settings: Any,
    ) -> None:
        from repertoire.storage.repertoires import read_repertoire

        file = None if isinstance(source, Repertoire) else repertoire_path(source)
        repertoire = source if isinstance(source, Repertoire) else read_repertoire(repertoire_path(source))
        plan = Plan(
            tuple(read_goal(goal) if isinstance(goal, str) else goal for goal in goals),
            within,
            seconds,
            read_changes(changes, repertoire.robot),
        )
        if rehearsal is None or isinstance(rehearsal, str | Path):
            path = None if rehearsal is None else Path(rehearsal)
            rehearsal, _ = find_table(repertoire, file, selector, path)
        if robot is not None and changes:
            raise InvalidValueError(
                "what breaks is for a simulation: have the robot behind a link break itself"
            )
        settings |= {"table": rehearsal, "selector": selector, "on_step": on_step}
        self.linked: LinkedWorld | None = None
        with ExitStack() as stack:
            if robot is not None:
                driver = KeeperProcess(repertoire.robot, robot, None if keys is None else Path(keys))
                stack.callback(driver.close)
                self.linked = LinkedWorld(repertoire.robot, driver, on_step=on_step, say=say)
                settings["world"] = self.linked
            super().__init__(repertoire, plan, **settings)
            stack.pop_all()


def replay(
    source: Repertoire | str | Path,
    log: str | Path,
    *,
    rehearsal: "Table | str | Path | None" = None,
    threads: int | None = None,
) -> str:
    """Have monitor, selector and planner decide again on what the robot of a mission observed.

    Args:
        source: the repertoire of the mission, see `Mission`.
        log: that `surefoot mission --log` wrote.
        rehearsal: of the mission; the one that the log names by default.
        threads: of the simulation.

    Returns:
        How many decisions there were, which are all the same.

    Raises:
        InvalidFileError: the log is none, is damaged, or is of another repertoire.
        adapt.mission.recording.DepartureError: a decision differs: the first one.
    """
    from repertoire.storage.repertoires import fingerprint, read_repertoire

    path, file = Path(log), source
    if not isinstance(source, Repertoire):
        source = read_repertoire(repertoire_path(source))
    facts, events = read_log(path)
    if facts.get("repertoire") != fingerprint(source):
        raise InvalidFileError(f"the mission of {path} was walked with another repertoire")
    try:
        asked: dict[str, Any] = {
            "goals": [(float(x), float(y)) for x, y in facts["goals"]],
            "seconds": float(facts["seconds"]),
            "within": float(facts["within"]),
            "selector": None if facts["selector"] is None else str(facts["selector"]),
            "episodes": max(1, int(facts["think_episodes"])),
            "refinement": max(0, int(facts["refine"])),
            "cores": max(1, int(facts["cores"])),
            "seed": abs(int(facts["seed"])),
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidFileError(f"{path} does not tell how the mission was asked for") from error
    if rehearsal is None and facts.get("rehearsal") is not None:
        rehearsal = str(facts["rehearsal"])
    world = ReplayedWorld(path, source.robot)
    mission = Mission(file, rehearsal=rehearsal, threads=threads, world=world, **asked)
    same = check_decisions(mission, events)
    counts = ", ".join(f"{number} {kind}" for kind, number in same.items())
    cut = "" if same["end"] else "; there the log ends, before the mission did"
    return f"all {same.total()} events up to {mission.result.seconds:.1f} s are as they were: {counts}{cut}"
