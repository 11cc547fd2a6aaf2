"""`PaperTrial`: one run of one algorithm in one domain, with a correction where the domain is a robot."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from repertoire.algorithms.catalogue import configure
from repertoire.evaluation.correction import Correction, correct, reevaluation
from repertoire.execution.running import array_bytes, one_blas_thread, processor_name
from repertoire.plots import objective_grid
from repertoire.problems.catalogue import find_problem, make_problem
from repertoire.repertoire import Repertoire
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import resume_training
from repertoire.training.training import Training, TrainingProgress
from robots.errors import InvalidFileError, SurefootError
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.locks import locked
from robots.files.texts import read_json
from robots.simulation.backend import Backend
from robots.simulation.threads import ONE_THREAD
from robots.words import version_words
from suites.paper.results import TrialResult
from suites.suite import Key

CORRECTED = "corrected.h5"
_EPISODES = "samples.h5"
_COSTS = "costs.json"
_CHECKPOINT_SECONDS = 60.0
_ROWS = 100  # of a history
_SHORT_STEPS, _SHORT_BATCHES = 2, 3  # of episodes, and of a run, after which all is compiled
_TRAINING = 0.95  # share of a trial's work; the correction is the rest
_SCORES = ("qd_score", "coverage", "best")
_TIMES = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds", "saving_seconds")


class Costs(BaseModel):
    """What training took, over all parts of an interrupted trial; see `TrialResult`."""

    # of `_TIMES` [s], by the evaluations after each batch
    times: dict[int, tuple[float, float, float, float, float]] = {0: (0.0,) * 5}
    search_bytes: int = 0  # memory of emitters and archives [bytes]


@dataclass(frozen=True)
class PaperTrial:
    """What a trial is to do; with the versions of the software it decides the result, except for times."""

    domain: str  # name of a benchmark problem or of a robot
    algorithm: str  # name in the study
    number: int  # of the trial, from 0
    method: str  # name of the algorithm that runs
    settings: Mapping[str, object]  # of the algorithm, where they are not its or the problem's own
    options: str  # those that make the study a variant of the published one, in words
    evaluations: int  # solutions to evaluate, rounded up to whole batches
    episodes: int  # of each elite, for the correction; 0 for none
    episode_steps: int | None  # limit of an episode [control steps]; None where there are no episodes
    seed: int  # of the run

    @property
    def key(self) -> Key:
        """See `StudyTrial`."""
        return self.domain, self.algorithm, self.number

    def training(self, backend: Backend = ONE_THREAD) -> Training:
        """Set the run up from its beginning; a robot's episodes run on a backend."""
        if self.episodes:
            problem = find_problem(self.domain, backend=backend, episode_steps=self.episode_steps)
            return Training(problem, configure(problem, self.method, self._settings))
        problem = make_problem(self.domain)
        settings = configure(problem, self.method, self._settings)
        # all work is done in this thread, whose processor time does not count what else the machine does
        return Training(problem, settings, history_rows=_ROWS, clock=time.thread_time)

    def run(
        self, folder: Path, report: Callable[[float], None], backend: Backend = ONE_THREAD
    ) -> TrialResult:
        """Run the trial in this process; one with a correction goes on from its last checkpoint."""
        self._compile(backend)
        if not self.episodes:  # takes minutes at most, so that there are no checkpoints
            whole = self.training(backend)
            costs = self._train(whole, Costs(), folder, report)
            return self._result(whole.repertoire(), costs, None, backend)
        path = RunFiles.of(folder).repertoire
        started = file_exists(path)
        opening = resume_training(folder, backend=backend) if started else self._start(folder, backend)
        with opening as training:
            if training is not None:
                self._check(training.repertoire(), folder)
                costs = _read_costs(folder, training.evaluations) if started else Costs()
                self._train(training, costs, folder, report)
        repertoire = read_repertoire(path)
        self._check(repertoire, folder)
        correction = self._correct(repertoire, folder, report, backend)
        return self._result(repertoire, _read_costs(folder, repertoire.evaluations), correction, backend)

    def _compile(self, backend: Backend) -> None:
        """Compile everything that the run needs, whose time does not count, by short episodes."""
        short = replace(self, episode_steps=_SHORT_STEPS if self.episodes else None)
        other = short.training(backend)
        with one_blas_thread():
            for _ in range(_SHORT_BATCHES):
                other.step()

    @contextmanager
    def _start(self, folder: Path, backend: Backend) -> Iterator[Training]:
        """Set the run up in its folder, and keep other processes out of that."""
        make_folder(folder)
        with locked(RunFiles.of(folder).repertoire):
            yield self.training(backend)

    @property
    def _settings(self) -> dict[str, Any]:
        return {"evaluations": self.evaluations, "seed": self.seed, **self.settings}

    def _check(self, repertoire: Repertoire, folder: Path) -> None:
        wanted = {"robot": self.domain, "algorithm": self.method, **self._settings}
        wanted["episode_steps"] = self.episode_steps
        steps, settings = repertoire.robot.description.episode_steps, repertoire.settings
        held = {**settings.search, **dict(settings), "robot": repertoire.robot.name, "episode_steps": steps}
        others = [f"{name} {held[name]}" for name, value in wanted.items() if held[name] != value]
        if others:
            raise InvalidFileError(
                f"{folder} holds another run ({', '.join(others)}): remove it to run the trial again"
            )

    def _train(
        self, training: Training, costs: Costs, folder: Path, report: Callable[[float], None]
    ) -> Costs:
        """Train to the end, with checkpoints if a correction follows; adds this part's costs, returns all."""
        before, timing = costs.times[training.evaluations], training.timing
        started, cpu_started = time.perf_counter(), time.process_time()
        share = _TRAINING if self.episodes else 1.0

        def advance(progress: TrainingProgress) -> None:
            # also called within a batch, when the last complete one is known already
            if training.evaluations not in costs.times:
                spent = time.perf_counter() - started, time.process_time() - cpu_started
                now = np.array([*spent, timing.search, timing.evaluation, timing.saving])
                costs.times[training.evaluations] = tuple((before + now).tolist())
            report(share * min(progress.evaluations / self.evaluations, 1.0))

        def keep_costs() -> None:
            costs.search_bytes = _search_bytes(training)
            write_text(folder / _COSTS, costs.model_dump_json() + "\n")

        path = RunFiles.of(folder).repertoire if self.episodes else None
        training.run(
            path, checkpoint_seconds=_CHECKPOINT_SECONDS, on_progress=advance, before_saving=keep_costs
        )
        costs.search_bytes = _search_bytes(training)
        return costs

    def _correct(
        self, repertoire: Repertoire, folder: Path, report: Callable[[float], None], backend: Backend
    ) -> Correction:
        path = folder / _EPISODES
        evaluation = reevaluation(repertoire, episodes=self.episodes, seed=self.seed, backend=backend)
        if file_exists(path):
            evaluation.restore(path)
        evaluation.run(
            path,
            checkpoint_seconds=_CHECKPOINT_SECONDS,
            on_progress=lambda done: report(_TRAINING + (1 - _TRAINING) * done / evaluation.total),
        )
        correction = correct(evaluation)
        write_repertoire(folder / CORRECTED, correction.repertoire)
        return correction

    def _result(
        self, repertoire: Repertoire, costs: Costs, correction: Correction | None, backend: Backend
    ) -> TrialResult:
        history, settings = repertoire.history, repertoire.settings
        columns = {name: history[name] for name in ("evaluations", *_SCORES)}
        spent = np.array([*costs.times.values()])  # (batches, times)
        columns["cpu_seconds"] = np.interp(history["evaluations"], [*costs.times], spent[:, 1])
        raw = repertoire.metrics
        final, metrics = (correction.repertoire, correction.after) if correction else (repertoire, raw)
        restarts = [column[-1] for name, column in history.items() if name.endswith("/restarts")]
        return TrialResult(
            domain=self.domain,
            algorithm=self.algorithm,
            trial=self.number,
            seed=self.seed,
            evaluations=repertoire.evaluations,
            **{name: getattr(metrics, name) for name in _SCORES},
            **{f"raw_{name}": getattr(raw, name) for name in _SCORES},
            **dict(zip(_TIMES, spent[-1].tolist(), strict=True)),
            search_bytes=costs.search_bytes,
            restarts=int(sum(restarts)),
            machine=processor_name(),
            versions=version_words(repertoire.versions),
            threads=backend.threads,
            learning_rate=settings.learning_rate,
            min_objective=settings.min_objective,
            steps=int(history["steps"][-1]) if self.episodes else 0,
            episode_steps=self.episode_steps or 0,
            episodes=self.episodes,
            left_out=correction.left_out if correction else 0,
            history=_thinned(columns),
            objectives=objective_grid(final).astype(np.float32),
            options=self.options,
        )


def _read_costs(folder: Path, evaluations: int) -> Costs:
    """Read what training took until a checkpoint."""
    path = folder / _COSTS
    try:
        costs = Costs.model_validate(read_json(path))
        # those of later batches are of a process that ended before it saved the checkpoint
        costs.times = {count: times for count, times in costs.times.items() if count <= evaluations}
        if evaluations not in costs.times:
            raise InvalidFileError(f"{path} ends before the checkpoint")
        return costs
    except (SurefootError, ValidationError) as error:
        raise InvalidFileError(
            f"{path} does not tell how long the trial took: remove {folder} to run the trial again"
        ) from error


def _thinned(history: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return at most so many rows of a history, evenly spread, the last one among them."""
    count = len(history["evaluations"])
    rows = np.unique(np.linspace(0, count, min(count, _ROWS) + 1).astype(int)[1:] - 1)
    return {name: column[rows] for name, column in history.items()}


def _search_bytes(training: Training) -> int:
    search = training.search
    return array_bytes(search.soft, search.result, *search.emitters)
