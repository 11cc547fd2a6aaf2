"""`run_trials`: the loop of every recovery: ask for a gait, run it on the damaged robot, tell the result."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np

from adapt.evidence import evidence_of
from adapt.records import Outcome, RefinedGait
from repertoire.evaluation.evaluator import Evaluator
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.episodes import Episodes


class Searching(Protocol):
    """What says which gait to try, see `Selector`."""

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector`."""

    @property
    def refined(self) -> Sequence[RefinedGait]:
        """See `Selector`."""

    def ask(self) -> int | None:
        """Row of the gait to try next; None ends the trials."""

    def tell(self, row: int, outcome: Outcome) -> None:
        """Learn what it did."""


class Attempt(NamedTuple):
    """A trial that was run, and told to what asked for it.

    Attributes:
        row: of the gait.
        seed: of the episode.
        predicted: objective, before the trial.
        outcome: that was seen, before noise that `measured` may add.
        episodes: the only one.
    """

    row: int
    seed: int
    predicted: float
    outcome: Outcome
    episodes: Episodes


def run_trials(
    evaluator: Evaluator,
    search: Searching,
    seed: int,
    *,
    first: int,
    traced: bool,
    begin: int | None = None,
    measured: Callable[[Outcome, int], Outcome] | None = None,
) -> Iterator[Attempt]:
    """Trial after trial, until the search asks for none.

    Args:
        evaluator: of the damaged robot; gaits that the search refines are added to it.
        search: that asks.
        seed: from which the seeds of the episodes derive.
        first: number of the first trial, which its seed follows from.
        traced: whether episodes leave traces.
        begin: row of the first trial's gait; what the search asks for by default.
        measured: what the search is told of an outcome, by the number of the trial; all of it by default.
    """
    known = 0
    for number in count(first):
        row = begin if begin is not None and number == first else search.ask()
        if row is None:
            return
        predicted = float(search.predicted[row])
        seeds = derive_seeds(seed, SeedFamily.TRIALS, number, 1)
        outcome, episodes = run_trial(evaluator, row, seeds, traced=traced)
        search.tell(row, measured(outcome, number) if measured else outcome)
        for gait in search.refined[known:]:
            evaluator.add(gait.solution[None])
        known = len(search.refined)
        yield Attempt(row, int(seeds[0]), predicted, outcome, episodes)


def run_trial(evaluator: Evaluator, row: int, seeds: np.ndarray, *, traced: bool) -> tuple[Outcome, Episodes]:
    """Run a controller once, with the only one of the seeds; with a trace if it is asked for."""
    episodes = evaluator.run(np.array([row]), seeds, traced=traced)
    outcome = Outcome(
        objective=float(evaluator.objectives(episodes)[0]),
        fell=bool(episodes.fell[0]),
        evidence=evidence_of(episodes, evaluator.robots[0])[0],
        trace=np.empty((0, 0)) if episodes.traces is None else episodes.traces[0],
    )
    return outcome, episodes
