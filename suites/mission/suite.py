"""`MissionSuite`: missions on which something breaks, with several answers to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.mission.diagnosis import shortened
from adapt.mission.knowledge import PATH, thinking_rate
from adapt.mission.mission import Mission, Response
from adapt.mission.monitor import Monitor
from adapt.mission.outcomes import Paths
from adapt.mission.plan import Plan, PlannedChange
from adapt.mission.settings import DEFAULTS, MissionSettings
from adapt.recovery import recover
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from adapt.self_model.twin import Thinking, Twin
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidFileError, InvalidValueError
from robots.evaluations import Request
from robots.files.records import validate
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import ModelBatch
from suites.mission.report import write_report
from suites.mission.results import RULE, MissionRecord, measured
from suites.records import read_record, write_record
from suites.recovery.faults import benchmark_damages
from suites.suite import Estimate, Key, Suite, check_names

BROKEN_AT = 4.0  # [s]
TASKS: dict[str, tuple[float, tuple[str, ...]]] = {  # how long [s], and what robots do about the damage
    "goal": (90.0, ("mission", "plain")),
    "distance": (120.0, ("mission", "oracle", "plain", "old", "resets")),
    "rule": (RULE, ("mission",)),
    "watch": (20.0, ("watch",)),
    "hours": (3600.0, ("cycles",)),
}
_RESPONSES: dict[str, Response] = {"mission": "diagnosis", "oracle": "told"}  # none otherwise
_WHOLE = ("mission", "watch", "cycles")  # methods that are run on a healthy robot too
_TRIALS = 3  # of a recovery with resets
_WATCHED = 60.0  # [s] that a gait walks at a time in a healthy hour
_SHORTLIST = 30  # gaits that take turns there: those with the best objectives
_STEPS_A_SECOND = 8000  # that a core simulates of missions, with all that is between, for estimates


@dataclass(frozen=True)
class MissionTrial:
    """One mission of a task of `TASKS`, nominal or across the gap, with a damage or none."""

    task: str
    gap: bool
    fault: int
    damage: Damage
    method: str
    number: int

    @property
    def key(self) -> Key:
        """Task and number of the damage, method, and number of the mission."""
        return f"{self.task}{'-gap' * self.gap}-{self.fault:03d}", self.method, self.number


@dataclass(frozen=True, kw_only=True, eq=False)
class MissionSuite(Suite):
    """Missions of one repertoire; the same seed has the same robot across the gap for all methods.

    Attributes:
        repertoire: of the whole robot.
        library: its rehearsal, if there is one.
        tasks: names.
        worlds: `nominal` and `gap`, on which the robot is not its model.
        damages: that happen at 4 s; by default every leg lost and dead, and every pair lost.
        goal: distance of the goal [m].
        within: distance at which it is reached [m].
        refinement: episodes of a search for a better gait, see `Mission`.
        max_falls: how often a robot may fall until it is damped.
        seeds: missions with each damage, and healthy hours.
    """

    name: str = "mission"
    repertoire: Repertoire
    library: Table | None = None
    tasks: tuple[str, ...] = tuple(TASKS)
    worlds: tuple[str, ...] = ("nominal", "gap")
    damages: tuple[Damage, ...] | None = None
    goal: float = 5.0
    within: float = 0.25
    refinement: int = DEFAULTS.refinement
    max_falls: int = DEFAULTS.max_falls
    seeds: int = 3
    suffix: ClassVar[str] = ".json"

    def identity(self) -> Mapping[str, Any]:
        """What the results are a function of."""
        return {
            "study": self.name,
            "repertoire": fingerprint(self.repertoire)[:16],
            "library": self.library.fingerprint[:16] if self.library else "none",
            "goal": self.goal,
            "within": self.within,
            "refinement": self.refinement,
            "max_falls": self.max_falls,
            "seed": self.seed,
        }

    def check(self) -> list[str]:
        """Refuse what cannot be run."""
        check_names("task", self.tasks, TASKS)
        check_names("world", self.worlds, ("nominal", "gap"))
        if "goal" in self.tasks and self.within >= self.goal:
            raise InvalidValueError(
                f"a goal {self.goal:g} m ahead that is reached within {self.within:g} m "
                "is reached at the start"
            )
        return []

    def plan(self) -> list[MissionTrial]:
        """The first mission of every damage, task and method, then the second, and so on."""
        return [
            MissionTrial(task, world == "gap", fault, damage, method, number)
            for number in range(self.seeds)
            for task in self.tasks
            for world in self.worlds
            for fault, damage in enumerate(self._damages(task))
            for method in TASKS[task][1]
            if (damage.singles or method in _WHOLE) and not (world == "gap" and method == "resets")
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a mission, the same for all methods and worlds."""
        fault = int(key[0].rpartition("-")[2])
        return int(derive_seeds(self.seed, SeedFamily.FAULT, key[2], 1, fault)[0])

    def run(self, trial: MissionTrial, folder: Path, report: Callable[[float], None]) -> MissionRecord:
        """Run a mission, or a recovery with resets."""
        seed = self.trial_seed(trial.key)
        known: dict[str, Any] = dict(zip(("case", "method", "number"), trial.key, strict=True))
        known |= {"seed": seed, "damage": str(trial.damage)}
        runs = {"resets": self._with_resets, "cycles": self._cycles}
        return MissionRecord(**known, **runs.get(trial.method, self._mission)(trial, seed))

    def _mission(self, trial: MissionTrial, seed: int) -> dict[str, Any]:
        repertoire, seconds = self.repertoire, TASKS[trial.task][0]
        if trial.method == "old":
            best = np.array([repertoire.best()])
            repertoire = replace(
                repertoire, elites=repertoire.gaits.take(best), specialists=None, spread=None
            )
        broken = bool(trial.damage.singles)
        change = PlannedChange(BROKEN_AT, str(trial.damage), trial.damage)
        mission = Mission(
            repertoire,
            Plan(
                ((self.goal, 0.0),) if trial.task == "goal" else (),
                self.within,
                seconds,
                (change,) if broken else (),
            ),
            MissionSettings(seed=seed, refinement=self.refinement, max_falls=self.max_falls),
            table=None if trial.method == "old" else self.library,
            response=_RESPONSES.get(trial.method, "none"),
            body=self._body(seed) if trial.gap else None,
            healthy=None if trial.method == "old" else self._healthy.get("paths"),
            backend=self.backend,
        )
        events = list(mission)
        if trial.method != "old":
            self._healthy["paths"] = mission.healthy
        result = mission.result
        return {
            "reached": result.reached > 0,
            "unaided": result.unaided > 0,
            **measured(events, BROKEN_AT if broken else inf),
        }

    def _with_resets(self, trial: MissionTrial, seed: int) -> dict[str, Any]:
        """How far the robot gets if it is told that something broke, and every trial begins from a reset.

        Trials and thinking take their time, after which it walks with the gait that was chosen.
        """
        repertoire, seconds = self.repertoire, TASKS[trial.task][0]
        request = RecoveryRequest(
            seed=seed, trials=_TRIALS, confirmations=0, think_episodes=DEFAULTS.episodes, refine=0
        )
        done = recover(repertoire, trial.damage, request, table=self.library, backend=self.backend)
        robot = repertoire.robot
        whole = robot.description.episode_steps * robot.control_step
        episodes = sum(one.thought.episodes for one in done.trials if one.thought)
        spent = sum(one.steps for one in done.trials) * robot.control_step
        spent += episodes * robot.description.episode_steps / (thinking_rate(robot) * DEFAULTS.cores)
        left = max(0.0, seconds - BROKEN_AT - spent)
        ahead = BROKEN_AT * done.healthy.distance + left * max(0.0, done.recovered.distance)
        return {
            "seconds": seconds,
            "distance": ahead / whole,
            "falls": sum(one.fell for one in done.trials),
            "trials": len(done.trials),
        }

    def _cycles(self, trial: MissionTrial, seed: int) -> dict[str, Any]:
        """A healthy hour: what the monitor says of gaits that are simulated in episodes of a minute.

        The robot does not change gaits within them, and does not think; each begins from a reset.
        """
        robot, seconds = self.repertoire.robot, TASKS[trial.task][0]
        steps = round(min(_WATCHED, seconds) / robot.control_step)
        monitor = Monitor(Twin(Thinking(shortened(self.repertoire, PATH), backend=self.backend)), robot)
        best = np.argsort(-self.repertoire.gaits.objectives, kind="stable")[:_SHORTLIST]
        rows = np.resize(best, round(seconds / (steps * robot.control_step)))
        body = (self._body(seed) if trial.gap else robot).with_episode_steps(steps)
        walked = self.backend.run(
            ModelBatch(body),
            self.repertoire.gaits.solutions[rows],
            derive_seeds(seed, SeedFamily.EVALUATION, 0, len(rows)),
            request=Request(traces=True),
        )
        assert walked.traces is not None
        alarms = 0
        for row, trace in zip(rows, walked.traces, strict=True):
            monitor.begin(Combination(), int(row))
            monitor.calm()
            for made in range(1, len(trace) + 1):
                if monitor.watch(trace, made):
                    alarms += 1
                    monitor.calm()
        return {
            "seconds": sum(map(len, walked.traces)) * robot.control_step,
            "distance": float(walked.distances.sum()),
            "falls": int(walked.fell.sum()),
            "alarms": alarms,
        }

    def read(self, path: Path) -> MissionRecord:
        """Read a result; one with another damage under the same number is refused."""
        result = read_record(path, "mission", partial(validate, MissionRecord))
        expected = self._planned.get(result.case, result.damage)
        if expected != result.damage:
            raise InvalidFileError(f"{path} holds a mission with {result.damage}, not with {expected}")
        return result

    @cached_property
    def _planned(self) -> dict[str, str]:
        """Texts of the damages that are to happen, by case."""
        return {trial.key[0]: str(trial.damage) for trial in self.plan()}

    def write(self, path: Path, result: MissionRecord) -> None:
        """Write a result."""
        write_record(path, result)

    def estimate(
        self, remaining: Sequence[MissionTrial], results: Sequence[MissionRecord], processes: int
    ) -> Iterator[Estimate]:
        """Estimate the time of each task by the control steps of its missions and of thinking."""
        whole = self.repertoire.robot.description.episode_steps
        for task, (seconds, _) in TASKS.items():
            some = [trial for trial in remaining if trial.task == task]
            thinking = sum(trial.method in ("mission", "oracle", "resets") for trial in some)
            steps = (
                len(some) * seconds / self.repertoire.robot.control_step
                + thinking * DEFAULTS.episodes * whole
            )
            if some:
                yield Estimate(
                    f"{task}: {len(some)}", steps / _STEPS_A_SECOND / processes, "by control steps"
                )

    def report(self, results: Sequence[MissionRecord], folder: Path) -> list[Path]:
        """Write the tables."""
        goal = f"To within {self.within:g} m of a goal {self.goal:g} m ahead"
        return write_report(self.repertoire.robot.name, goal, results, folder)

    def _damages(self, task: str) -> Sequence[Damage]:
        robot = self.repertoire.robot
        if task == "hours":
            return [Combination()]
        given = benchmark_damages(robot) if task == "watch" else self.damages or lost_and_dead(robot)
        if task == "rule":
            given = [damage for damage in given if all(single.kind == "lost" for single in damage.singles)]
        return [Combination(), *given]

    def _body(self, seed: int) -> Robot:
        """A robot that is not its model."""
        return randomised(self.repertoire.robot, seed)

    @cached_property
    def _healthy(self) -> dict[str, Paths]:
        """What every mission of this process prepares alike."""
        return {}


def lost_and_dead(robot: Robot) -> list[Damage]:
    """Every leg lost and dead and, of robots with more than four, every pair lost."""
    legs = list(robot.description.legs)
    pairs = combinations(legs, 2) if len(legs) > 4 else ()
    return [
        *(Combination((Lost(leg),)) for leg in legs),
        *(Combination((Dead(leg),)) for leg in legs),
        *(Combination(tuple(map(Lost, pair))) for pair in pairs),
    ]
