"""`DamagedRobot`: a damaged robot on which selectors recover, and which knows how good gaits truly are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.objective import RecoveryObjective
from adapt.records import Outcome
from adapt.recovery import Experiment, run_trial
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from adapt.selectors.selector import Prior
from repertoire.evaluation.evaluator import Evaluator, objectives_and_falls
from repertoire.repertoire import Repertoire
from robots.description import Randomization
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import Threads
from robots.simulation.trace import TraceColumns
from suites.recovery.tracks import Track
from suites.suite import Key

FINALISTS = 20  # gaits that did best in the only episode that all run
FINAL_EPISODES = 10  # of each of these, which tell the oracle
_FIRST_FINAL = 4  # number of the first of these; part of every result
_READINGS = 0.01  # standard deviation of the noise of sensors across the gap, in units of a trace's columns


@dataclass(frozen=True)
class RecoveryTrial:
    """What a trial is to do: a recovery, or to find the oracle."""

    # that share it: selectors that use no library know the same in all with the same robot
    tracks: tuple[Track, ...]
    place: str  # of its results: the name of the track, or of the tracks' world if any of these would do
    fault: int  # its number
    damage: Damage
    selector: str  # its name, or `ORACLE`
    number: int  # of the recovery from this fault, from 0

    @property
    def key(self) -> Key:
        """Place and number of the fault, selector, and number of the recovery."""
        return f"{self.place}-{self.fault:03d}", self.selector, self.number


@dataclass(frozen=True, kw_only=True, eq=False)
class DamagedRobot:
    """A robot with a fault, which across a reality gap also differs from that of the repertoire."""

    repertoire: Repertoire
    damage: Damage
    gap: Randomization | None = None  # by how much, if it does
    seed: int  # of the fault, see `fault_seed`
    noise: tuple[float, float] = (0.0, 0.0)  # see `RecoverySuite`
    backend: Backend
    aim: RecoveryObjective  # what gaits are scored by

    @cached_property
    def _whole(self) -> Robot:
        return randomised(self.repertoire.robot, self.seed, self.gap)

    @cached_property
    def _damaged(self) -> Robot:
        return self.damage.apply(self._whole)

    def _start(self, robot: Robot) -> Evaluator:
        return Evaluator(self.repertoire, {"any": robot}, backend=self.backend, objective=self.aim.of)

    def _finals(self, evaluator: Evaluator, rows: Sequence[int]) -> np.ndarray:
        """Mean objectives of gaits in the episodes by which the oracle is chosen, (n,)."""
        seeds = derive_seeds(self.seed, SeedFamily.ORACLE, _FIRST_FINAL, FINAL_EPISODES)
        return objectives_and_falls(evaluator, np.array(rows), seeds)[0].mean(axis=1)

    def _score(self, evaluator: Evaluator, row: int) -> tuple[float, float]:
        """Mean objective of a gait in fresh episodes, above the zero of shares, and share of falls."""
        seeds = derive_seeds(self.seed, SeedFamily.CONFIRMATION, 0, FINAL_EPISODES)
        objectives, fell = objectives_and_falls(evaluator, np.array([row]), seeds)
        return float(objectives.mean()) - self.aim.zero, float(fell.mean())

    def oracle(self) -> dict[str, Any]:
        """Find the best gait: what an `OracleResult` tells of it.

        The highest of many objectives are those of lucky gaits, above all of such as fall now and then. The
        20 gaits that do best in an episode of all, and the incumbent, therefore run ten fresh episodes, the
        same for all, which alone decide.
        """
        incumbent, evaluator = self.repertoire.best(), self._start(self._damaged)
        seeds = derive_seeds(self.seed, SeedFamily.ORACLE, 0, 1)
        first, _ = objectives_and_falls(evaluator, np.arange(len(self.repertoire)), seeds)
        finalists = np.argsort(-first[:, 0], kind="stable")[:FINALISTS]
        finalists = np.union1d(finalists, [incumbent])
        finals = self._finals(evaluator, finalists.tolist())
        best = int(finalists[np.argmax(finals)])
        return {
            "gait": best,
            "final": float(finals.max()),
            "score": self._score(evaluator, best)[0],
            "incumbent": self._score(evaluator, incumbent)[0],
            "whole": self._score(self._start(self._whole), incumbent)[0],
        }

    def recover(
        self, request: RecoveryRequest, prior: Prior, table: Table | None, left_out: bool, report: Any
    ) -> dict[str, Any]:
        """One recovery, trial by trial, also after the selector would have stopped; see `RecoveryResult`.

        The table is what the selector is given of the library. If `left_out`, a selector that simulates does
        not think of the families of the damage. The share of trials that were made is reported.
        """
        scores: dict[int, tuple[float, float]] = {}
        rows, falls, thoughts, stop = [], [], [], None
        evaluator = self._start(self._damaged)
        experiment = Experiment(
            self.repertoire, request, evaluator, self.aim, prior, table, backend=self.backend
        )
        selector = experiment.selector(
            without=tuple(sorted(self.damage.families - {"pair"})) if left_out else (),
            before=self._before() if self.gap and experiment.entry.thinks else (),
        )
        tries = experiment.trials(selector, measured=partial(self._measured, request.seed))
        for trial, attempt in enumerate(islice(tries, request.trials), start=1):
            rows.append(row := selector.recommendation())
            scores[row] = scores.get(row) or self._score(evaluator, row)
            falls.append(attempt.outcome.fell)
            thoughts.append(selector.thought())
            if selector.done() and stop is None:
                stop = trial
            report(trial / request.trials)
        cause, probability = (selector.diagnosis() or [("", 0.0)])[0]
        return {
            "gait": row,
            "refined": row >= len(self.repertoire),
            "final": float(self._finals(evaluator, [row])[0]),
            "score": scores[row][0],
            "scores": [scores[row][0] for row in rows],
            "fallen": scores[row][1],
            "falls": falls,
            "stop": stop or request.trials,
            "seconds": float(np.mean([thought.seconds if thought else 0.0 for thought in thoughts])),
            "explained": float(thoughts[0].explained) if thoughts[0] else 0.0,
            "diagnosis": cause,
            "probability": float(probability),
        }

    def _before(self) -> tuple[tuple[int, np.ndarray], ...]:
        """The best gait's trace on this robot while it was whole."""
        row = self.repertoire.best()
        seeds = derive_seeds(self.seed, SeedFamily.INCUMBENT, 0, 1)
        evaluator = Evaluator(self.repertoire, {"whole": self._whole}, backend=Threads(1))
        outcome, _ = run_trial(evaluator, row, seeds, traced=True)
        return ((row, self._measured(self.seed, outcome, 0).trace),)

    def _measured(self, seed: int, outcome: Outcome, trial: int) -> Outcome:
        """What a trial measures: its objective, and across the gap its trace, with noise."""
        rng = np.random.default_rng(derive_seeds(seed, SeedFamily.NOISE, trial, 1))
        share, offset = np.array(self.noise) * rng.standard_normal(2)
        trace = outcome.trace
        if self.gap and len(trace):
            commands = TraceColumns.of(self.repertoire.robot).angle  # the first, which nobody has to measure
            trace = np.array(trace)
            trace[:, commands:] += _READINGS * rng.standard_normal(trace[:, commands:].shape)
        return replace(outcome, objective=float(outcome.objective * (1 + share) + offset), trace=trace)
