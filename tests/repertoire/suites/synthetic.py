"""Results of trials that never ran, with known means."""

from collections.abc import Iterable, Sequence

import numpy as np

from repertoire.suites.published_optimization import OPTIMIZATION as PAPER
from repertoire.suites.result import TrialResult
from repertoire.suites.trials import Trials, collect_trials

TRIALS = 5
UNKNOWN = {"qd_score": 0.5, "coverage": 0.6, "best": 99.0, "cpu_seconds": 1.5}
# Of mean 0 and the same for every group, so that means are exact and variances equal
WIGGLE = (-1.0, 0.5, 0.0, -0.5, 1.0)


def make_result(domain: str, algorithm: str, trial: int, **changes: object) -> TrialResult:
    """A result as the paper's mean plus a wiggle would have it; of what it lacks, of 0.5 million."""
    means = PAPER.means.get((domain, algorithm), UNKNOWN)
    wiggle = WIGGLE[trial % TRIALS]
    seconds = 60 * means["cpu_seconds"] + 2 * wiggle
    evaluations = np.linspace(200, PAPER.evaluations, 50)
    qd_score = 1e6 * means["qd_score"] + 6000 * wiggle
    objectives = np.full(100, np.nan)
    objectives[: round(100 * means["coverage"])] = means["best"]
    values = {
        "evaluations": PAPER.evaluations,
        "qd_score": qd_score,
        "coverage": means["coverage"] + 0.001 * wiggle,
        "best": means["best"] - 0.001 * abs(wiggle),
        "seconds": 1.01 * seconds,
        "search_seconds": 0.6 * seconds,
        "evaluation_seconds": 0.3 * seconds,
        "cpu_seconds": seconds,
        "search_bytes": 3 * 2**20,
        "restarts": trial,
        "machine": "a processor",
        "history": {
            "evaluations": evaluations,
            "qd_score": qd_score * (1 - np.exp(-evaluations / 4e5)) / (1 - np.exp(-5)),
        },
        "objectives": objectives.reshape(10, 10),
    }
    return TrialResult(
        domain=domain, algorithm=algorithm, trial=trial, seed=100 + trial, **(values | changes)
    )


def make_results(
    domains: Sequence[str], algorithms: Sequence[str], trials: int = TRIALS, **changes: object
) -> list[TrialResult]:
    """Every combination; `changes` are values of fields."""
    return [
        make_result(domain, algorithm, trial, **changes)
        for domain in domains
        for algorithm in algorithms
        for trial in range(trials)
    ]


def collect(results: Iterable[TrialResult]) -> Trials:
    """Put results beside the paper's."""
    return collect_trials(results, PAPER)
