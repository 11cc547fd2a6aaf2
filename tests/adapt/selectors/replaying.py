"""Recoveries that read their trials from true outcomes of all controllers, instead of simulating them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adapt.records import Outcome
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Selector


@dataclass(frozen=True, eq=False)
class Truth:
    """What each of k controllers does on the damaged robot: means and deviations of single trials."""

    objectives: np.ndarray
    objective_std: np.ndarray
    falls: np.ndarray
    evidence: np.ndarray
    evidence_std: np.ndarray

    @classmethod
    def of(cls, table: Table, condition: str) -> "Truth":
        """What a table says about one of its conditions."""
        one = table.take([condition])
        return cls(one.objectives[0], one.noise[0], one.falls[0], one.evidence[0], one.evidence_std[0])

    def outcome(self, row: int, rng: np.random.Generator, noise: tuple[float, float]) -> Outcome:
        """What a trial of a controller measures; as many random numbers are drawn for every controller."""
        share, offset, episode = rng.standard_normal(3)
        objective = self.objectives[row] * (1 + noise[0] * share) + noise[1] * offset
        return Outcome(
            float(objective + self.objective_std[row] * episode),
            bool(rng.random() < self.falls[row]),
            self.evidence[row] + self.evidence_std[row] * rng.standard_normal(self.evidence.shape[1]),
        )


@dataclass(frozen=True, eq=False)
class Replay:
    """Rows tried, those recommended after each trial, and after how many the selector would stop and why."""

    rows: np.ndarray
    recommendations: np.ndarray
    stop: int
    reason: str


def replay(
    make: Callable[[], Selector],
    truth: Truth,
    *,
    seed: int,
    trials: int,
    noise: tuple[float, float] = (0.05, 0.02),
) -> Replay:
    """Let a selector recover, for all trials even if it would have stopped earlier."""
    selector, rng, rows, recommended = make(), np.random.default_rng(seed), [], []
    stop, reason = trials, ""
    for trial in range(trials):
        rows.append(selector.ask())
        selector.tell(rows[-1], truth.outcome(rows[-1], rng, noise))
        recommended.append(selector.recommendation())
        if not reason and (why := selector.done()):
            stop, reason = trial + 1, why
    return Replay(np.array(rows), np.array(recommended), stop, reason)
