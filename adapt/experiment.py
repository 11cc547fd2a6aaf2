"""`Experiment`: how gaits are tried on a damaged robot, in every recovery and in the suites."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from adapt.evidence import evidence_of
from adapt.objective import RecoveryObjective
from adapt.records import Outcome, RefinedGait
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import RefinementSettings
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import SelectorEntry, find_selector, make_selector
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.features import check_sensors
from adapt.self_model.twin import Thinking
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES


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


@dataclass(frozen=True, eq=False)
class Experiment:
    """A damaged robot, on which gaits of a repertoire are tried, and what is known of it beforehand.

    `adapt.recovery.recover` runs one whose result must be confirmed; suites vary the robot, the request and
    what is known, and score what a selector recommends after each trial.

    Attributes:
        repertoire: of the whole robot.
        request: what to do.
        damaged: runs gaits on the damaged robot, scored by the aim; what is refined is added to it.
        aim: what gaits are selected, refined and scored by.
        prior: what is known of all gaits on the whole robot.
        table: the rehearsal that the selector is given, with the aim's values.
        truth: objectives of the gaits on the damaged robot, for selectors that need it.
        backend: what runs the episodes that a selector simulates between trials.
    """

    repertoire: Repertoire
    request: RecoveryRequest
    damaged: Evaluator
    aim: RecoveryObjective
    prior: Prior
    table: Table | None = None
    truth: np.ndarray | None = None
    backend: Backend = ALL_CORES

    @property
    def entry(self) -> SelectorEntry:
        """What chooses the trials."""
        return find_selector(self.request.selector)

    def selector(
        self,
        thinking: Thinking | None = None,
        *,
        on_thinking: Callable[[float], None] | None = None,
        on_refining: Callable[[float], None] | None = None,
        **known: Any,
    ) -> Selector:
        """Start the selector.

        Args:
            thinking: what it may do between trials if it simulates; by default what the request says.
            on_thinking: see `Context`.
            on_refining: see `Context`.
            **known: of `Thinking`, what is known in addition, such as `before`.
        """
        entry, request = self.entry, self.request
        if entry.thinks:
            thinking = replace(thinking or self._thinking(), objective=self.aim, **known)
        context = Context(
            self.prior,
            trials=request.trials,
            seed=request.seed,
            max_falls=request.max_falls,
            table=self.table,
            truth=self.truth if entry.needs_truth else None,
            thinking=thinking,
            on_thinking=on_thinking,
            on_refining=on_refining,
        )
        return make_selector(entry, context)

    def _thinking(self) -> Thinking:
        request, repertoire = self.request, self.repertoire
        return Thinking(
            repertoire,
            request.think,
            request.think_episodes,
            check_sensors(request.sensors),
            refinement=None if request.refine == 0 else RefinementSettings.of(repertoire, request.refine),
            backend=self.backend,
        )

    def trials(
        self,
        search: Searching,
        *,
        first: int = 0,
        begin: int | None = None,
        measured: Callable[[Outcome, int], Outcome] = lambda outcome, _: outcome,
    ) -> Iterator[Attempt]:
        """Trial after trial, until the search asks for none.

        Args:
            search: the selector, or what asks it.
            first: number of the first trial, which its seed follows from.
            begin: row of the first trial's gait; what the search asks for by default.
            measured: what the search is told of an outcome, by the number of the trial; all of it by default.
        """
        traced, known = self.entry.thinks, 0
        for number in count(first):
            row = begin if begin is not None and number == first else search.ask()
            if row is None:
                return
            predicted = float(search.predicted[row])
            seeds = derive_seeds(self.request.seed, SeedFamily.TRIALS, number, 1)
            outcome, episodes = run_trial(self.damaged, row, seeds, traced=traced)
            search.tell(row, measured(outcome, number))
            for gait in search.refined[known:]:
                self.damaged.add(gait.solution[None])
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
