"""`DamagedRobot`: a damaged robot on which selectors recover, and which knows how good gaits truly are."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.experiment import Experiment, run_trial
from adapt.objective import RecoveryObjective
from adapt.oracle import FINAL_EPISODES, final_means, find_oracle, true_objectives
from adapt.records import Outcome
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from adapt.selectors.selector import Prior
from repertoire.evaluation.evaluator import Evaluator, objectives_and_falls
from repertoire.repertoire import Repertoire
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import Threads
from robots.simulation.trace import TraceColumns
from suites.recovery.tracks import Track
from suites.suite import Key

_EPISODES = 1  # of every gait, from which the finalists for the oracle follow
_READINGS = 0.01  # standard deviation of the noise of sensors across the gap, in units of a trace's columns


@dataclass(frozen=True)
class RecoveryTrial:
    """What a trial is to do: a recovery, or to find the oracle.

    Attributes:
        tracks: that share it: selectors that use no library know the same in all with the same robot.
        place: of its results: the name of the track, or of the tracks' world if any of these would do.
        fault: its number.
        damage: the fault.
        selector: its name, or `ORACLE`.
        number: of the recovery from this fault, from 0.
    """

    tracks: tuple[Track, ...]
    place: str
    fault: int
    damage: Damage
    selector: str
    number: int

    @property
    def key(self) -> Key:
        """Place and number of the fault, selector, and number of the recovery."""
        return f"{self.place}-{self.fault:03d}", self.selector, self.number


class DamagedRobot:
    """A robot with a fault; in a track with a reality gap it also differs from that of the repertoire.

    The seed is that of the fault, see `fault_seed`; of noise see `RecoverySuite`; the aim is what gaits are
    scored by.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        track: Track,
        damage: Damage,
        *,
        seed: int,
        noise: tuple[float, float],
        backend: Backend,
        aim: RecoveryObjective,
    ) -> None:
        self._repertoire, self._damage, self._gap, self._seed = repertoire, damage, track.gap, seed
        self._noise, self._backend, self._aim = noise, backend, aim
        robot = repertoire.robot
        self._whole: Robot = randomised(robot, seed) if track.gap else robot
        self._damaged = damage.apply(self._whole)
        self._evaluator = self._start(self._damaged)
        self._scores: dict[int, tuple[float, float]] = {}

    def _start(self, robot: Robot) -> Evaluator:
        """What runs gaits on a robot."""
        return Evaluator(self._repertoire, {"any": robot}, backend=self._backend, objective=self._aim.of)

    def score(self, row: int) -> float:
        """Mean objective of a gait in fresh episodes, above the zero of shares."""
        return self._score(self._evaluator, row)[0]

    def _score(self, evaluator: Evaluator, row: int) -> tuple[float, float]:
        """The score of a gait, and the share of its episodes that ended in a fall."""
        if row >= len(self._repertoire):  # each recovery numbers those that it found anew
            return self._mean(evaluator, row)
        if row not in self._scores:
            self._scores[row] = self._mean(evaluator, row)
        return self._scores[row]

    def final(self, row: int) -> float:
        """Mean objective of a gait in the episodes by which the oracle is chosen."""
        return float(final_means(self._evaluator, np.array([row]), seed=self._seed)[0])

    def oracle(self) -> dict[str, Any]:
        """Find the best gait; the incumbent is a finalist in any case. See `OracleResult`."""
        incumbent = self._repertoire.best()
        means = true_objectives(self._evaluator, seed=self._seed, episodes=_EPISODES)
        best = find_oracle(self._evaluator, means, seed=self._seed, rows=[incumbent])
        evaluator = self._start(self._whole)
        whole, _ = self._mean(evaluator, incumbent)
        known = {"gait": best, "final": self.final(best), "score": self.score(best)}
        return known | {"incumbent": self.score(incumbent), "whole": whole}

    def recover(
        self, request: RecoveryRequest, prior: Prior, table: Table | None, left_out: bool, report: Any
    ) -> dict[str, Any]:
        """One recovery, trial by trial, also after the selector would have stopped; see `RecoveryResult`.

        Args:
            request: what to do.
            prior: of all gaits.
            table: what the selector is given of the library.
            left_out: whether a selector that simulates does not think of the families of the damage.
            report: told the share of trials that were made.
        """
        scores, falls, thoughts, stop = [], [], [], None
        evaluator = self._start(self._damaged)
        experiment = Experiment(
            self._repertoire, request, evaluator, self._aim, prior, table, backend=self._backend
        )
        selector = experiment.selector(
            without=tuple(sorted(self._damage.families - {"pair"})) if left_out else (),
            before=self.before() if self._gap and experiment.entry.thinks else (),
        )
        tries = experiment.trials(selector, measured=partial(self._measured, request.seed))
        for trial, attempt in enumerate(islice(tries, request.trials), start=1):
            gait_now = selector.recommendation()
            scores.append(self._score(evaluator, gait_now))
            falls.append(attempt.outcome.fell)
            thoughts.append(selector.thought())
            if selector.done() and stop is None:
                stop = trial
            report(trial / request.trials)
        final = float(final_means(evaluator, np.array([gait_now]), seed=self._seed)[0])
        cause, probability = (selector.diagnosis() or [("", 0.0)])[0]
        return {
            "gait": gait_now,
            "refined": gait_now >= len(self._repertoire),
            "final": final,
            "score": scores[-1][0],
            "scores": [score for score, _ in scores],
            "fallen": scores[-1][1],
            "falls": falls,
            "stop": stop or request.trials,
            "seconds": float(np.mean([thought.seconds if thought else 0.0 for thought in thoughts])),
            "explained": float(thoughts[0].explained) if thoughts[0] else 0.0,
            "diagnosis": cause,
            "probability": float(probability),
        }

    def before(self) -> tuple[tuple[int, np.ndarray], ...]:
        """The best gait's trace on this robot while it was whole."""
        row = self._repertoire.best()
        seeds = derive_seeds(self._seed, SeedFamily.INCUMBENT, 0, 1)
        evaluator = Evaluator(self._repertoire, {"whole": self._whole}, backend=Threads(1))
        outcome, _ = run_trial(evaluator, row, seeds, traced=True)
        return ((row, self._measured(self._seed, outcome, 0).trace),)

    def _mean(self, evaluator: Evaluator, row: int) -> tuple[float, float]:
        """Mean objective of a gait under the only condition, above the zero of shares, and share of falls."""
        seeds = derive_seeds(self._seed, SeedFamily.CONFIRMATION, 0, FINAL_EPISODES)
        objectives, fell = objectives_and_falls(evaluator, np.array([row]), seeds)
        return float(objectives.mean()) - self._aim.zero, float(fell.mean())

    def _measured(self, seed: int, outcome: Outcome, trial: int) -> Outcome:
        """What a trial measures: its objective, and across the gap its trace, with noise."""
        rng = np.random.default_rng(derive_seeds(seed, SeedFamily.NOISE, trial, 1))
        share, offset = np.array(self._noise) * rng.standard_normal(2)
        trace = outcome.trace
        if self._gap and len(trace):
            commands = TraceColumns.of(self._repertoire.robot).angle  # the first, which nobody has to measure
            trace = np.array(trace)
            trace[:, commands:] += _READINGS * rng.standard_normal(trace[:, commands:].shape)
        return replace(outcome, objective=float(outcome.objective * (1 + share) + offset), trace=trace)
