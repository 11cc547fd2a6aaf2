"""`Training`: the loop of every problem: ask, evaluate, add, tell, record, save."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from repertoire.algorithms.catalogue import start_search
from repertoire.algorithms.scheduler import Scheduler
from repertoire.algorithms.settings import Settings
from repertoire.archives.archive import Elites
from repertoire.execution.running import run_with_checkpoints, software_versions
from repertoire.metrics import Metrics, measure
from repertoire.problems.problem import Problem
from repertoire.repertoire import WHOLE, Repertoire, Specialists
from repertoire.storage.repertoires import write_repertoire
from repertoire.strategies.strategy import STOPS
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations
from robots.files.atomic import check_writable
from robots.seeds import SeedFamily, derive_seeds

_KNOWN_EPISODES = 10  # by which a solution that is known beforehand is measured


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run is."""

    evaluations: int  # finished, including those of the batch that is being evaluated
    steps: int  # of finished batches, in the problem's unit of work
    metrics: Metrics  # of the result archive when the history was last recorded
    diverged: int  # evaluations that failed so far


@dataclass
class Timing:
    """Where the time of this process's part of a run went [s]."""

    search: float = 0.0  # ask, add and tell
    evaluation: float = 0.0
    saving: float = 0.0


class Training:
    """A run: a search on a problem, with a history and a file; its result depends only on the first two.

    Args:
        problem: to be solved.
        settings: of the search.
        history_rows: rows of the history, spread evenly over the evaluations; None for one each iteration.
        clock: for `timing`, in seconds; `time.thread_time` counts the processor time of this thread alone.

    Attributes:
        search: archives and emitters.
        history: recorded so far, columns with one row for each recorded iteration; all are functions of the
            problem, the settings and the seed.
        timing: of this process.
        saved_by: versions of the software that saved what was restored.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        *,
        history_rows: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.problem = problem
        self.settings = settings
        seed = np.random.SeedSequence(settings.seed, spawn_key=(int(SeedFamily.SEARCH),))
        self.search: Scheduler = start_search(settings, problem, seed)
        self.history: dict[str, list[float]] = {}
        self.timing = Timing()
        self.saved_by: dict[str, str] = {}
        self._history_rows = history_rows
        self._clock = clock
        self._evaluations = self._steps = self._diverged = 0
        self._metrics = self.metrics
        self._solutions: np.ndarray | None = None  # of the last ask, whose memory the next one takes

    @property
    def evaluations(self) -> int:
        """Evaluations told to the search so far."""
        return self._evaluations

    @property
    def metrics(self) -> Metrics:
        """How good the elites found so far are."""
        result = self.search.result
        return measure(result.objectives, cells=result.cells, min_objective=self.settings.min_objective)

    @property
    def finished(self) -> bool:
        """Whether the budget is used up."""
        return self._evaluations >= self.settings.evaluations

    def changed_versions(self) -> list[str]:
        """Where a run was saved by other software than goes on with it, in words."""
        now = software_versions()
        return [
            f"saved with {name} {then}, resumed with {now.get(name, 'none')}: results may differ"
            for name, then in self.saved_by.items()
            if now.get(name) != then
        ]

    def progress(self, underway: int = 0) -> TrainingProgress:
        """How far the run is after its last batch, with so many evaluations of the next one finished."""
        return TrainingProgress(self._evaluations + underway, self._steps, self._metrics, self._diverged)

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Run one batch of every emitter, which is one iteration of Algorithm 1 of Tjanaka et al. 2023."""
        solutions = self.ask()
        seeds = self._seeds(len(solutions))
        started = self._clock()
        evaluations = self.problem.evaluate(
            solutions, seeds, request=self.search.request, on_finished=on_finished
        )
        self.timing.evaluation += self._clock() - started
        self.tell(evaluations)

    def ask(self) -> np.ndarray:
        """Return the solutions to evaluate next, (batch, solution_dim) float32, good until the next `ask`."""
        started = self._clock()
        self._solutions = self.search.ask(reuse=self._solutions)
        self.timing.search += self._clock() - started
        return self._solutions

    def tell(self, evaluations: Evaluations) -> None:
        """Take in what evaluating the solutions of the last `ask` gave."""
        started = self._clock()
        self.search.tell(evaluations)
        self.timing.search += self._clock() - started
        self._count(evaluations)

    def _seeds(self, count: int) -> np.ndarray:
        """Seeds of the next evaluations, (count,) int64."""
        if not self.problem.stochastic:  # to derive seeds would take longer than many evaluations
            return np.zeros(count, np.int64)
        return derive_seeds(self.settings.seed, SeedFamily.TRAINING, self.evaluations, count)

    def _count(self, evaluations: Evaluations) -> None:
        before = self._evaluations
        self._evaluations += len(evaluations.diverged)
        self._steps += int(evaluations.steps.sum())
        self._diverged += int(evaluations.diverged.sum())
        rows, total = self._history_rows, self.settings.evaluations
        if rows is None or before * rows // total < self._evaluations * rows // total:
            self._record()

    def _record(self) -> None:
        self._metrics = metrics = self.metrics
        counts = {"evaluations": self._evaluations, "steps": self._steps, "diverged": self._diverged}
        known = counts | vars(metrics) | _status(self.search)
        for name, value in known.items():
            self.history.setdefault(name, []).append(value)

    def repertoire(self) -> Repertoire:
        """What has been learned so far."""
        if self.evaluations > self.history.get("evaluations", [0])[-1]:
            self._record()  # the last row always describes the elites
        return Repertoire(
            problem=self.problem.record,
            settings=self.settings,
            elites=self.search.result.elites(),
            thresholds=self.search.soft.thresholds,
            history={name: np.array(column) for name, column in self.history.items()},
            versions=self.saved_by | software_versions() | self.problem.differences,
            specialists=self._known,
        )

    @cached_property
    def _known(self) -> Specialists | None:
        """The problem's `known` solution, which competes for no cell, in episodes like those of training."""
        if (known := self.problem.known) is None:
            return None
        seeds = derive_seeds(self.settings.seed, SeedFamily.EVALUATION, 0, _KNOWN_EPISODES)
        found = self.problem.evaluate(np.repeat(known, _KNOWN_EPISODES, axis=0), seeds)
        objectives = np.where(found.diverged, self.settings.min_objective, found.objectives)
        measures = np.nan_to_num(found.measures).mean(axis=0, keepdims=True)
        cells = self.search.result.cells_of(measures)
        gait = Elites(cells, known, objectives.mean(keepdims=True), measures)
        return Specialists(gait, cells, np.zeros(1, np.int64), (WHOLE,))

    def save(self, path: Path) -> None:
        """Write the repertoire to a file, and unless the run has finished what is needed to go on."""
        started = self._clock()
        write_repertoire(path, self.repertoire(), search=None if self.finished else self.search.state())
        self.timing.saving += self._clock() - started

    def restore(self, repertoire: Repertoire, state: Mapping[str, np.ndarray]) -> None:
        """Go on from where a repertoire was saved."""
        batches = np.diff(repertoire.history.get("evaluations", np.zeros(0)).astype(float), prepend=0)
        if not ((batches >= 1).all() and batches.sum() <= self.settings.evaluations):
            raise InvalidValueError(
                f"the evaluations of the history must ascend, up to {self.settings.evaluations:,} at most"
            )
        self.search.restore(state)
        elites = repertoire.elites
        self.search.result.add(elites.solutions, elites.objectives, elites.measures)
        self.history = {name: list(column) for name, column in repertoire.history.items()}
        self.saved_by = repertoire.versions
        self._evaluations, self._steps, self._diverged = map(
            repertoire.last, ("evaluations", "steps", "diverged")
        )
        self._metrics = self.metrics

    def run(
        self,
        path: Path | None = None,
        *,
        checkpoint_seconds: float = 60.0,
        on_progress: Callable[[TrainingProgress], None] | None = None,
        on_batch: Callable[[dict[str, float]], None] | None = None,
        stop: Callable[[], bool] | None = None,
        before_saving: Callable[[], None] | None = None,
    ) -> None:
        """Train until the budget is used up or `stop` says so, saving from time to time and at the end.

        Args:
            path: of the repertoire's file; None to save nothing.
            checkpoint_seconds: time between checkpoints [s].
            on_progress: called after every batch and, from any thread, within it.
            on_batch: called after every batch with the latest row of the history, which with `history_rows`
                can be of an earlier batch; with the `seconds` since this process began to train, and with
                the `evaluations_per_s` of the batch.
            stop: called after every batch.
            before_saving: called before every checkpoint.
        """
        if path is not None:
            check_writable(path)

        started = time.perf_counter()

        def step() -> None:
            before, began = self._evaluations, time.perf_counter()
            self.step(on_progress and (lambda done: on_progress(self.progress(done))))
            if on_progress:
                on_progress(self.progress())
            if on_batch:
                now = time.perf_counter()
                pace = {"evaluations_per_s": (self._evaluations - before) / (now - began)}
                row = {name: column[-1] for name, column in self.history.items()}
                on_batch(row | {"seconds": now - started} | pace)

        def save(file: Path) -> None:
            if before_saving:
                before_saving()
            self.save(file)

        run_with_checkpoints(
            step,
            partial(save, path) if path else None,
            finished=lambda: self.finished,
            seconds=checkpoint_seconds,
            stop=stop,
        )


def _status(search: Scheduler) -> dict[str, float]:
    """The state of each emitter, as columns of the history; `stop` counts from 1 in `STOPS`, 0 is none."""
    columns: dict[str, float] = {}
    for number, emitter in enumerate(search.emitters):
        status = emitter.status
        columns |= {
            f"emitter_{number}/sigma": status.sigma,
            f"emitter_{number}/condition_number": status.condition_number,
            f"emitter_{number}/improvements": status.improvements,
            f"emitter_{number}/restarts": status.restarts,
            f"emitter_{number}/stop": 0 if status.stop is None else 1 + STOPS.index(status.stop),
        }
    return columns
