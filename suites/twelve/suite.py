"""`TwelveSuite`: whole recoveries of few trials from listed damages, beside every rival."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.text import read_damages
from adapt.objective import find_objective
from adapt.records import Trial
from adapt.recovery import find_incumbent, fresh_episodes, recover
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.files.records import validate
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import Threads
from suites.markdown import join, save_report
from suites.records import CaseTrial, RecordSuite
from suites.recovery.suite import WITHOUT, selector_of
from suites.recovery.tracks import check_damages
from suites.recovery.trial import DamagedRobot
from suites.suite import Key, case_number, fault_seed
from suites.twelve.report import TwelveRecord, runs_table, sections

BEST, PREPARED = "best-of-all", "prepared-policy"  # rivals that are no selectors
RIVALS = (
    "best-first", "random", "map-bo", "map-bo-tuned", "rehearsed", f"self-model{WITHOUT}", "self-model", BEST,
)  # fmt: skip
_BETTER = 0.1  # share of the intact progress by which a trial must walk farther to be better


@dataclass(frozen=True)
class TwelveTrial(CaseTrial):
    """A recovery from a damage, of which the case is the number, by a rival."""

    damage: Damage


@dataclass(frozen=True, kw_only=True, eq=False)
class TwelveSuite(RecordSuite):
    """Recoveries as `recover` makes them, one after the other on all cores, as their seconds count."""

    name: str = "twelve"
    repertoire: Repertoire  # of the whole robot
    library: Table | None = None  # its rehearsal, or None
    damages: tuple[Damage, ...]  # what breaks; by default the list of the package for the robot
    # selectors, of which those that think may end in `WITHOUT`; `BEST` is the best gait of the repertoire, of
    # which each runs on the damaged robot; `PREPARED` is the prepared policy
    rivals: tuple[str, ...] = RIVALS
    # a repertoire that was trained on damaged robots: its best gait walks without any trial
    prepared: Repertoire | None = None
    request: RecoveryRequest  # what each recovery is to do; selectors and seeds are those of the plan
    seeds: int = 5  # recoveries of each rival from each damage
    gap: Randomization | None = None  # of which the robot of each recovery is drawn, if it is not the model
    holds, parse = "recovery", staticmethod(partial(validate, TwelveRecord))

    def identity(self) -> Mapping[str, Any]:
        return {
            "study": self.name,
            "repertoire": fingerprint(self.repertoire)[:16],
            "library": self.library.fingerprint[:16] if self.library else "none",
            "prepared": {PREPARED: fingerprint(self.prepared)[:16]} if self.prepared else {},
            "seed": self.seed,
            "gap": str(self.gap or "none"),
            "request": self.request.model_dump(mode="json", exclude={"selector", "seed"}),
        }

    def check(self) -> list[str]:
        check_damages(self.damages)
        if not len(self.repertoire):
            raise InvalidValueError("the repertoire is empty: there is no gait to try")
        for name in self.rivals:
            if name == PREPARED and self.prepared is None:
                raise InvalidValueError(f"{PREPARED} needs a repertoire that was trained on damaged robots")
            if name not in (BEST, PREPARED):
                selector_of(name).check_table(self.library)
        return []

    def share_cores(self, cores: int, backend: Backend | None = None) -> tuple["TwelveSuite", int]:
        """See `Suite.share_cores`; a recovery has all cores, as on a robot."""
        return replace(self, backend=backend or Threads(cores)), 1

    def plan(self) -> list[TwelveTrial]:
        """The first recovery of every rival from every damage, then the second, and so on."""
        return [
            TwelveTrial(f"damage-{place:02d}", method, number, damage)
            for number in range(self.seeds)
            for method in self.rivals
            for place, damage in enumerate(self.damages)
        ]

    def trial_seed(self, key: Key) -> int:
        """Seed of a recovery, the same for all rivals."""
        damage = fault_seed(self.seed, case_number(key))
        return int(derive_seeds(damage, SeedFamily.RECOVERY, key[2], 1)[0])

    def run(self, trial: TwelveTrial, folder: Path, report: Callable[[float], None]) -> TwelveRecord:
        walk = self._without_trials if trial.method in (BEST, PREPARED) else self._recover
        found = walk(trial, self.trial_seed(trial.key), report)
        return TwelveRecord(**self._named(trial), damage=str(trial.damage), **found)

    def report(self, results: Sequence[TwelveRecord], folder: Path) -> list[Path]:
        text = join(sections(self.repertoire.robot.name, runs := runs_table(results)))
        return save_report(folder, f"{text}\n", recoveries=runs)

    def _recover(self, trial: TwelveTrial, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
        entry, started, used = selector_of(trial.method), time.perf_counter(), time.process_time()
        ended: list[float] = []

        def on_trial(one: Trial) -> None:
            ended.append(time.perf_counter() - started)
            report(len(ended) / self.request.trials)

        changes: dict[str, Any] = {"selector": entry.name, "seed": seed}
        if trial.method.endswith(WITHOUT):
            changes["refine"] = 0
        if not entry.thinks:
            changes |= {"refine": None, "think_episodes": None}
        found = recover(
            self.repertoire,
            trial.damage,
            self.request.model_copy(update=changes),
            table=self.library if entry.takes_table else None,
            robot=randomised(self.repertoire.robot, seed, self.gap),
            backend=self.backend,
            on_trial=on_trial,
        )
        took = {"seconds": time.perf_counter() - started, "processor": time.process_time() - used}
        beyond = found.trials[0].distance + _BETTER * found.healthy.distance
        tried = zip(found.trials, ended, strict=True)
        better = [
            at for one, at in tried if one.row != found.incumbent and not one.fell and one.distance > beyond
        ]
        cause, probability = next(iter(found.diagnosis.items()), ("", 0.0))
        refined = [gait.solution for gait in found.refined]
        return self._walked(self.repertoire, trial.damage, found.row, seed, refined) | {
            **took,
            "intact": found.healthy.distance,
            "old": found.broken.distance,
            "trials": len(found.trials),
            "falls": found.falls,
            "better_after": better[0] if better else None,
            "cause": cause,
            "probability": probability,
        }

    def _without_trials(
        self, trial: TwelveTrial, seed: int, report: Callable[[float], None]
    ) -> dict[str, Any]:
        """What the best gait of all, or the prepared policy, walks."""
        robot = randomised(self.repertoire.robot, seed, self.gap)
        intact = Evaluator(self.repertoire, {"intact": robot}, backend=self.backend)
        incumbent = find_incumbent(intact, seed=seed)
        whole = float(fresh_episodes(intact, incumbent, seed).distances.mean())
        old = self._walked(self.repertoire, trial.damage, incumbent, seed)["made"]
        if trial.method == PREPARED:
            assert self.prepared is not None
            used, row = self.prepared, self.prepared.best()
        else:
            aim = find_objective(self.request.objective, self.repertoire, whole)
            found = DamagedRobot(
                repertoire=self.repertoire,
                damage=trial.damage,
                gap=self.gap,
                seed=seed,
                backend=self.backend,
                aim=aim,
            )
            used, row = self.repertoire, found.oracle()["gait"]
        return {"intact": whole, "old": old, **self._walked(used, trial.damage, row, seed)}

    def _walked(
        self, repertoire: Repertoire, damage: Damage, row: int, seed: int, refined: Sequence[np.ndarray] = ()
    ) -> dict[str, float]:
        """What a gait does on the damaged robot."""
        robot = damage.apply(randomised(repertoire.robot, seed, self.gap))
        own = Evaluator(repertoire, {"broken": robot}, backend=self.backend)
        for solution in refined:
            own.add(solution[None])
        walked = fresh_episodes(own, row, seed)
        return {
            "made": float(walked.distances.mean()),
            "falls_after": float(np.mean(walked.fell)),
            "aside": float(np.abs(walked.lateral).mean()),
        }


def listed_damages(robot: Robot) -> tuple[Damage, ...]:
    """The damages that the package lists for a robot."""
    known = Path(__file__).with_name(f"{robot.name}.yaml")
    if not known.is_file():
        names = ", ".join(sorted(one.stem for one in known.parent.glob("*.yaml")))
        raise InvalidValueError(
            f"no damages are listed for the {robot.name}: name a file with --damages; there are lists for: "
            f"{names}"
        )
    return tuple(read_damages(known, robot))
