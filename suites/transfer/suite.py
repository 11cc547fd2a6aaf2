"""`TransferSuite`: gaits, recoveries and diagnoses of repertoires in worlds that are not the model's."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from adapt.relearning.refinement import RefinementSettings
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import find_selector
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidFileError, InvalidValueError
from robots.robot import Robot
from suites.records import read_record, write_record
from suites.requests import TRANSFERS
from suites.suite import Estimate, Key, Suite, fault_seed
from suites.transfer.pybullet import ENVIRONMENTS, check_pybullet_damage, pybullet_is_installed
from suites.transfer.report import write_report
from suites.transfer.results import GAITS, TransferResult, parse_result
from suites.transfer.stage import Stage
from suites.transfer.worlds import TransferWorld

_SECONDS = {True: 60.0, False: 240.0}  # of a trial until some have finished: gaits alone, or a recovery


@dataclass(frozen=True)
class TransferTrial:
    """What a trial is to do: let the best gaits walk in a world or, with a fault, recover from it there."""

    label: str
    world: TransferWorld
    number: int
    method: str

    @property
    def key(self) -> Key:
        """Repertoire and world, method, and number of the fault."""
        return f"{self.label}-{self.world.name}", self.method, self.number


@dataclass(frozen=True, kw_only=True, eq=False)
class TransferSuite(Suite):
    """Every repertoire in every world.

    Attributes:
        repertoires: by name.
        worlds: to walk in; PyBullet's is left out for robots that it does not have.
        damages: texts of faults to recover from; None for those of `default_faults`.
        gaits: how many of the best gaits walk.
        request: what each recovery is to do; seeds are those of the faults, and nothing is confirmed.
    """

    name: str = "transfer"
    repertoires: Mapping[str, Repertoire]
    worlds: tuple[TransferWorld, ...]
    damages: tuple[str, ...] | None = None
    gaits: int = 20
    request: RecoveryRequest = TRANSFERS
    suffix: ClassVar[str] = ".json"

    def identity(self) -> Mapping[str, Any]:
        """What the results are a function of."""
        request = self.request
        return {
            "study": self.name,
            "repertoires": {label: fingerprint(one)[:16] for label, one in self.repertoires.items()},
            "seed": self.seed,
            "gaits": self.gaits,
            "recoveries": f"{request.trials} trials, first of the old gait, {request.think_episodes} "
            "episodes of thinking",
            "refinement": "default" if request.refine is None else f"{request.refine} episodes",
        }

    def check(self) -> list[str]:
        """Refuse what cannot be run; say what is left out."""
        entry = find_selector(self.request.selector)
        if entry.needs_truth or entry.needs_table:
            raise InvalidValueError(f"the {entry.name} selector needs more than gaits: choose another one")
        elsewhere = any(world.elsewhere for world in self.worlds)
        for label, one in self.repertoires.items():
            if not max(self.gaits, self.request.trials) <= len(one):
                raise InvalidValueError(f"{label} has only {len(one)} gaits")
            faults = self._faults(one.robot)
            if elsewhere and pybullet_is_installed() and one.robot.name in ENVIRONMENTS:
                for damage in faults:
                    check_pybullet_damage(damage)
        if elsewhere and not pybullet_is_installed():
            return ["PyBullet's environments are left out: pip install pybullet"]
        return []

    def plan(self) -> list[TransferTrial]:
        """The best gaits of all repertoires in all worlds, then recoveries, fault by fault."""
        stages = [
            (label, world)
            for world in self.worlds
            for label, one in self.repertoires.items()
            if not world.elsewhere or (one.robot.name in ENVIRONMENTS and pybullet_is_installed())
        ]
        walks = [TransferTrial(label, world, 0, GAITS) for label, world in stages]
        count = max(len(self._faults(one.robot)) for one in self.repertoires.values())
        return walks + [
            TransferTrial(label, world, number, find_selector(self.request.selector).name)
            for number in range(count)
            for label, world in stages
            if world.recovers and number < len(self._faults(self.repertoires[label].robot))
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial: the same for all repertoires and worlds, so that they can be compared."""
        return fault_seed(self.seed, key[2])

    def run(self, trial: TransferTrial, folder: Path, report: Callable[[float], None]) -> TransferResult:
        """Let gaits walk, or recover from a fault."""
        started, stage = time.perf_counter(), self._stage(trial)
        if trial.method == GAITS:
            figures = stage.walk()
        else:
            repertoire = self.repertoires[trial.label]
            damage = self._faults(repertoire.robot)[trial.number]
            figures = stage.recover(damage, trial.number, self.request)
        known: dict[str, Any] = dict(zip(("case", "method", "number"), trial.key, strict=True))
        seed, took = self.trial_seed(trial.key), time.perf_counter() - started
        return TransferResult(**known, seed=seed, took=took, figures=figures)

    def read(self, path: Path) -> TransferResult:
        """Read a result; one of another fault than that of the plan is refused."""
        result = read_record(path, "trial of this study", parse_result)
        damage, expected = result.figures.get("damage"), self._texts.get(result.case, {}).get(result.number)
        if result.method != GAITS and expected not in (None, damage):
            raise InvalidFileError(f"{path} holds a recovery from {damage}, not from {expected}")
        return result

    def write(self, path: Path, result: TransferResult) -> None:
        """Write a result."""
        write_record(path, result)

    def estimate(
        self, remaining: Sequence[TransferTrial], results: Sequence[TransferResult], processes: int
    ) -> Iterator[Estimate]:
        """Estimate the time of trials from finished ones."""
        for walks, work in ((True, "gaits in worlds"), (False, "recoveries")):
            count = sum((trial.method == GAITS) == walks for trial in remaining)
            took = [one.took for one in results if (one.method == GAITS) == walks]
            seconds, basis = (fmean(took), "as finished ones") if took else (_SECONDS[walks], "roughly")
            if count:
                yield Estimate(f"{work}: {count}", count * seconds / processes, basis)

    def report(self, results: Sequence[TransferResult], folder: Path) -> list[Path]:
        """Write the tables."""
        planned = {trial.key for trial in self.plan()}
        own = [one for one in results if one.key in planned]
        return write_report(own, folder, self.worlds, list(self.repertoires), self._notes())

    @cached_property
    def _stages(self) -> dict[str, Stage]:
        return {}

    def _stage(self, trial: TransferTrial) -> Stage:
        """The stage of a trial, which further trials in the same process use again."""
        repertoire, key = self.repertoires[trial.label], trial.key[0]
        if key not in self._stages:
            stage = Stage(repertoire, trial.world, gaits=self.gaits, seed=self.seed, backend=self.backend)
            self._stages[key] = stage
        return self._stages[key]

    @cached_property
    def _texts(self) -> dict[str, dict[int, str]]:
        """Texts of the faults by case and number."""
        return {
            f"{label}-{world.name}": {n: str(damage) for n, damage in enumerate(self._faults(one.robot))}
            for label, one in self.repertoires.items()
            for world in self.worlds
        }

    def _faults(self, robot: Robot) -> list[Damage]:
        texts = default_faults(robot) if self.damages is None else self.damages
        return [parse_damage(text, robot) for text in texts]

    def _notes(self) -> list[str]:
        """Sentences on how the study was run."""
        request = self.request
        return [
            *(
                f"{label}: {one.robot.name}, {len(one):,} gaits of {one.settings.algorithm} after "
                f"{one.evaluations:,} evaluations; trained on "
                f"{one.problem.randomization or 'its model as it is'}."
                for label, one in self.repertoires.items()
            ),
            f"Recoveries: {request.trials} trials each, by {request.selector}, which simulates "
            f"{request.think_episodes} episodes of the model after each, and refines {self._refines}; "
            f"seed {self.seed}.",
        ]

    @property
    def _refines(self) -> str:
        """What is refined, in words."""
        if self.request.refine == 0:
            return "no gait"
        lengths = (
            f"{label} for {RefinementSettings.of(one, self.request.refine).episodes:,}"
            for label, one in self.repertoires.items()
        )
        return f"gaits in up to three searches ({', '.join(lengths)} episodes)"


def default_faults(robot: Robot) -> tuple[str, ...]:
    """Motors of a leg dead, weak and stuck, each of another leg; none of a robot with fewer than three."""
    legs = list(robot.description.legs)
    return (f"{legs[0]}:dead", f"{legs[1]}:weak@0.3", f"{legs[-1]}:locked") if len(legs) > 2 else ()
