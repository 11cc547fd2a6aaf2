"""`MissionSuite`: missions on which something breaks, with several answers to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.mission.beliefs import Paths
from adapt.mission.knowledge import thinking_rate
from adapt.mission.mission import Mission, Response
from adapt.recovery import recover
from adapt.rehearsal.table import Table
from adapt.requests import MissionRequest, RecoveryRequest
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.files.records import validate
from robots.randomization import randomised
from robots.robot import Robot
from suites.markdown import join, save_report
from suites.mission.report import MissionRecord, measured, runs_table, sections
from suites.records import CaseTrial, RecordSuite
from suites.requests import MissionStudy

BROKEN_AT = 4.0  # [s]
TASKS: dict[str, tuple[float, tuple[str, ...]]] = {  # how long [s], and what robots do about the damage
    "goal": (90.0, ("mission", "plain")),
    "distance": (120.0, ("mission", "oracle", "plain", "old", "resets")),
}
_RESPONSES: dict[str, Response] = {"mission": "diagnosis", "oracle": "told"}  # none otherwise
_TRIALS = 3  # of a recovery with resets
_VARIED = {"within", "think_episodes", "refine", "cores", "max_falls", "selector"}  # of a `MissionRequest`


@dataclass(frozen=True)
class MissionTrial(CaseTrial):
    """One mission of a task of `TASKS`, nominal or across the gap, with a damage or none."""

    task: str
    gap: bool
    damage: Damage


@dataclass(frozen=True, kw_only=True, eq=False)
class MissionSuite(RecordSuite):
    """Missions of one repertoire; the same seed has the same robot across the gap for all methods."""

    name: str = "mission"
    repertoire: Repertoire  # of the whole robot
    library: Table | None = None  # its rehearsal, if there is one
    damages: tuple[Damage, ...] | None = None  # that happen at 4 s; see `lost_and_dead` for those by default
    request: MissionStudy  # which missions
    _healthy: dict[str, Paths] = field(default_factory=dict, init=False)  # which this process prepares once
    holds, parse = "mission", staticmethod(partial(validate, MissionRecord))

    def identity(self) -> Mapping[str, Any]:
        return {
            "study": self.name,
            "repertoire": fingerprint(self.repertoire)[:16],
            "library": self.library.fingerprint[:16] if self.library else "none",
            **self.request.model_dump(include={"goal", *_VARIED}),
            "seed": self.seed,
        }

    def check(self) -> list[str]:
        asked = self.request
        if "goal" in asked.tasks and asked.within >= asked.goal:
            raise InvalidValueError(
                f"a goal {asked.goal:g} m ahead that is reached within {asked.within:g} m "
                "is reached at the start"
            )
        return []

    def plan(self) -> list[MissionTrial]:
        """The first mission of every damage, task and method, then the second, and so on."""
        damages = [Combination(), *(self.damages or lost_and_dead(self.repertoire.robot))]
        return [
            MissionTrial(f"{task}{'-gap' * gap}-{fault:03d}", method, number, task, gap, damage)
            for number in range(self.request.seeds)
            for task in self.request.tasks
            for gap in (world == "gap" for world in self.request.worlds)
            for fault, damage in enumerate(damages)
            for method in TASKS[task][1]
            if (damage.singles or method == "mission") and not (gap and method == "resets")
        ]

    def run(self, trial: MissionTrial, folder: Path, report: Callable[[float], None]) -> MissionRecord:
        """Run a mission, or a recovery with resets."""
        seed = self.trial_seed(trial.key)
        found = self._with_resets(trial, seed) if trial.method == "resets" else self._mission(trial, seed)
        return MissionRecord(**self._named(trial), damage=str(trial.damage), **found)

    def _mission(self, trial: MissionTrial, seed: int) -> dict[str, Any]:
        repertoire, library, asked, old = self.repertoire, self.library, self.request, trial.method == "old"
        if old:
            best, library = np.array([repertoire.best()]), None
            repertoire = replace(
                repertoire, elites=repertoire.gaits.take(best), specialists=None, spread=None
            )
        changes = (f"{trial.damage}@{BROKEN_AT:g}",) if trial.damage.singles else ()
        goals = ((asked.goal, 0.0),) if trial.task == "goal" else ()
        known = asked.model_dump(include=_VARIED) | {"goals": goals, "changes": changes, "seed": seed}
        mission = Mission(
            repertoire,
            MissionRequest(**known, seconds=TASKS[trial.task][0]),
            table=library,
            response=_RESPONSES.get(trial.method, "none"),
            body=randomised(repertoire.robot, seed) if trial.gap else None,
            healthy=None if old else self._healthy.get("paths"),
            backend=self.backend,
        )
        events = list(mission)
        if not old:
            self._healthy["paths"] = mission.healthy
        result = mission.result
        return {
            "reached": result.reached > 0,
            "unaided": result.unaided > 0,
            **measured(events, BROKEN_AT if changes else inf),
        }

    def _with_resets(self, trial: MissionTrial, seed: int) -> dict[str, Any]:
        """How far the robot gets if it is told that something broke, and every trial begins from a reset.

        Trials and thinking take their time, after which it walks with the gait that was chosen.
        """
        robot, seconds = self.repertoire.robot, TASKS[trial.task][0]
        request = RecoveryRequest(
            seed=seed, trials=_TRIALS, confirmations=0, think_episodes=self.request.think_episodes, refine=0
        )
        done = recover(self.repertoire, trial.damage, request, table=self.library, backend=self.backend)
        steps = robot.description.episode_steps
        episodes = sum(one.thought.episodes for one in done.trials if one.thought)
        spent = sum(one.steps for one in done.trials) * robot.control_step
        spent += episodes * steps / (thinking_rate(robot) * self.request.cores)
        left = max(0.0, seconds - BROKEN_AT - spent)
        ahead = BROKEN_AT * done.healthy.distance + left * max(0.0, done.recovered.distance)
        return {
            "seconds": seconds,
            "distance": ahead / (steps * robot.control_step),
            "falls": sum(one.fell for one in done.trials),
            "trials": len(done.trials),
        }

    def report(self, results: Sequence[MissionRecord], folder: Path) -> list[Path]:
        goal = f"To within {self.request.within:g} m of a goal {self.request.goal:g} m ahead"
        text = join(sections(self.repertoire.robot.name, goal, runs := runs_table(results)))
        return save_report(folder, f"{text}\n", decimals=3, missions=runs)


def lost_and_dead(robot: Robot) -> list[Damage]:
    """Every leg lost and dead and, of robots with more than four, every pair lost."""
    legs = list(robot.description.legs)
    pairs = combinations(legs, 2) if len(legs) > 4 else ()
    return [
        *(Combination((Lost(leg),)) for leg in legs),
        *(Combination((Dead(leg),)) for leg in legs),
        *(Combination(tuple(map(Lost, pair))) for pair in pairs),
    ]
