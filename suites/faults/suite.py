"""`FaultSuite`: a policy or gait walks, turns and stands while something breaks, by a protocol."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adapt.damage.text import parse_damage
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import Stretch, World
from adapt.records import Recovery
from adapt.recovery import find_incumbent, recover
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.controllers.policy import PolicyDescription
from robots.deployment.deployment import open_film
from robots.errors import InvalidValueError
from robots.files.atomic import write_text
from robots.files.records import validate
from robots.importing.policy_check import commanded
from robots.pose import Pose
from robots.rendering.overlay import Moment
from robots.robot import Robot
from robots.simulation.backend import Backend
from suites.faults.protocol import Case, Command, Protocol
from suites.faults.report import FaultRecord, page, runs_table, sections, worst_episodes
from suites.markdown import join, save_report
from suites.records import CaseTrial, RecordSuite
from suites.suite import Key, case_number

_PATH = (0.0, 0.7, -0.7, 0.0)  # [rad] headings of the parts of a path, to the left of the first
_TOLD: dict[Command, str] = {"ahead": "walk ahead", "path": "follow a path"}
_REST = 1.0  # [s] for which a film shows a robot that fell
_STANDS = 0.05  # [m/s] below which a robot does not walk
_STOOD = 0.5  # [m] from where it stood beyond which a robot that is told to stand has not


class Walker(NamedTuple):
    """A policy or a gait: a robot, what drives it, and which of its commands it can be told."""

    robot: Robot
    parameters: np.ndarray
    speeds: Mapping[Command, tuple[float, float, float]]  # [m/s, m/s, rad/s]; empty of what follows none
    repertoire: Repertoire | None = None  # from which it recovers
    library: Table | None = None  # its rehearsal
    trials: int = 0  # of a recovery

    @property
    def checksum(self) -> str:
        """Of all that it is."""
        robot, known = self.robot, self.repertoire and fingerprint(self.repertoire)
        parts = (
            robot.xml,
            robot.yaml,
            sorted(robot.files.items()),
            self.parameters.tolist(),
            known,
            self.trials,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def tries(self, command: Command, case: Case) -> bool:
        """Whether it is told a command in a case; what recovers walks ahead, with faults that do not heal."""
        if self.repertoire:
            return command == "ahead" and bool(case.left or not case.stages)
        holds = command == "path" and self.robot.controller.holds_heading
        return command == "ahead" or command in self.speeds or holds

    def recovered(self, damage: str, seed: int, backend: Backend) -> tuple[np.ndarray, Recovery | None]:
        """The gait that `surefoot recover` finds for a damage, and how, if it is to recover from one."""
        if not (self.repertoire and damage):
            return self.parameters, None
        request, broken = RecoveryRequest(trials=self.trials, seed=seed), parse_damage(damage, self.robot)
        found = recover(self.repertoire, broken, request, table=self.library, rehearse=True, backend=backend)
        gaits = dict(enumerate(self.repertoire.gaits.solutions))
        gaits |= {gait.row: gait.solution for gait in found.refined} | {found.incumbent: self.parameters}
        return gaits[found.row], found


def policy_walker(robot: Robot) -> Walker:
    """The policy alone of a robot of `with_policy`; if it follows commands, half of its fastest turn."""
    description, controller = robot.description.controller, robot.controller
    assert isinstance(description, PolicyDescription)
    turn = description.command.most[2] / 2
    speeds = {"ahead": description.command.default, "turn": (0.0, 0.0, turn), "stand": (0.0, 0.0, 0.0)}
    alone = controller.initial(np.random.default_rng(0))
    return Walker(robot, alone, speeds if description.follows else {})  # type: ignore[arg-type]


def gait_walker(repertoire: Repertoire) -> Walker:
    """The gait with which a recovery of a repertoire begins; it walks ahead."""
    row = find_incumbent(Evaluator(repertoire, {"intact": repertoire.robot}), seed=1)
    return Walker(repertoire.robot, repertoire.gaits.solutions[row], {})


@dataclass(frozen=True)
class FaultTrial(CaseTrial):
    """An episode of a policy or gait; its case is the command and the number of the fault."""

    fault: Case
    command: Command


@dataclass(frozen=True, kw_only=True, eq=False)
class FaultSuite(RecordSuite):
    """Episodes of policies and gaits of one robot; the same seed for all of them."""

    name: str = "faults"
    walkers: Mapping[str, Walker]  # by their names
    protocol: Protocol  # what breaks
    seeds: int = 3  # episodes of each case and command
    films: bool = False  # whether the report films the worst episodes
    holds, parse = "episode with a fault", staticmethod(partial(validate, FaultRecord))

    def identity(self) -> Mapping[str, Any]:
        protocol = self.protocol.model_dump(mode="json", exclude={"commands"})
        walkers = {name: walker.checksum for name, walker in self.walkers.items()}
        return {"study": self.name, "protocol": protocol, "seed": self.seed, "policies": walkers}

    def plan(self) -> list[FaultTrial]:
        """The first episode of every case, command and walker, then the second, and so on."""
        return [
            FaultTrial(f"{command}-{place:03d}", method, number, case, command)
            for number in range(self.seeds)
            for command in self.protocol.commands
            for place, case in enumerate(self._cases)
            for method, walker in self.walkers.items()
            if walker.tries(command, case)
        ]

    def run(self, trial: FaultTrial, folder: Path, report: Callable[[float], None]) -> FaultRecord:
        return self._episode(trial, lambda *_: None)

    def film(self, trial: FaultTrial, path: Path) -> FaultRecord:
        """Run a trial again, and film it to an .mp4 or .gif, until the robot falls, if it does."""
        robot, touched = self.walkers[trial.method].robot, list[np.ndarray]()
        with open_film(path, robot) as add:

            def watch(world: World, fell: bool) -> None:
                touched.append(world.touching.copy())
                words = f"told to {_TOLD.get(trial.command, trial.command)}, now\u00a0{world.damage}"
                moment = Moment(world.clock, world.pose.x, fell, np.mean(touched, axis=0), touched[-1])
                for _ in range(round(_REST / robot.control_step) if fell else 1):
                    add(world.robot, words, world.posed_data(), moment)

            return self._episode(trial, watch)

    def _episode(self, trial: FaultTrial, watch: Callable[[World, bool], None]) -> FaultRecord:
        walker, seed, seconds = self.walkers[trial.method], self.trial_seed(trial.key), self.protocol.seconds
        told = walker.speeds.get("ahead" if trial.command == "path" else trial.command)
        robot = commanded(walker.robot, told) if told else walker.robot
        headings = _PATH if trial.command == "path" else (0.0,)
        begins = trial.fault.stages[0][0] if trial.fault.stages else seconds
        steps, onset = (round(time / robot.control_step) for time in (seconds, begins))
        plan = [(0, walker.parameters, steps // len(headings), heading) for heading in headings]
        gait, recovery = walker.recovered(trial.fault.left, seed, self.backend)
        if recovery:
            new = int(recovery.row != recovery.incumbent)
            plan = [(0, walker.parameters, onset, 0.0), (new, gait, steps - onset, 0.0)]
        way, parts = _driven(robot, trial.fault, seed, plan, watch)
        ahead, turned, energy = (
            sum(float(getattr(part.episodes, name)[0]) for part in parts)
            for name in ("distances", "turned", "energies")
        )
        survived, end, fell = (len(way) - 1) * robot.control_step, way[-1], parts[-1].fell
        stood = survived if np.hypot(end.x, end.y) < _STOOD else 0.0
        others = {"turn": (turned, told and told[2]), "stand": (stood, 1.0)}
        made, asked = others.get(trial.command, (ahead, told and told[0]))
        walks = trial.command == "ahead" and not fell
        return FaultRecord(
            **self._named(trial),
            damage=trial.fault.name,
            command=trial.command,
            made=made,
            asked=asked and asked * seconds,
            fell_after=survived if fell else None,
            settled=settled(way, onset, robot.control_step) if walks else None,
            power=energy / survived,
            trials=len(recovery.trials) if recovery else None,
            trial_falls=recovery.falls if recovery else None,
        )

    def damage_of(self, key: Key) -> str:
        number = case_number(key)
        return self._cases[number].name if number < len(self._cases) else "no fault"

    def report(self, results: Sequence[FaultRecord], folder: Path) -> list[Path]:
        robot = next(iter(self.walkers.values())).robot
        text = join(sections(robot.name, runs := runs_table(results)))
        saved = save_report(folder, f"{text}\n", decimals=3, episodes=runs)
        for name, some in runs.groupby("method"):
            films = self._film_worst(some, folder / f"{name}-worst.mp4") if self.films else []
            write_text(path := folder / f"{name}.md", join(page(str(name), some, films)) + "\n")
            saved += [path, *films]
        return saved

    def _film_worst(self, runs: pd.DataFrame, path: Path) -> list[Path]:
        """Film the worst episode of a walker; nothing of one that recovers or is not among those here."""
        for one in worst_episodes(runs)[:1].itertuples():
            key, walker = (one.case, one.method, one.number), self.walkers.get(one.method)
            if walker and not walker.repertoire:
                self.film(FaultTrial(*key, self._cases[case_number(key)], one.command), path)
                return [path]
        return []

    @cached_property
    def _cases(self) -> list[Case]:
        first, *others = (self.protocol.cases(walker.robot) for walker in self.walkers.values())
        if any(cases != first for cases in others):
            raise InvalidValueError("what is compared has one robot, with legs of the same names")
        return first


def _driven(
    robot: Robot,
    fault: Case,
    seed: int,
    plan: Sequence[tuple[int, np.ndarray, int, float]],
    watch: Callable[[World, bool], None],
) -> tuple[list[Pose], list[Stretch]]:
    """Where a robot was before and after each control step of a plan, until it fell, and the stretches of it.

    The plan has numbers of gaits, their parameters, how many control steps they walk, and towards where.
    Who watches is called after each control step, and once more, with True, after a fall.
    """
    way, parts = list[Pose](), list[Stretch]()
    robot = robot.with_episode_steps(1 + sum(steps for _, _, steps, _ in plan))

    def passed(world: World) -> None:
        way.append(world.pose)
        watch(world, False)

    world = SimulatedWorld(robot, fault.changes(robot), seed=seed, on_step=passed)
    way.append(world.pose)
    for row, parameters, steps, heading in plan:
        if steps and not (parts and parts[-1].fell):
            towards = way[0].yaw + heading - world.pose.yaw
            parts.append(world.drive(row, parameters, steps, towards=towards, abrupt=not parts))
    if parts[-1].fell:
        watch(world, True)
    return way, parts


def settled(way: Sequence[Pose], onset: int, control_step: float) -> float | None:
    """Seconds from the onset until a robot is, and stays, within 90% of the speed that it ends with.

    None of one that stands then, or less than two seconds after. The way is that of `_driven`.
    """
    towards, second = way[0].yaw, round(1 / control_step)
    ahead = np.array([pose.x * np.cos(towards) + pose.y * np.sin(towards) for pose in way[onset:]])
    if len(ahead) <= 2 * second or (end := (ahead[-1] - ahead[-1 - 2 * second]) / 2) < _STANDS:
        return None
    slow = np.flatnonzero(ahead[second:] - ahead[:-second] < 0.9 * end)
    return float(control_step * (slow.max(initial=-1) + 1))
