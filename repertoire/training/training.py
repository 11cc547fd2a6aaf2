"""The training loop: ask, evaluate, add, tell, record, checkpoint."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from repertoire.algorithms import find_algorithm
from repertoire.metrics import Metrics, measure
from repertoire.parallel import one_blas_thread
from repertoire.problems import Evaluations, Locomotion
from repertoire.repertoire import Repertoire
from repertoire.search import Search
from repertoire.storage.repertoires import write_repertoire
from repertoire.storage.versions import software_versions
from repertoire.strategies.strategy import STOPS
from repertoire.training.history import History
from repertoire.training.settings import Configuration
from robots.files import check_writable
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds, search_seed
from robots.simulation.simulation import available_cores


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        evaluations: finished, those of the batch in flight included.
        steps: control steps simulated in finished batches.
        metrics: of the result archive after the last batch.
        diverged: evaluations whose simulation blew up so far.
    """

    evaluations: int
    steps: int
    metrics: Metrics
    diverged: int


@dataclass
class Timing:
    """Where the time of this process's part of a run went [s]."""

    search: float = 0.0
    evaluation: float = 0.0
    saving: float = 0.0


class Training:
    """A run under way: everything that changes while training, and how it changes.

    Args:
        configuration: the settings.
        robot: who is trained.
        threads: of the simulation; all cores by default. The result does not depend on it.
    """

    def __init__(self, configuration: Configuration, robot: Robot, *, threads: int | None = None) -> None:
        self.configuration = configuration
        self.robot = robot
        self.problem = Locomotion(robot.with_episode_steps(configuration.episode_steps), threads=threads)
        seed = search_seed(configuration.seed)
        algorithm = find_algorithm(configuration.algorithm)
        self.search: Search = algorithm.start(
            configuration, self.problem, seed, threads=threads or available_cores()
        )
        self.remarks = algorithm.remarks(configuration, self.problem.solution_dim)
        self.history = History()
        self.timing = Timing()
        self.saved_by: dict[str, str] = {}  # versions of the software that saved what was restored

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self.problem.simulation.close()
        self.search.close()

    @property
    def evaluations(self) -> int:
        """Evaluations told to the search so far."""
        return self.history.last("evaluations")

    @property
    def finished(self) -> bool:
        """Whether the budget is used up."""
        return self.evaluations >= self.configuration.evaluations

    def progress(self) -> Progress:
        """How far the run is."""
        metrics = measure(self.search.result, min_objective=self.configuration.min_objective)
        return Progress(self.evaluations, self.history.last("steps"), metrics, self.history.last("diverged"))

    def step(self, on_finished: Callable[[int], None] | None = None) -> None:
        """Run one batch of every emitter: one iteration of the paper's Algorithm 1."""
        started = time.perf_counter()
        solutions = self.search.ask()
        seeds = derive_seeds(self.configuration.seed, SeedFamily.TRAINING, self.evaluations, len(solutions))
        asked_at = time.perf_counter()
        evaluations = self.problem.evaluate(
            solutions, seeds, request=self.search.request, on_finished=on_finished
        )
        evaluated_at = time.perf_counter()
        self.search.tell(evaluations)
        self._record(evaluations)
        self.timing.evaluation += evaluated_at - asked_at
        self.timing.search += time.perf_counter() - evaluated_at + asked_at - started

    def _record(self, evaluations: Evaluations) -> None:
        """Add a row to the history."""
        metrics = measure(self.search.result, min_objective=self.configuration.min_objective)
        self.history.append(
            evaluations=self.evaluations + len(evaluations.failed),
            steps=self.history.last("steps") + int(evaluations.steps.sum()),
            diverged=self.history.last("diverged") + int(evaluations.failed.sum()),
            elites=metrics.elites,
            coverage=metrics.coverage,
            qd_score=metrics.qd_score,
            best=metrics.best,
            mean=metrics.mean,
            **_telemetry(self.search),
        )

    def repertoire(self) -> Repertoire:
        """What has been learned so far."""
        return Repertoire(
            robot=self.robot,
            controller=self.problem.simulation.controller.shape,
            configuration=self.configuration,
            elites=self.search.result.elites(),
            thresholds=self.search.soft.thresholds,
            history=self.history.columns(),
            versions=software_versions(),
        )

    def save(self, path: Path) -> None:
        """Write the repertoire, and unless the run has finished what is needed to go on."""
        started = time.perf_counter()
        write_repertoire(path, self.repertoire(), search=None if self.finished else self.search.state())
        self.timing.saving += time.perf_counter() - started

    def restore(self, repertoire: Repertoire, state: Mapping[str, np.ndarray]) -> None:
        """Go on from where a repertoire was saved."""
        self.search.restore(state)
        elites = repertoire.elites
        self.search.result.add(elites.solutions, elites.objectives, elites.measures)
        self.history = History(repertoire.history)
        self.saved_by = repertoire.versions

    def run(
        self,
        path: Path,
        *,
        checkpoint_seconds: float = 60.0,
        on_progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Train until the budget is used up or `stop` says so, saving as it goes and at the end.

        Args:
            path: the repertoire's file, replaced whole at every checkpoint.
            checkpoint_seconds: time between checkpoints [s].
            on_progress: called after every batch and, from other threads, within it.
            stop: asked after every batch.
        """
        check_writable(path)
        saved_at = -math.inf  # the first batch is saved at once: from then on there is a run to resume
        with one_blas_thread():
            while not self.finished and not (stop and stop()):
                self.step(on_progress and partial(_report, on_progress, self.progress()))
                if on_progress:
                    on_progress(self.progress())
                if time.monotonic() - saved_at >= checkpoint_seconds and not self.finished:
                    self.save(path)
                    saved_at = time.monotonic()
        self.save(path)


def _telemetry(search: Search) -> dict[str, float]:
    """How each emitter is doing, as columns of the history; `stop` counts from 1 in `STOPS`, 0 is none."""
    columns: dict[str, float] = {}
    for number, emitter in enumerate(search.emitters):
        telemetry = emitter.telemetry
        columns |= {
            f"emitter_{number}/sigma": telemetry.sigma,
            f"emitter_{number}/condition_number": telemetry.condition_number,
            f"emitter_{number}/improvements": telemetry.improvements,
            f"emitter_{number}/restarts": telemetry.restarts,
            f"emitter_{number}/stop": 0 if telemetry.stop is None else 1 + STOPS.index(telemetry.stop),
        }
    return columns


def _report(on_progress: Callable[[Progress], None], before: Progress, done: int) -> None:
    """Tell of progress within a batch."""
    on_progress(replace(before, evaluations=before.evaluations + done))
