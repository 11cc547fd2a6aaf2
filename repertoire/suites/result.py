"""`TrialResult`: what one trial of a study leaves behind."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class TrialResult:
    """One algorithm, run once in one domain.

    Attributes:
        domain: name of the problem, e.g. `sphere-100`.
        algorithm: name of the algorithm, e.g. `sep-cma-mae`.
        trial: number of the trial, from 0.
        seed: of the run.
        evaluations: solutions evaluated.
        qd_score: sum over elites of objective - min_objective.
        coverage: occupied cells as a fraction of all cells.
        best: largest objective.
        seconds: wall clock of the whole trial [s].
        cpu_seconds: processor time of the whole trial [s], which other work on the machine does not lengthen.
        search_seconds: of these, spent in ask, add and tell [s].
        evaluation_seconds: of these, spent evaluating solutions [s].
        search_bytes: memory of the algorithm's components: emitters and archives [bytes].
        restarts: of all emitters together.
        machine: the processor it ran on.
        history: columns of equal length, one row per recorded iteration: `evaluations`, `qd_score`,
            `coverage`, `best`.
        objectives: objective of each cell of the result archive, of the archive's shape, nan where empty.
    """

    domain: str
    algorithm: str
    trial: int
    seed: int
    evaluations: int
    qd_score: float
    coverage: float
    best: float
    seconds: float
    cpu_seconds: float
    search_seconds: float
    evaluation_seconds: float
    search_bytes: int
    restarts: int
    machine: str
    history: dict[str, np.ndarray]
    objectives: np.ndarray
