"""`TrialResult`, what a trial leaves behind, and `StudyResults`, those of a whole study."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.suites.published import Metric, PublishedStudy
from robots.errors import InvalidValueError

Key = tuple[str, str, int]


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
        history: columns of equal length, at most 100 rows: `evaluations`, `qd_score`, `coverage`, `best`.
        objectives: objective of each cell of the result archive, in the archive's shape, nan where empty.
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

    @property
    def key(self) -> Key:
        """Domain, algorithm and number of the trial, which identify it in a study."""
        return self.domain, self.algorithm, self.trial


@dataclass(frozen=True, eq=False)
class StudyResults:
    """Results of a study, which may lack published combinations or have others; made by `collect_results`.

    Attributes:
        results: ordered by domain, algorithm and trial.
        domains: the published ones in their order, then others by name.
        algorithms: the published ones in their order, then others by name.
        published: the study with which they are compared.
    """

    results: tuple[TrialResult, ...]
    domains: tuple[str, ...]
    algorithms: tuple[str, ...]
    published: PublishedStudy

    def of(self, domain: str, algorithm: str) -> list[TrialResult]:
        """The trials of an algorithm in a domain; may be none."""
        return [one for one in self.results if (one.domain, one.algorithm) == (domain, algorithm)]

    def values(self, domain: str, algorithm: str, field: str) -> list[float]:
        """A field of each of these trials."""
        return [getattr(one, field) for one in self.of(domain, algorithm)]

    def measured(self, domain: str, algorithm: str, metric: Metric) -> np.ndarray:
        """A metric of each of these trials, in the printed unit."""
        return metric.scale * np.array(self.values(domain, algorithm, metric.field), float)

    def algorithms_in(self, domain: str) -> list[str]:
        """The algorithms that ran in a domain."""
        return [algorithm for algorithm in self.algorithms if self.of(domain, algorithm)]

    def has_published_budget(self, domain: str, algorithm: str) -> bool:
        """Whether the combination was published and every trial has the published number of evaluations."""
        evaluations = set(self.values(domain, algorithm, "evaluations"))
        return (domain, algorithm) in self.published.means and evaluations == {self.published.evaluations}

    def is_comparable(self, domain: str, algorithm: str) -> bool:
        """Whether agreement with the published means can be judged."""
        return not self.published.incomparable and self.has_published_budget(domain, algorithm)

    def median_trial(self, domain: str, algorithm: str) -> TrialResult:
        """The trial with the median QD score; of an even number, the lower of the two in the middle."""
        results = self.of(domain, algorithm)
        return sorted(results, key=lambda one: one.qd_score)[(len(results) - 1) // 2]


def collect_results(results: Iterable[TrialResult], published: PublishedStudy) -> StudyResults:
    """Put the results of a study in order.

    Raises:
        InvalidValueError: there are none, a trial occurs more than once, or a QD score or time is not finite.
    """
    results = list(results)
    if not results:
        raise InvalidValueError("there are no results to report")
    seen = set()
    for one in results:
        name = f"trial {one.trial} of {one.algorithm} in {one.domain}"
        if one.key in seen:
            raise InvalidValueError(f"{name} occurs more than once")
        if not (math.isfinite(one.qd_score) and math.isfinite(one.seconds)):
            raise InvalidValueError(f"{name} must have a finite QD score and time")
        seen.add(one.key)
    domains = _in_order((one.domain for one in results), published.domains)
    algorithms = _in_order((one.algorithm for one in results), published.algorithms)
    results.sort(key=lambda one: (domains.index(one.domain), algorithms.index(one.algorithm), one.trial))
    return StudyResults(tuple(results), domains, algorithms, published)


def _in_order(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return every name once: known ones first, in their order."""
    unique = set(names)
    return (*(name for name in known if name in unique), *sorted(unique.difference(known)))
