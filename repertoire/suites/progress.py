"""`StudyProgress`: how far a study is, and how long it still takes."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from repertoire.suites.plan import Key, Plan
from repertoire.suites.results import TrialResult


@dataclass
class StudyProgress:
    """How far a study is.

    Attributes:
        plans: all trials.
        processes: how many run at a time.
        ended: those that are done, of earlier runs included.
        running: share done of each trial under way.
        began: when each of these began [s, monotonic].
        seconds: how long the finished trials of each domain and algorithm took [s].
        last: the trial that finished last.
    """

    plans: Sequence[Plan]
    processes: int
    ended: set[Key] = field(default_factory=set)
    running: dict[Key, float] = field(default_factory=dict)
    began: dict[Key, float] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    last: TrialResult | None = None

    @property
    def trials(self) -> int:
        """How many there are."""
        return len(self.plans)

    @property
    def finished(self) -> int:
        """How many of them are done."""
        return len(self.ended)

    @property
    def done(self) -> float:
        """Trials done, those under way by their share."""
        return self.finished + sum(self.running.values())

    def hear(self, key: Key, share: float) -> None:
        """Take in how far a trial is; what it said before it finished may come after."""
        if key not in self.ended:
            self.began.setdefault(key, time.monotonic())
            self.running[key] = share

    def finish(self, result: TrialResult) -> None:
        """Take in a trial's result."""
        key = result.domain, result.algorithm, result.trial
        self.running.pop(key, None)
        self.ended.add(key)
        self.seconds.setdefault(key[:2], []).append(result.seconds)
        self.last = result

    def seconds_left(self) -> float:
        """Time left [s], nan while it is not known for some domain and algorithm."""
        expected = self._expected()
        left = [
            (1 - self.running.get(plan.key, 0.0)) * expected.get(plan.key[:2], math.nan)
            for plan in self.plans
            if plan.key not in self.ended
        ]
        # one trial is not shared among processes
        return float(np.max([sum(left) / self.processes, *left]))

    def _expected(self) -> dict[tuple[str, str], float]:
        """Time that a trial of each domain and algorithm takes [s], as far as it is known."""
        now = time.monotonic()
        expected = {group: fmean(seconds) for group, seconds in self.seconds.items()}
        for key, share in self.running.items():
            if share > 0:
                expected.setdefault(key[:2], (now - self.began[key]) / share)
        return expected
