"""`TrialResult`, what a trial leaves behind, and its file."""

import json
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from repertoire.storage.formats import SUM, Array, Contents, Format
from robots.errors import InvalidValueError, shown
from robots.words import duration
from suites.suite import Key

_COLUMNS = {"evaluations", "qd_score", "coverage", "best"}
_FORMAT = Format(
    "surefoot trial",
    version=2,
    arrays={
        "objectives": Array("<f4", None, finite=False),
        "history/*": Array(None, ("rows",), low=-SUM, high=SUM, finite=False),
    },
    texts=("scalars",),
)


@dataclass(frozen=True, eq=False)
class TrialResult:
    """One run of one algorithm in one domain.

    Where there was a correction (`episodes` > 0), QD score, coverage, best and `objectives` are those of the
    corrected archive. The history is always that of training. Times are those of training without the
    correction, summed over the parts of an interrupted trial.

    Attributes:
        domain: name of the problem or robot, for example `sphere-100`.
        algorithm: name in the study, for example `sep-cma-mae`.
        trial: number of the trial, from 0.
        seed: of the run.
        evaluations: number of solutions evaluated.
        qd_score: sum over elites of objective - min_objective.
        coverage: occupied cells as a fraction of all cells.
        best: largest objective.
        seconds: wall clock [s], of which `search_seconds` were spent in ask, add and tell,
            `evaluation_seconds` in evaluating solutions, and `saving_seconds` in writing checkpoints.
        cpu_seconds: processor time of all threads [s].
        search_bytes: memory of emitters and archives [bytes].
        restarts: of all emitters together.
        machine: the processor it ran on; `versions` are those of the software, in words.
        threads: of the simulation, when the trial ended.
        learning_rate: of the archive's thresholds.
        min_objective: from which the QD score counts.
        steps: control steps simulated in training; 0 where nothing is simulated.
        episode_steps: limit of an episode [control steps]; 0 where there are no episodes.
        episodes: of each elite, for the correction; 0 where there was none.
        left_out: elites that the correction left out because one of their episodes diverged.
        raw_qd_score: before the correction, as are `raw_coverage` and `raw_best`.
        history: columns of equal length, at most 100 rows: `evaluations`, `qd_score`, `coverage`, `best`, and
            `cpu_seconds` until then, which files of older trials lack.
        objectives: objective of each cell of the result archive, in the archive's shape, nan where empty.
        options: settings that make the study a variant of the published one, in words.
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
    saving_seconds: float
    search_bytes: int
    restarts: int
    machine: str
    versions: str
    threads: int
    learning_rate: float
    min_objective: float
    steps: int
    episode_steps: int
    episodes: int
    left_out: int
    raw_qd_score: float
    raw_coverage: float
    raw_best: float
    history: dict[str, np.ndarray]
    objectives: np.ndarray
    options: str = ""

    @property
    def key(self) -> Key:
        """Domain, algorithm and number of the trial, which identify it in a study."""
        return self.domain, self.algorithm, self.trial

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return (
            f"{self.domain:<12} {self.algorithm:<16} trial {self.trial:<3} QD {self.qd_score:>11,.0f}  "
            f"coverage {self.coverage:>6.1%}  best {self.best:>7.2f}  {duration(self.seconds):>10}"
        )


SCALARS: dict[str, Any] = {one.name: one.type for one in fields(TrialResult) if one.type in (str, int, float)}
_OPTIONAL = {one.name for one in fields(TrialResult) if one.default is not MISSING}


def write_trial(path: Path, result: TrialResult) -> None:
    """Write a trial's result to a file in one step."""
    history = {f"history/{name}": column for name, column in result.history.items()}
    scalars = {name: getattr(result, name) for name in SCALARS}
    contents = Contents({"objectives": result.objectives, **history}, {"scalars": json.dumps(scalars)})
    _FORMAT.check(contents)
    _FORMAT.write(path, contents)


def read_trial(path: Path) -> TrialResult:
    """Read a trial's result."""
    with _FORMAT.read(path) as contents:
        _FORMAT.check(contents)
        scalars: dict[str, Any] = contents.json("scalars", dict)
        if not SCALARS.keys() - _OPTIONAL <= scalars.keys() <= SCALARS.keys():
            raise InvalidValueError(f"its scalars must be {', '.join(SCALARS)}")
        for name, value in scalars.items():
            if type(value) is not SCALARS[name]:
                raise InvalidValueError(
                    f"{name!r} must be of type {SCALARS[name].__name__}, not {shown(value)}"
                )
        history = contents.group("history")
        if not history.keys() >= _COLUMNS:
            raise InvalidValueError(f"the history must have the columns {', '.join(sorted(_COLUMNS))}")
        if any(column.dtype.kind not in "iuf" for column in history.values()):
            raise InvalidValueError("the columns of the history must hold real numbers")
        return TrialResult(**scalars, history=history, objectives=contents.arrays["objectives"])
