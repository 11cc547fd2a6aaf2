"""`FaultSuite`: a policy or gait walks, turns and stands while something breaks, by a protocol."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import Stretch
from repertoire.repertoire import Repertoire
from robots.controllers.policy import PolicyDescription
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.records import validate
from robots.importing.policy_check import commanded
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from suites.faults.protocol import Case, Command, Protocol
from suites.faults.report import FaultRecord, runs_table, sections
from suites.markdown import join, save_report
from suites.records import CaseTrial, RecordSuite
from suites.suite import Key, case_number

_PATH = (0.0, 0.7, -0.7, 0.0)  # [rad] headings of the parts of a path, to the left of the first
_STOOD = 0.5  # [m] from where it stood beyond which a robot that is told to stand has not


class Walker(NamedTuple):
    """A policy or a gait: a robot, what drives it, and which of its commands it can be told."""

    robot: Robot
    parameters: np.ndarray
    speeds: Mapping[Command, tuple[float, float, float]]  # [m/s, m/s, rad/s]; empty of what follows none

    @property
    def checksum(self) -> str:
        """Of all that it is."""
        parts = self.robot.xml.encode(), self.robot.yaml.encode(), self.parameters.tobytes()
        policies = (self.robot.files[name] for name in sorted(self.robot.files))
        return hashlib.sha256(b"".join([*parts, *policies])).hexdigest()[:16]


def policy_walker(robot: Robot) -> Walker:
    """The policy alone of a robot of `with_policy`, which is told half of its fastest turn."""
    description, controller = robot.description.controller, robot.controller
    assert isinstance(description, PolicyDescription)
    turn = description.command.most[2] / 2
    speeds = {"ahead": description.command.default, "turn": (0.0, 0.0, turn), "stand": (0.0, 0.0, 0.0)}
    alone = controller.initial(np.random.default_rng(0))
    return Walker(robot, alone, speeds)  # type: ignore[arg-type]


def gait_walker(repertoire: Repertoire) -> Walker:
    """The best gait of a repertoire, which walks ahead."""
    return Walker(repertoire.robot, repertoire.gaits.solutions[repertoire.best()], {})


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
    holds, parse = "episode with a fault", staticmethod(partial(validate, FaultRecord))

    def identity(self) -> Mapping[str, Any]:
        protocol = self.protocol.model_dump(mode="json", exclude={"commands"})
        return {"study": self.name, "protocol": protocol, "seed": self.seed}

    def plan(self) -> list[FaultTrial]:
        """The first episode of every case, command and walker, then the second, and so on."""
        return [
            FaultTrial(f"{command}-{place:03d}", method, number, case, command)
            for number in range(self.seeds)
            for command in self.protocol.commands
            for place, case in enumerate(self._cases)
            for method, walker in self.walkers.items()
            if command == "ahead"
            or command in walker.speeds
            or (command == "path" and walker.robot.controller.holds_heading)
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial, the same for all methods."""
        return int(derive_seeds(self.seed, SeedFamily.FAULT, key[2], 1, case_number(key))[0])

    def run(self, trial: FaultTrial, folder: Path, report: Callable[[float], None]) -> FaultRecord:
        walker, seed, seconds = self.walkers[trial.method], self.trial_seed(trial.key), self.protocol.seconds
        told = walker.speeds.get("ahead" if trial.command == "path" else trial.command)
        robot = commanded(walker.robot, told) if told else walker.robot
        headings = _PATH if trial.command == "path" else (0.0,)
        steps = round(seconds / robot.control_step / len(headings))
        robot = robot.with_episode_steps(steps * len(headings) + 1)
        world = SimulatedWorld(robot, trial.fault.changes(robot), seed=seed)
        first, parts = world.pose.yaw, list[Stretch]()
        for heading in headings:
            towards = first + heading - world.pose.yaw
            parts.append(world.drive(0, walker.parameters, steps, towards=towards, abrupt=not parts))
            if parts[-1].fell:
                break
        ahead, turned, energy = (
            sum(float(getattr(part.episodes, name)[0]) for part in parts)
            for name in ("distances", "turned", "energies")
        )
        survived, end = world.clock, world.pose
        stood = survived if np.hypot(end.x, end.y) < _STOOD else 0.0
        others = {"turn": (turned, told and told[2]), "stand": (stood, 1.0)}
        made, asked = others.get(trial.command, (ahead, told and told[0]))
        return FaultRecord(
            **self._named(trial),
            walker=walker.checksum,
            damage=trial.fault.name,
            command=trial.command,
            made=made,
            asked=asked and asked * seconds,
            fell_after=survived if parts[-1].fell else None,
            power=energy / survived,
        )

    def read(self, path: Path) -> FaultRecord:
        """Read a result; that of another fault or of another walker of the same name is refused."""
        result: FaultRecord = super().read(path)
        walker = self.walkers.get(result.method)
        if walker and walker.checksum != result.walker:
            raise InvalidFileError(f"{path} holds an episode of another {result.method}: use another folder")
        return result

    def damage_of(self, key: Key) -> str:
        number = case_number(key)
        return self._cases[number].name if number < len(self._cases) else "no fault"

    def report(self, results: Sequence[FaultRecord], folder: Path) -> list[Path]:
        robot = next(iter(self.walkers.values())).robot
        text = join(sections(robot.name, runs := runs_table(results)))
        return save_report(folder, f"{text}\n", decimals=3, episodes=runs)

    @cached_property
    def _cases(self) -> list[Case]:
        first, *others = (self.protocol.cases(walker.robot) for walker in self.walkers.values())
        if any(cases != first for cases in others):
            raise InvalidValueError(
                "policies and gaits are compared on one robot, with legs of the same names"
            )
        return first
