"""`RecoverySuite`: selectors recover from faults, in tracks that give them more or less to know."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from adapt.damage.damage import Damage
from adapt.objective import RecoveryObjective, find_objective
from adapt.recovery import find_incumbent, fresh_episodes, prior_of
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.rehearsal.table import Table, join
from adapt.relearning.refinement import RefinementSettings
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import SelectorEntry, find_selector
from adapt.selectors.selector import Prior
from adapt.selectors.self_model import REFINEMENTS
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidValueError
from robots.files.atomic import file_exists, make_folder
from robots.randomization import GAP
from robots.seeds import SeedFamily, derive_seeds
from suites.records import RecordSuite
from suites.recovery.report import write_report
from suites.recovery.results import (
    ORACLE,
    OracleResult,
    RecoveryResult,
    ScoredRecord,
    parse_result,
    recovery_tables,
)
from suites.recovery.tracks import Track, check_damages, draw_faults
from suites.recovery.trial import DamagedRobot, RecoveryTrial
from suites.requests import RECOVERIES
from suites.study import run_trial
from suites.suite import Key, case_number, fault_seed

WITHOUT = "-without-refinement"  # the end of the name of a selector that may not refine gaits


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoverySuite(RecordSuite):
    """Recoveries of which every trial is simulated, from binding faults alone."""

    name: str = "recovery"
    repertoire: Repertoire  # of the whole robot
    library: Table | None = None  # its rehearsal, or None for selectors that need none
    tracks: tuple[Track, ...]  # to run
    selectors: tuple[str, ...]  # names
    damages: tuple[Damage, ...] | None = None  # listed faults, instead of those of the package
    faults: int | None = None  # of each track; all that are listed, and 60 random ones, by default
    seeds: int = 10  # recoveries of each selector from each fault
    # standard deviations of what a trial measures, as a share of the objective and in its units
    noise: tuple[float, float] = (0.05, 0.02)
    # what each recovery is to do; selectors and seeds are those of the plan, and nothing is confirmed
    request: RecoveryRequest = RECOVERIES
    _robots: dict[Key, DamagedRobot] = field(default_factory=dict, init=False)  # used last in this process
    holds, parse = "recovery", staticmethod(parse_result)

    def identity(self) -> Mapping[str, Any]:
        """What the results are a function of; faults are checked one by one, and may be more next time."""
        library = self.library
        return {
            "study": self.name,
            "repertoire": fingerprint(self.repertoire)[:16],
            "library": library.fingerprint[:16] if library else "none",
            "seed": self.seed,
            "trials": self.request.trials,
            "noise": "{:g}, {:g}".format(*self.noise),
            "thinking": f"{self.request.think_episodes:,} episodes",
            "refinement": "none" if self.request.refine == 0 else f"{self._refinement.episodes:,} episodes",
            "objective": self._aim.name,
        }

    def check(self) -> list[str]:
        if not 1 <= self.request.trials <= len(self.repertoire):
            raise InvalidValueError(
                f"the number of trials must be at most the {len(self.repertoire)} gaits of the repertoire, "
                f"not {self.request.trials}"
            )
        for name in self.selectors:
            selector_of(name).check_table(self.library)
        for faults in self._faults.values():
            check_damages(faults)
        return []

    def plan(self) -> list[RecoveryTrial]:
        """The oracle of every fault, then the first recovery by every selector from each, and so on."""
        shared = {world: tuple(one for one in self.tracks if one.world == world) for world in self._faults}
        oracles = [
            RecoveryTrial(shared[world], world, fault, damage, ORACLE, 0)
            for world, damages in self._faults.items()
            for fault, damage in enumerate(damages)
        ]
        return oracles + [
            replace(oracle, tracks=tracks, place=place, selector=name, number=number)
            for number in range(self.seeds)
            for oracle in oracles
            for name in self.selectors
            for place, tracks in _shared(name, oracle.tracks)
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a trial: the same for all selectors and tracks, so that they can be compared in pairs."""
        fault = fault_seed(self.seed, case_number(key))
        return fault if key[1] == ORACLE else int(derive_seeds(fault, SeedFamily.RECOVERY, key[2], 1)[0])

    def run(self, trial: RecoveryTrial, folder: Path, report: Callable[[float], None]) -> ScoredRecord:
        started = time.perf_counter()
        known: dict[str, Any] = dict(zip(("case", "selector", "number"), trial.key, strict=True))
        known |= {"damage": str(trial.damage), "seed": (seed := self.trial_seed(trial.key))}
        if trial.selector == ORACLE:
            known |= self._robot(trial).oracle()
            return OracleResult(**known, took=time.perf_counter() - started)
        wanted = replace(trial, place=trial.tracks[0].world, selector=ORACLE, number=0)
        oracle: OracleResult = run_trial(self, folder, wanted, report)  # that another process may be finding
        if not oracle.binding:
            known |= {"gait": oracle.gait, "final": oracle.final, "score": oracle.score}
        else:
            started = time.perf_counter()
            known |= self._recover(trial, folder, seed, report)
        return RecoveryResult(**known, took=time.perf_counter() - started)

    def report(self, results: Sequence[ScoredRecord], folder: Path) -> list[Path]:
        tables = recovery_tables(self.repertoire.robot.name, self.tracks, self.plan(), results)
        return write_report(tables, folder, notes=self._notes())

    @property
    def _refinement(self) -> RefinementSettings:
        return RefinementSettings.of(self.repertoire, self.request.refine)

    @cached_property
    def _faults(self) -> dict[str, list[Damage]]:
        """Faults by the world of the tracks."""
        robot = self.repertoire.robot
        return {
            track.world: draw_faults(track, robot, self.faults, seed=self.seed, listed=self.damages)
            for track in self.tracks
        }

    @cached_property
    def _aim(self) -> RecoveryObjective:
        """The objective; what the whole robot walks sets the price of a fall."""
        if self.request.objective == "reward":
            return find_objective("reward", self.repertoire, 0.0)
        whole = Evaluator(self.repertoire, {"whole": self.repertoire.robot}, backend=self.backend)
        episodes = fresh_episodes(whole, find_incumbent(whole, seed=self.seed), self.seed)
        return find_objective(self.request.objective, self.repertoire, float(episodes.distances.mean()))

    @cached_property
    def _prior(self) -> Prior:
        """What the repertoire says of its gaits."""
        table = self.library and self._aim.of_table(self.library)
        robot = self.repertoire.robot
        return prior_of(self.repertoire, robot, self._aim, table, self.seed, self.backend)

    def _robot(self, trial: RecoveryTrial) -> DamagedRobot:
        key, track = (trial.tracks[0].world, "", trial.fault), trial.tracks[0]
        if key not in self._robots:
            self._robots.clear()
            seed = fault_seed(self.seed, trial.fault)
            known: dict[str, Any] = {"noise": self.noise, "backend": self.backend, "aim": self._aim}
            self._robots[key] = DamagedRobot(
                repertoire=self.repertoire,
                damage=trial.damage,
                gap=GAP if track.gap else None,
                seed=seed,
                **known,
            )
        return self._robots[key]

    def _recover(
        self, trial: RecoveryTrial, folder: Path, seed: int, report: Callable[[float], None]
    ) -> dict[str, Any]:
        entry, request = selector_of(trial.selector), self.request
        changes: dict[str, Any] = {"selector": entry, "seed": seed}
        if trial.selector.endswith(WITHOUT):
            changes["refine"] = 0
        table = self._given(trial, folder) if entry.takes_table else None
        return self._robot(trial).recover(
            request.model_copy(update=changes),
            self._prior,
            table and self._aim.of_table(table),
            trial.tracks[0].left_out,
            report,
        )

    def _given(self, trial: RecoveryTrial, folder: Path) -> Table | None:
        """What a selector is given of the library, and what that lacks if the track gives it too."""
        if self.library is None:
            return None
        wanted = trial.tracks[0].library(str(trial.damage), self.library.conditions)
        given = self.library.take([text for text in wanted if text in self.library.conditions])
        if len(given) == len(wanted):
            return given
        path = folder / "rehearsals" / f"{trial.place}-{trial.fault:03d}.h5"
        if not file_exists(path):
            make_folder(path.parent)
            seed = fault_seed(self.seed, trial.fault)
            evaluation = rehearsal(
                self.repertoire, [trial.damage], episodes=given.episodes, seed=seed, backend=self.backend
            )
            evaluation.run()
            write_table(path, rehearsed_table(evaluation), evaluation.identity)
        return join([given, read_table(path, self.repertoire).take([str(trial.damage)])])

    def _notes(self) -> list[str]:
        """Sentences on how the study was run."""
        ours, library = self.repertoire, self.library
        return [
            f"Repertoire: {ours.robot.name}, {len(ours):,} gaits of {ours.settings.algorithm} after "
            f"{ours.evaluations:,} evaluations.",
            f"Library: {len(library)} conditions, means over {library.episodes} episodes; the track decides "
            "which part of it selectors are given."
            if library
            else "There is no library.",
            f"Every trial is simulated. Trials of each recovery: {self.request.trials}; recoveries of each "
            f"selector from each fault: {self.seeds}; seed {self.seed}. What a trial measures has normal "
            f"noise of standard deviations {self.noise[0]:.0%} of it and {self.noise[1]:g}.",
            f"Selectors: {'; '.join(f'{name}: {selector_of(name).summary}' for name in self.selectors)}. "
            f"Those that think simulate for {self.request.think_episodes:,} episodes after each trial, and "
            f"refine gaits in up to {REFINEMENTS} searches of {self._refinement.episodes:,} episodes unless "
            f"they end in {WITHOUT}. Objective: {self._aim.name}.",
        ]


def selector_of(name: str) -> SelectorEntry:
    """The selector of a name, which may end in `WITHOUT` if it thinks."""
    entry = find_selector(name.removesuffix(WITHOUT))
    return entry if entry.thinks else find_selector(name)


def _shared(selector: str, tracks: Sequence[Track]) -> list[tuple[str, tuple[Track, ...]]]:
    """Places of a selector's results in tracks with the same world, and the tracks that share each."""
    if selector_of(selector).takes_table:
        return [(track.name, (track,)) for track in tracks]
    return [(tracks[0].world, tuple(tracks))]
