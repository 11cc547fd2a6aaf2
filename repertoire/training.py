"""The training loop: ask, evaluate, add, tell, record, checkpoint."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version

import numpy as np

from repertoire.algorithms import Search, find_algorithm
from repertoire.configuration import Configuration, make_configuration
from repertoire.history import History
from repertoire.metrics import Metrics, measure
from repertoire.problems import Evaluations, Locomotion
from repertoire.repertoire import Repertoire
from repertoire.storage import read_repertoire, read_search, write_repertoire
from robots.atomic import check_writable, file_exists, make_folder
from robots.errors import InvalidFileError, InvalidValueError
from robots.robot import Robot, load_robot
from robots.seeds import derive_seeds

FILE_NAME = "repertoire.h5"
_PACKAGES = ("surefoot", "mujoco", "numpy", "numba", "h5py")
# Keys of the run's seed: what each family of random numbers derives from
_SEARCH, _EVALUATIONS = 0, 1


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
        self.search: Search = find_algorithm(configuration.algorithm).start(
            configuration, self.problem, np.random.SeedSequence(configuration.seed, spawn_key=(_SEARCH,))
        )
        self.history = History()
        self.timing = Timing()
        self.saved_by: dict[str, str] = {}  # versions of the software that saved what was restored

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the simulation's threads."""
        self.problem.simulation.close()

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
        asked = [emitter.ask() for emitter in self.search.emitters]
        solutions = np.concatenate(asked)  # (n, solution_dim) float32
        seeds = derive_seeds(self.configuration.seed, _EVALUATIONS, self.evaluations, len(solutions))
        asked_at = time.perf_counter()
        evaluations = self.problem.evaluate(solutions, seeds, on_finished=on_finished)
        evaluated_at = time.perf_counter()
        self._tell(solutions, evaluations, [len(batch) for batch in asked])
        self._record(evaluations)
        self.timing.evaluation += evaluated_at - asked_at
        self.timing.search += time.perf_counter() - evaluated_at + asked_at - started

    def _tell(self, solutions: np.ndarray, evaluations: Evaluations, sizes: list[int]) -> None:
        """Add what succeeded to both archives, and tell each emitter the improvements of its own."""
        ok = ~evaluations.failed
        improvements = np.full(len(ok), -np.inf)  # what failed ranks last
        kept = solutions[ok], evaluations.objectives[ok], evaluations.measures[ok]
        improvements[ok] = self.search.soft.add(*kept)
        self.search.result.add(*kept)
        parts = np.split(improvements, np.cumsum(sizes)[:-1])
        for emitter, part in zip(self.search.emitters, parts, strict=True):
            emitter.tell(part, self.search.soft)

    def _record(self, evaluations: Evaluations) -> None:
        """Add a row to the history."""
        metrics = measure(self.search.result, min_objective=self.configuration.min_objective)
        self.history.append(
            evaluations=self.evaluations + len(evaluations.failed),
            steps=self.history.last("steps") + int(evaluations.steps.sum()),
            diverged=self.history.last("diverged") + int(evaluations.failed.sum()),
            restarts=sum(sum(emitter.restarts.values()) for emitter in self.search.emitters),
            elites=metrics.elites,
            coverage=metrics.coverage,
            qd_score=metrics.qd_score,
            best=metrics.best,
            mean=metrics.mean,
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
        while not self.finished and not (stop and stop()):
            self.step(on_progress and partial(_report, on_progress, self.progress()))
            if on_progress:
                on_progress(self.progress())
            if time.monotonic() - saved_at >= checkpoint_seconds and not self.finished:
                self.save(path)
                saved_at = time.monotonic()
        self.save(path)


def software_versions() -> dict[str, str]:
    """Versions of what a run's result depends on, by name."""
    return {"python": python_version()} | {name: version(name) for name in _PACKAGES}


def _report(on_progress: Callable[[Progress], None], before: Progress, done: int) -> None:
    """Tell of progress within a batch."""
    on_progress(replace(before, evaluations=before.evaluations + done))


def start_training(
    robot: str,
    algorithm: str,
    *,
    out: Path,
    overwrite: bool = False,
    threads: int | None = None,
    **settings: object,
) -> Training:
    """Set up a new run.

    Args:
        robot: name of the robot.
        algorithm: name of the algorithm.
        out: folder of the run, made if it is missing.
        overwrite: whether to replace a run that the folder already holds.
        threads: of the simulation; all cores by default.
        **settings: of `Configuration`; what is left out takes its default or the robot's.

    Raises:
        UnknownNameError: there is no such robot or algorithm.
        InvalidValueError: a setting is wrong, or the folder already holds a run.
        InvalidFileError: the folder cannot be made.
    """
    loaded = load_robot(robot)
    find_algorithm(algorithm)
    configuration = make_configuration(
        {
            "robot": robot,
            "algorithm": algorithm,
            "archive": loaded.description.archive,
            "min_objective": loaded.description.min_objective.value,
            "episode_steps": loaded.description.episode_steps,
            **settings,
        }
    )
    if file_exists(out / FILE_NAME) and not overwrite:
        raise InvalidValueError(
            f"{out} already holds a run: use --resume {out} to go on with it, or --overwrite"
        )
    make_folder(out)
    return Training(configuration, loaded, threads=threads)


def resume_training(out: Path, *, threads: int | None = None) -> Training | None:
    """Take a run up where it was last saved.

    Args:
        out: folder of the run.
        threads: of the simulation; all cores by default.

    Returns:
        The run, or None if it had finished.

    Raises:
        InvalidFileError: the folder holds no run that can be read.
    """
    path = out / FILE_NAME
    if not file_exists(path):
        raise InvalidFileError(f"{out} holds no run to resume: there is no {FILE_NAME} in it")
    repertoire = read_repertoire(path)
    state = read_search(path)
    if state is None:
        return None
    training = Training(repertoire.configuration, repertoire.robot, threads=threads)
    if len(repertoire) and not len(repertoire.history.get("evaluations", ())):
        raise InvalidFileError(f"{path}: there are elites, but no history of how they came about")
    try:
        training.restore(repertoire, state)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, InvalidValueError) as error:
        raise InvalidFileError(f"{path}: the search state does not fit the configuration: {error}") from error
    return training
