"""`Explorer`: the repertoire that pages show, and what can be asked about it; one for all visitors."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

import surefoot
from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import find_selector, selector_entries
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage.files import RunFiles
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads
from surefoot.explorer.archive import describe_archive
from surefoot.explorer.mission import MissionLog
from surefoot.shipped import result_files

_MOST_ROBOTS = 16  # damaged ones that are kept


@dataclass(eq=False)
class Explorer:
    """A repertoire in memory, its damaged robots, and the means to evaluate gaits, from any thread."""

    file: Path  # of the repertoire
    source: str  # how the user named it, for commands that repeat what is shown
    # of recoveries; its selector is chosen first, and its seed is also that of the episodes shown
    request: RecoveryRequest = field(default_factory=RecoveryRequest)
    # file of the rehearsal; the one next to the repertoire's if there is one, and it is None
    table: Path | None = None
    threads: int | None = None  # of the simulation
    log: Path | None = None  # of a mission to play back

    def __post_init__(self) -> None:
        self.repertoire: Repertoire = surefoot.load(self.file)
        self._damaged = lru_cache(_MOST_ROBOTS)(
            lambda damage: parse_damage(damage, self.repertoire.robot).apply(self.repertoire.robot)
        )
        self.archive = describe_archive(self.repertoire)
        self.selector = find_selector(self.request.selector).name
        known = self.repertoire, self.source, self.robot
        self.mission = None if self.log is None else MissionLog(self.log, *known)

    @property
    def walks(self) -> bool:
        """Whether the repertoire is of a robot and has gaits."""
        return self.repertoire.problem.robot is not None and len(self.repertoire) > 0

    @property
    def rehearsal(self) -> Path | None:
        """File of the rehearsal, if there is one."""
        beside = RunFiles(self.file).rehearsal
        return self.table or (beside if beside.exists() else None)

    def hello(self) -> dict[str, Any]:
        """What the page needs first."""
        problem = self.repertoire.problem
        notes = [self.repertoire.caution] if self.repertoire.caution else []
        facts: dict[str, Any] = {
            "type": "hello",
            "title": problem.title,
            "file": self.source,
            "archive": self.archive,
            "walks": self.walks,
            "gaits": len(self.repertoire),
            "notes": notes,
        }
        if not self.walks:
            return facts
        damages: dict[str, list[str]] = {}
        for damage in damage_library(self.repertoire.robot):
            if damage.singles:
                kind = damage.summary if len(damage.singles) == 1 else "several of these"
                damages.setdefault(kind, []).append(str(damage))
        if result_files(self.file).calibration.exists():
            notes.append("The calibration next to the file is not used here: surefoot recover uses it.")
        if self.rehearsal is None:
            notes.append(
                f"There is no rehearsal next to {self.file.name}: a recovery begins by rehearsing each leg "
                "dead and lost. With one, it knows what each gait does under many damages at once: "
                f"surefoot rehearse {quote(self.source)}"
            )
        usable = [one for one in selector_entries().values() if self.rehearsal or not one.needs_table]
        return facts | {
            "damages": damages,
            "selectors": {one.name: f"{one.summary[0].upper()}{one.summary[1:]}." for one in usable},
            "selector": self.selector,
            "mission": None if self.mission is None else self.mission.told,
        }

    def robot(self, damage: str) -> Robot:
        """The robot with a damage, "" for none, and with the length of the repertoire's episodes."""
        return self._damaged(damage) if damage else self.repertoire.robot

    def evaluate(self, solution: np.ndarray, damage: str) -> Episodes:
        """The one episode of a gait that `surefoot deploy` runs with the same seed."""
        evaluator = Evaluator(self.repertoire, {"shown": self.robot(damage)}, backend=Threads(1))
        return evaluator.run(evaluator.add(solution[None]), np.array([self.request.seed]))

    def deploy_command(self, row: int, damage: str) -> str:
        """The command that repeats what a view shows."""
        robot = self.repertoire.robot
        seconds = robot.control_step * robot.description.episode_steps
        is_elite = row < len(self.repertoire.elites)  # specialists have no cell of their own
        gait = f"--cell {format_cell(self.repertoire.cell(row))}" if is_elite else f"--row {row}"
        return " ".join([
            f"surefoot deploy {quote(self.source)} {gait}",
            *([f"--damage {quote(damage)}"] if damage else []),
            f"--seconds {seconds:g} --seed {self.request.seed}",
        ])  # fmt: skip

    def recover_command(self, damage: str, selector: str) -> str:
        """The command that repeats a recovery."""
        asked, rehearsal = self.request, self.table if find_selector(selector).takes_table else None
        return " ".join([
            f"surefoot recover {quote(self.source)} --damage {quote(damage)} --selector {selector}",
            *([f"--rehearsal {quote(str(rehearsal))}"] if rehearsal else []),
            f"--trials {asked.trials} --objective {asked.objective} --seed {asked.seed}",
        ])  # fmt: skip
