"""`Explorer`: the repertoire that pages show, and what can be asked about it; one for all visitors."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

import surefoot
from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from adapt.records import Outcome, Recovery, Trial
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import SelectorEntry, find_selector, selector_entries
from adapt.selectors.selector import Context, Selector
from adapt.self_model.twin import EPISODES
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage.files import RunFiles
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads
from surefoot.explorer.archive import describe_archive
from surefoot.explorer.mission import MissionLog
from surefoot.shipped import result_files

_MOST_ROBOTS = 16  # damaged ones that are kept
_LONGEST = 300  # characters of a damage


@dataclass(frozen=True)
class StartingChoice:
    """What the page was started with.

    Attributes:
        file: of the repertoire.
        source: how the user named it, for commands that repeat what is shown.
        request: of recoveries; its selector is chosen first, and its seed is also that of the episodes shown.
        rehearsal: of the repertoire; the one next to the file if there is one, and it is None.
        threads: of the simulation.
        mission: log of a mission to play back.
    """

    file: Path
    source: str
    request: RecoveryRequest = field(default_factory=RecoveryRequest)
    rehearsal: Path | None = None
    threads: int | None = None
    mission: Path | None = None


class Explorer:
    """A repertoire in memory, its damaged robots, and the means to evaluate gaits and recoveries.

    Everything in it may be used from several threads.
    """

    def __init__(self, choice: StartingChoice) -> None:
        self.choice = choice
        self._changed = _stamp(choice.file)
        self.repertoire: Repertoire = surefoot.load(choice.file)
        self._robots: OrderedDict[str, Robot] = OrderedDict()
        self._lock = threading.Lock()
        self.archive = describe_archive(self.repertoire)
        self.selector = _fair_selector(choice.request.selector).name
        self.mission = (
            None
            if choice.mission is None
            else MissionLog(choice.mission, self.repertoire, choice.source, self.robot)
        )

    @property
    def walks(self) -> bool:
        """Whether the repertoire is of a robot and has gaits."""
        return self.repertoire.problem.robot is not None and len(self.repertoire) > 0

    def hello(self) -> dict[str, Any]:
        """What the page needs first."""
        problem, choice = self.repertoire.problem, self.choice
        notes = [note for note in (self.repertoire.caution, self.changed()) if note]
        facts: dict[str, Any] = {
            "type": "hello",
            "title": problem.title,
            "file": choice.source,
            "archive": self.archive,
            "walks": self.walks,
            "gaits": len(self.repertoire),
            "notes": notes,
        }
        if not self.walks:
            return facts
        robot = self.repertoire.robot
        damages: dict[str, list[str]] = {}
        for damage in damage_library(robot):
            if damage.singles:
                kind = damage.summary if len(damage.singles) == 1 else "several of these"
                damages.setdefault(kind, []).append(str(damage))
        facts["damages"] = damages
        table = self._rehearsal()
        usable = [
            entry
            for entry in selector_entries().values()
            if not entry.needs_truth and (table or not entry.needs_table)
        ]
        facts["selectors"] = {entry.name: self._about(entry, table) for entry in usable}
        facts["selector"] = self.selector
        facts["mission"] = None if self.mission is None else self.mission.about()
        if result_files(choice.file).calibration.exists():
            notes.append("The calibration next to the file is not used here: surefoot recover uses it.")
        if table is None:
            notes.append(
                f"There is no rehearsal next to {choice.file.name}: a recovery begins by rehearsing each leg "
                "dead and lost. With one, it knows what each gait does under many damages at once: "
                f"surefoot rehearse {quote(choice.source)}"
            )
        return facts

    def changed(self) -> str:
        """What happened to the file since it was read; "" if nothing did."""
        now = _stamp(self.choice.file)
        if now == self._changed:
            return ""
        what = "is gone" if now is None else "has changed"
        return f"{self.choice.file.name} {what} since it was read: the page shows what was in it then."

    def robot(self, damage: str) -> Robot:
        """The robot with a damage, "" for none, and with the length of the repertoire's episodes."""
        if not damage:
            return self.repertoire.robot
        if len(damage) > _LONGEST:
            raise InvalidValueError(
                f"a damage is written in at most {_LONGEST} characters, not {len(damage)}"
            )
        parsed = parse_damage(damage, self.repertoire.robot)
        with self._lock:
            found = self._robots.pop(str(parsed), None) or parsed.apply(self.repertoire.robot)
            self._robots[str(parsed)] = found
            if len(self._robots) > _MOST_ROBOTS:
                self._robots.popitem(last=False)
        return found

    def evaluate(self, solution: np.ndarray, damage: str) -> Episodes:
        """The one episode of a gait that `surefoot deploy` runs with the same seed."""
        evaluator = Evaluator(self.repertoire, {"shown": self.robot(damage)}, backend=Threads(1))
        return evaluator.run(evaluator.add(solution[None]), np.array([self.choice.request.seed]))

    def deploy_command(self, row: int, damage: str) -> str:
        """The command that repeats what a view shows."""
        robot = self.repertoire.robot
        seconds = robot.control_step * robot.description.episode_steps
        is_elite = row < len(self.repertoire.elites)  # specialists have no cell of their own
        gait = f"--cell {format_cell(self.repertoire.cell(row))}" if is_elite else f"--row {row}"
        return " ".join([
            f"surefoot deploy {quote(self.choice.source)} {gait}",
            *([f"--damage {quote(damage)}"] if damage else []),
            f"--seconds {seconds:g} --seed {self.choice.request.seed}",
        ])  # fmt: skip

    def recover_command(self, damage: str, selector: str) -> str:
        """The command that repeats a recovery."""
        choice, asked, entry = self.choice, self.choice.request, _fair_selector(selector)
        rehearsal = choice.rehearsal if entry.takes_table else None
        return " ".join([
            f"surefoot recover {quote(choice.source)} --damage {quote(damage)} --selector {selector}",
            *([f"--rehearsal {quote(str(rehearsal))}"] if rehearsal else []),
            f"--trials {asked.trials} --objective {asked.objective} --seed {asked.seed}",
        ])  # fmt: skip

    def recover(
        self,
        damage: str,
        selector: str,
        *,
        on_start: Callable[[Selector], None],
        on_run: Callable[[int, Outcome], None],
        on_trial: Callable[[Trial], None],
        on_progress: Callable[[str, float], None],
    ) -> Recovery:
        """The recovery that `surefoot recover` makes with the same seed.

        Args:
            damage: its text.
            selector: name of the selector.
            on_start: called with the selector before the first trial.
            on_run: called with the row and the outcome of a trial before the selector thinks about it.
            on_trial: see `surefoot.recover`.
            on_progress: likewise.
        """
        choice, entry = self.choice, _fair_selector(selector)
        table = self._rehearsal() if entry.takes_table else None

        def watched(context: Context, **settings: Any) -> Selector:
            made = entry.kind(context, **settings)
            learn = made.tell

            def tell(row: int, outcome: Outcome) -> None:
                on_run(row, outcome)
                learn(row, outcome)

            made.tell = tell  # type: ignore[method-assign]
            on_start(made)
            return made

        return surefoot.recover(
            self.repertoire,
            parse_damage(damage, self.repertoire.robot),
            rehearsal=table,
            threads=choice.threads,
            on_trial=on_trial,
            on_progress=on_progress,
            **{**dict(choice.request), "selector": replace(entry, kind=watched)},
        )

    def _rehearsal(self) -> Path | None:
        """File of the rehearsal, if there is one."""
        beside = RunFiles(self.choice.file).rehearsal
        return self.choice.rehearsal or (beside if beside.exists() else None)

    def _about(self, entry: SelectorEntry, table: Path | None) -> str:
        """What a selector does, and what it costs."""
        words = f"{entry.summary[0].upper()}{entry.summary[1:]}. " + (
            f"It simulates {EPISODES} episodes after each new trial, which takes up to a minute on two cores."
            if entry.thinks
            else "It simulates nothing between trials."
        )
        if self.choice.request.objective == "progress" and not (table and entry.takes_table):
            words += (
                f" Before the first trial, all {len(self.repertoire):,} gaits run once on the healthy robot."
            )
        return words


def _fair_selector(name: str) -> SelectorEntry:
    """A selector that does not know what is broken."""
    entry = find_selector(name)
    if entry.needs_truth:
        raise InvalidValueError(
            f"the selector {entry.name} knows the truth, to compare others with: choose another one"
        )
    return entry


def _stamp(file: Path) -> tuple[int, int] | None:
    """What tells whether a file was changed; None where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
