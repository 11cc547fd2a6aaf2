"""`TrialResult`, what a trial leaves behind, and its file."""

import json
from pathlib import Path

import numpy as np
from pydantic import ConfigDict

from repertoire.storage.formats import SUM, Array, Contents, Format
from robots.errors import InvalidValueError
from robots.files.records import Finite, Record, validate
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


class TrialResult(Record):
    """One run of one algorithm in one domain.

    Where there was a correction (`episodes` > 0), QD score, coverage, best and `objectives` are those of the
    corrected archive. The history is always that of training. Times are those of training without the
    correction, summed over the parts of an interrupted trial.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, strict=True)

    domain: str  # name of the problem or robot, for example `sphere-100`
    algorithm: str  # name in the study, for example `sep-cma-mae`
    trial: int  # number of the trial, from 0
    seed: int  # of the run
    evaluations: int  # number of solutions evaluated
    qd_score: Finite  # sum over elites of objective - min_objective
    coverage: float  # occupied cells as a fraction of all cells
    best: float  # largest objective
    # wall clock [s], of which `search_seconds` were spent in ask, add and tell, `evaluation_seconds` in
    # evaluating solutions, and `saving_seconds` in writing checkpoints
    seconds: Finite
    cpu_seconds: float  # processor time of all threads [s]
    search_seconds: float
    evaluation_seconds: float
    saving_seconds: float
    search_bytes: int  # memory of emitters and archives [bytes]
    restarts: int  # of all emitters together
    machine: str  # the processor it ran on; `versions` are those of the software, in words
    versions: str
    threads: int  # of the simulation, when the trial ended
    learning_rate: float  # of the archive's thresholds
    min_objective: float  # from which the QD score counts
    steps: int  # control steps simulated in training; 0 where nothing is simulated
    episode_steps: int  # limit of an episode [control steps]; 0 where there are no episodes
    episodes: int  # of each elite, for the correction; 0 where there was none
    left_out: int  # elites that the correction left out because one of their episodes diverged
    raw_qd_score: float  # before the correction, as are `raw_coverage` and `raw_best`
    raw_coverage: float
    raw_best: float
    # columns of equal length, at most 100 rows: `evaluations`, `qd_score`, `coverage`, `best`, and
    # `cpu_seconds` until then, which files of older trials lack
    history: dict[str, np.ndarray]
    # objective of each cell of the result archive, in the archive's shape, nan where empty
    objectives: np.ndarray
    options: str = ""  # settings that make the study a variant of the published one, in words

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


SCALARS = [name for name, one in TrialResult.model_fields.items() if one.annotation in (str, int, float)]


def write_trial(path: Path, result: TrialResult) -> None:
    """Write a trial's result to a file in one step."""
    history = {f"history/{name}": column for name, column in result.history.items()}
    scalars = json.dumps(result.model_dump(include={*SCALARS}))
    contents = Contents({"objectives": result.objectives, **history}, {"scalars": scalars})
    _FORMAT.check(contents)
    _FORMAT.write(path, contents)


def read_trial(path: Path) -> TrialResult:
    """Read a trial's result."""
    with _FORMAT.read(path) as contents:
        _FORMAT.check(contents)
        history = contents.group("history")
        if not history.keys() >= _COLUMNS or any(one.dtype.kind not in "iuf" for one in history.values()):
            raise InvalidValueError(f"the history must have numbers of {', '.join(sorted(_COLUMNS))}")
        arrays = {"history": history, "objectives": contents.arrays["objectives"]}
        return validate(TrialResult, contents.json("scalars", dict) | arrays)
