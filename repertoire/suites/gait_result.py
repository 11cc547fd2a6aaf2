"""`GaitResult`: what a trial that trains a robot leaves behind."""

from dataclasses import dataclass

from repertoire.suites.result import TrialResult


@dataclass(frozen=True, eq=False)
class GaitResult(TrialResult):
    """One algorithm that trained one robot once, and what correction left of it.

    QD score, coverage, best and the objectives of the cells are those of the corrected archive; the history
    is that of training. Times are those of training, of all its parts where it was interrupted.

    Attributes:
        raw_qd_score: before correction, as is what follows.
        raw_coverage: occupied cells as a fraction of all cells.
        raw_best: largest objective.
        saving_seconds: wall clock that went into checkpoints [s].
        steps: control steps simulated in training.
        episode_steps: control steps an episode has at most.
        episodes: of each elite, for the correction.
        left_out: elites that the correction left out since an episode of theirs diverged.
        learning_rate: of the archive's thresholds.
        min_objective: from which QD scores count.
        threads: of the simulation, when the trial ended.
        versions: of the software, in words.
    """

    raw_qd_score: float
    raw_coverage: float
    raw_best: float
    saving_seconds: float
    steps: int
    episode_steps: int
    episodes: int
    left_out: int
    learning_rate: float
    min_objective: float
    threads: int
    versions: str
