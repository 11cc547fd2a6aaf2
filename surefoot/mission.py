"""`Mission`: a mission whose repertoire, goals and damages may be given by names and texts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapt.mission.mission import Mission as _Mission
from adapt.mission.plan import Plan, read_changes, read_goal
from adapt.mission.simulated import SimulatedWorld
from adapt.selectors.catalogue import find_table
from repertoire.repertoire import Repertoire
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
        **settings: of `adapt.mission.mission.Mission`: `seed`, `episodes`, `refinement`, `cores`, `threads`.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector or kind of damage.
        InvalidValueError: the repertoire is empty, its robot cannot turn, or an argument is wrong.
        InvalidFileError: a file cannot be read.
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
        on_step: Callable[[SimulatedWorld], None] = lambda _: None,
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
        super().__init__(repertoire, plan, table=rehearsal, selector=selector, on_step=on_step, **settings)
