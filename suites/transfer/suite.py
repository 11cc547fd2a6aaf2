"""`TransferSuite`: gaits, recoveries and diagnoses of repertoires in worlds that are not the model's."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from adapt.relearning.refinement import RefinementSettings
from adapt.selectors.catalogue import find_selector
from repertoire.execution.running import processor_name, software_versions
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.files.records import validate
from robots.robot import Robot
from robots.words import duration, version_words
from suites.markdown import NOTHING, bullets, fill, format_or_dash, save_report, table
from suites.records import CaseTrial, RecordSuite, TrialRecord
from suites.requests import TransferRequest
from suites.suite import Key, fault_seed
from suites.transfer.pybullet import ENVIRONMENTS, check_pybullet_damage, pybullet_is_installed
from suites.transfer.stage import Stage
from suites.transfer.worlds import WORLDS

GAITS = "gaits"  # what takes the place of the selector's name where gaits run without damage
GAIT_FIGURES, TEXTS = ("mean", "worst tenth", "upright"), ("damage", "diagnosis")
SHARES = ("old gait", "recovered", "old gait falls", "falls", "explained")
_Number = Annotated[float, Field(allow_inf_nan=False)]
_RECOVERY_FIGURES = ("old gait", "recovered", "right part")
_TEMPLATE = Path(__file__).with_name("report.md")


class TransferResult(TrialRecord):
    """What a trial found; the seed is that of a recovery, since gaits walk with those of the study.

    Attributes:
        took: how long it took [s].
        figures: see `Stage.walk` and `Stage.recover`.
    """

    took: _Number
    figures: dict[str, bool | _Number | str]

    @property
    def damage(self) -> Any:
        """Text of the fault; None of gaits that walk without one."""
        return self.figures.get("damage")

    @property
    def words(self) -> str:
        """How it went, in a line."""
        found = (
            f"{value:.2f}" if isinstance(value, float) else f"{value}" for value in self.figures.values()
        )
        return f"{self.case:<24} {self.method:<11} {duration(self.took):>8}  {' '.join(found)}"


def parse_result(found: dict[str, Any]) -> TransferResult:
    """The result that a file holds; raise an InvalidValueError if it lacks a figure of the report."""
    result = validate(TransferResult, found)
    recovered = ("best", *SHARES, "right part")
    numbers, texts = (GAIT_FIGURES, ()) if result.method == GAITS else (recovered, TEXTS)
    for name in (*numbers, *texts):
        value = result.figures.get(name)
        if value is None or isinstance(value, str) != (name in texts):
            raise InvalidValueError(f'"{name}" must be a {"text" if name in texts else "number"}')
    return result


@dataclass(frozen=True)
class TransferTrial(CaseTrial):
    """What a trial is to do: let the best gaits walk in a world or, with a fault, recover from it there.

    Its case are the names of the repertoire and the world, and its number is that of the fault.
    """

    label: str
    world: str
    damage: Damage | None


@dataclass(frozen=True, kw_only=True, eq=False)
class TransferSuite(RecordSuite):
    """Every repertoire in every world; PyBullet's is left out for robots that it does not have."""

    name: str = "transfer"
    repertoires: Mapping[str, Repertoire]  # by name
    # where gaits walk, and what each recovery is to do; its seeds are those of the faults
    request: TransferRequest
    _stages: dict[str, Stage] = field(default_factory=dict, init=False)  # of this process, by case
    holds, parse = "trial of this study", staticmethod(parse_result)

    def identity(self) -> Mapping[str, Any]:
        request = self.request
        return {
            "study": self.name,
            "repertoires": {label: fingerprint(one)[:16] for label, one in self.repertoires.items()},
            "seed": self.seed,
            "gaits": request.gaits,
            "recoveries": f"{request.trials} trials, first of the old gait, {request.think_episodes} "
            "episodes of thinking",
            "refinement": "default" if request.refine is None else f"{request.refine} episodes",
        }

    def check(self) -> list[str]:
        entry = find_selector(self.request.selector)
        if entry.needs_table:
            raise InvalidValueError(f"the {entry.name} selector needs more than gaits: choose another one")
        elsewhere = any(WORLDS[name].elsewhere for name in self.request.worlds)
        for label, one in self.repertoires.items():
            if not max(self.request.gaits, self.request.trials) <= len(one):
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
            (label, name)
            for name, world in WORLDS.items()
            for label, one in self.repertoires.items()
            if name in self.request.worlds
            and (not world.elsewhere or (one.robot.name in ENVIRONMENTS and pybullet_is_installed()))
        ]
        faults = {label: self._faults(one.robot) for label, one in self.repertoires.items()}
        selector = find_selector(self.request.selector).name
        return [TransferTrial(f"{label}-{name}", GAITS, 0, label, name, None) for label, name in stages] + [
            TransferTrial(f"{label}-{name}", selector, number, label, name, faults[label][number])
            for number in range(max(map(len, faults.values())))
            for label, name in stages
            if WORLDS[name].recovers and number < len(faults[label])
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial: the same for all repertoires and worlds, so that they can be compared."""
        return fault_seed(self.seed, key[2])

    def run(self, trial: TransferTrial, folder: Path, report: Callable[[float], None]) -> TransferResult:
        started, stage = time.perf_counter(), self._stage(trial)
        if trial.damage is None:
            figures = stage.walk()
        else:
            figures = stage.recover(trial.damage, trial.number, self.request)
        return TransferResult(**self._named(trial), took=time.perf_counter() - started, figures=figures)

    def damage_of(self, key: Key) -> str | None:
        return self._texts.get(key)

    def report(self, results: Sequence[TransferResult], folder: Path) -> list[Path]:
        planned = {trial.key for trial in self.plan()}
        own = [one for one in results if one.key in planned]
        gaits, recoveries = (
            pd.DataFrame([{"case": one.case, **one.figures} for one in own if (one.method == GAITS) == walks])
            for walks in (True, False)
        )
        worlds, labels = self.request.worlds, list(self.repertoires)
        versions = f"Reported on: {processor_name()}, with {version_words(software_versions())}."
        blocks = {
            "notes": bullets([*self._notes(), versions]),
            "worlds": bullets(f"{name}: {WORLDS[name].title}." for name in worlds),
            "gaits": _by_world(gaits, worlds, labels, GAIT_FIGURES),
            "recoveries": _by_world(recoveries, worlds, labels, _RECOVERY_FIGURES),
            "each": _each(recoveries),
        }
        return save_report(folder, fill(_TEMPLATE, blocks), gaits=gaits, recoveries=recoveries)

    def _stage(self, trial: TransferTrial) -> Stage:
        """The stage of a trial, which further trials in the same process use again."""
        key = trial.key[0]
        if key not in self._stages:
            repertoire, world = self.repertoires[trial.label], WORLDS[trial.world]
            self._stages[key] = Stage(
                repertoire, world, gaits=self.request.gaits, seed=self.seed, backend=self.backend
            )
        return self._stages[key]

    @cached_property
    def _texts(self) -> dict[Key, str]:
        return {trial.key: str(trial.damage) for trial in self.plan() if trial.damage is not None}

    def _faults(self, robot: Robot) -> list[Damage]:
        texts = default_faults(robot) if self.request.damages is None else self.request.damages
        return [parse_damage(text, robot) for text in texts]

    def _notes(self) -> list[str]:
        """Sentences on how the study was run."""
        request = self.request
        lengths = (
            f"{label} for {RefinementSettings.of(one, request.refine).episodes:,}"
            for label, one in self.repertoires.items()
        )
        refined = f"gaits in up to three searches ({', '.join(lengths)} episodes)"
        return [
            *(
                f"{label}: {one.robot.name}, {len(one):,} gaits of {one.settings.algorithm} after "
                f"{one.evaluations:,} evaluations; trained on "
                f"{one.problem.randomization or 'its model as it is'}."
                for label, one in self.repertoires.items()
            ),
            f"Recoveries: {request.trials} trials each, by {request.selector}, which simulates "
            f"{request.think_episodes} episodes of the model after each, and refines "
            f"{'no gait' if request.refine == 0 else refined}; seed {self.seed}.",
        ]


def default_faults(robot: Robot) -> tuple[str, ...]:
    """Motors of a leg dead, weak and stuck, each of another leg; none of a robot with fewer than three."""
    legs = list(robot.description.legs)
    return (f"{legs[0]}:dead", f"{legs[1]}:weak@0.3", f"{legs[-1]}:locked") if len(legs) > 2 else ()


def _by_world(
    rows: pd.DataFrame, worlds: Sequence[str], labels: Sequence[str], figures: Sequence[str]
) -> str:
    """A line for each world that something ran in: means of some figures for each repertoire."""
    if rows.empty:
        return ""
    found = rows.groupby("case")[list(figures)].mean()
    cases = {world: [f"{label}-{world}" for label in labels] for world in worlds}
    lines = [
        (name, *(format_or_dash(found[figure].get(case, nan), 2) for case in own for figure in figures))
        for name, own in cases.items()
        if found.index.isin(own).any()
    ]
    return table(("world", *(f"{label}: {figure}" for label in labels for figure in figures)), lines)


def _each(recoveries: pd.DataFrame) -> str:
    if recoveries.empty:
        return ""
    columns = ["case", *TEXTS, "best", *SHARES]
    rows = [
        (*row[:2], row[2] or NOTHING, *(format_or_dash(one, 2) for one in row[3:]))
        for row in recoveries[columns].to_numpy()
    ]
    return table((*columns[:3], "best [m]", *SHARES), rows, text_columns=3)
