"""`GaitPlan`: a trial that trains a robot in a folder of its own, and corrects what was learned."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from repertoire.correction import Correction, correct, reevaluation
from repertoire.plots import objective_grid
from repertoire.provenance import processor_name
from repertoire.repertoire import Repertoire
from repertoire.resources import array_bytes
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.suites.costs import Meter, read_costs
from repertoire.suites.plan import Plan, Tell
from repertoire.suites.results import TrialResult
from repertoire.training.runs import FILE_NAME, resume_training, start_training
from repertoire.training.training import Training
from robots.errors import InvalidFileError
from robots.files import file_exists, make_folder

CORRECTED = "corrected.h5"
_SAMPLES = "samples.h5"
_COSTS = "costs.json"
_CHECKPOINT_SECONDS = 60.0
_RECORDS = 100  # rows of a history
_TRAINING = 0.95  # share of a trial's work, of which the correction is the rest


@final
@dataclass(frozen=True)
class GaitPlan(Plan):
    """A trial that trains a robot, its domain; once stopped, it goes on where it was saved last.

    Attributes:
        method: name of the algorithm that runs; `algorithm` is what it is called in the study.
        learning_rate: of the archive's thresholds; None for the algorithm's own.
        episode_steps: control steps an episode has at most.
        episodes: of each elite, for the correction.
        folder: of the trial: training leaves `repertoire.h5` there, and correction `corrected.h5`.
        threads: of the simulation; the result does not depend on it.
    """

    method: str
    learning_rate: float | None
    episode_steps: int
    episodes: int
    folder: Path
    threads: int

    @property
    def settings(self) -> dict[str, Any]:
        """Those of training that are not the algorithm's or the robot's own."""
        settings = {"evaluations": self.evaluations, "seed": self.seed}
        return settings if self.learning_rate is None else {**settings, "learning_rate": self.learning_rate}

    def run(self, tell: Tell) -> TrialResult:
        """See `Plan.run`."""
        make_folder(self.folder)
        training = self._open()
        if training is not None:
            with training:
                self._train(training, tell)
        repertoire = read_repertoire(self.folder / FILE_NAME)
        self._check(repertoire)
        return self._result(repertoire, self._correct(repertoire, tell))

    def _open(self) -> Training | None:
        """The training to begin or to go on with; None if it has finished."""
        if not file_exists(self.folder / FILE_NAME):
            return start_training(
                self.domain,
                self.method,
                out=self.folder,
                threads=self.threads,
                episode_steps=self.episode_steps,
                **self.settings,
            )
        training = resume_training(self.folder, threads=self.threads)
        if training is not None:
            self._check(training.repertoire())
        return training

    def _check(self, repertoire: Repertoire) -> None:
        """Raise if the folder holds another run."""
        wanted = {"robot": self.domain, "algorithm": self.method, **self.settings}
        wanted["episode_steps"] = self.episode_steps
        steps = repertoire.robot.description.episode_steps
        held = {**dict(repertoire.settings), "robot": repertoire.problem.name, "episode_steps": steps}
        others = [f"{name} {held[name]}" for name, value in wanted.items() if held[name] != value]
        if others:
            raise InvalidFileError(
                f"{self.folder} holds another run ({', '.join(others)}): remove it to run the trial again"
            )

    def _train(self, training: Training, tell: Tell) -> None:
        """Train to the end, with a checkpoint now and then."""
        training.warm_up()
        meter = Meter(self.folder / _COSTS, training.evaluations)

        def note_costs() -> None:
            search = training.search
            memory = array_bytes(search.soft, search.result, *search.emitters)
            meter.note(training.evaluations, training.timing, memory)

        training.run(
            self.folder / FILE_NAME,
            checkpoint_seconds=_CHECKPOINT_SECONDS,
            on_progress=lambda now: tell(_TRAINING * min(now.evaluations / self.evaluations, 1.0)),
            before_saving=note_costs,
        )

    def _correct(self, repertoire: Repertoire, tell: Tell) -> Correction:
        """Correct what was learned, and keep it."""
        samples = self.folder / _SAMPLES
        with reevaluation(
            repertoire, episodes=self.episodes, seed=self.seed, threads=self.threads
        ) as evaluation:
            if file_exists(samples):
                evaluation.restore(samples)
            evaluation.run(
                samples,
                checkpoint_seconds=_CHECKPOINT_SECONDS,
                on_progress=lambda count: tell(_TRAINING + (1 - _TRAINING) * count / evaluation.total),
            )
            correction = correct(evaluation)
        write_repertoire(self.folder / CORRECTED, correction.repertoire)
        return correction

    def _result(self, repertoire: Repertoire, correction: Correction) -> TrialResult:
        """What both leave behind."""
        history, settings = repertoire.history, repertoire.settings
        evaluations = int(history["evaluations"][-1])
        costs, after, before = (
            read_costs(self.folder / _COSTS, evaluations),
            correction.after,
            correction.before,
        )
        restarts = [column[-1] for name, column in history.items() if name.endswith("/restarts")]
        return TrialResult(
            domain=self.domain,
            algorithm=self.algorithm,
            trial=self.trial,
            seed=self.seed,
            evaluations=evaluations,
            qd_score=after.qd_score,
            coverage=after.coverage,
            best=after.best,
            seconds=costs.seconds,
            cpu_seconds=costs.cpu_seconds,
            search_seconds=costs.search_seconds,
            evaluation_seconds=costs.evaluation_seconds,
            search_bytes=int(costs.search_bytes),
            restarts=int(sum(restarts)),
            machine=processor_name(),
            history=_thinned(history),
            objectives=objective_grid(correction.repertoire).astype(np.float32),
            raw_qd_score=before.qd_score,
            raw_coverage=before.coverage,
            raw_best=before.best,
            saving_seconds=costs.saving_seconds,
            steps=int(history["steps"][-1]),
            episode_steps=self.episode_steps,
            episodes=self.episodes,
            left_out=correction.left_out,
            learning_rate=settings.learning_rate,
            min_objective=settings.min_objective,
            threads=self.threads,
            versions=", ".join(f"{name} {version}" for name, version in repertoire.versions.items()),
        )


def _thinned(history: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Some rows of a history, evenly spread, the last one among them."""
    count = len(history["evaluations"])
    rows = np.unique(np.linspace(0, count, min(count, _RECORDS) + 1).astype(int)[1:] - 1)
    return {name: history[name][rows] for name in ("evaluations", "qd_score", "coverage", "best")}
