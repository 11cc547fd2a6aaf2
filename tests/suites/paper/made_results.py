"""Results of trials that never ran, with known means."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from suites.paper.analysis import Analysis
from suites.paper.published import published_study
from suites.paper.results import TrialResult

PAPER = published_study("optimization")
UNKNOWN = {"qd_score": 0.5, "coverage": 0.6, "best": 99.0, "cpu_seconds": 1.5}
# Of mean 0 and the same for every group, so that means are exact and variances equal
WIGGLE = (-1.0, 0.5, 0.0, -0.5, 1.0)
TRIALS = len(WIGGLE)


def make_result(domain: str, algorithm: str, trial: int, **changes: Any) -> TrialResult:
    """Return a result like the paper's mean plus a wiggle; 0.5 million for what the paper lacks."""
    means = PAPER.means.get((domain, algorithm), UNKNOWN)
    wiggle = WIGGLE[trial % TRIALS]
    seconds = 60 * means["cpu_seconds"] + 2 * wiggle
    evaluations = np.linspace(200, PAPER.evaluations, 50)
    qd_score = 1e6 * means["qd_score"] + 6000 * wiggle
    objectives = np.full(100, np.nan, np.float32)
    objectives[: round(100 * means["coverage"])] = means["best"]
    values: dict[str, Any] = {
        "seed": 100 + trial,
        "evaluations": PAPER.evaluations,
        "qd_score": qd_score,
        "coverage": means["coverage"] + 0.001 * wiggle,
        "best": means["best"] - 0.001 * abs(wiggle),
        "seconds": 1.01 * seconds,
        "cpu_seconds": seconds,
        "search_seconds": 0.6 * seconds,
        "evaluation_seconds": 0.3 * seconds,
        "saving_seconds": 0.0,
        "search_bytes": 3 * 2**20,
        "restarts": trial,
        "machine": "a processor",
        "versions": "surefoot 0.1.0",
        "threads": 1,
        "learning_rate": 0.001,
        "min_objective": 0.0,
        "steps": 0,
        "episode_steps": 0,
        "episodes": 0,
        "left_out": 0,
        "history": {
            "evaluations": evaluations,
            "qd_score": qd_score * (1 - np.exp(-evaluations / 4e5)) / (1 - np.exp(-5)),
            "cpu_seconds": seconds * evaluations / evaluations[-1],
        },
        "objectives": objectives.reshape(10, 10),
    }
    values |= changes
    raw = {f"raw_{name}": values[name] for name in ("qd_score", "coverage", "best")}
    return TrialResult(domain=domain, algorithm=algorithm, trial=trial, **(raw | values))


def make_results(domains, algorithms, trials=TRIALS, **changes):
    """Return every combination; `changes` are values of fields."""
    return [
        make_result(domain, algorithm, trial, **changes)
        for domain in domains
        for algorithm in algorithms
        for trial in range(trials)
    ]


def analyse(results: Iterable[TrialResult]) -> Analysis:
    """Put results next to those of the paper's benchmarks."""
    return Analysis(results, PAPER)


def cells(table: str) -> list[list[str]]:
    """Return the cells of a table in Markdown, a list per row; the header first."""
    rows = [line for line in table.splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip() for cell in row[1:-1].split(" | ")] for row in rows]


def row(text: str, first: str, start: str = "") -> list[str]:
    """Return the cells after the first of the row that begins with a text, in the table after another."""
    return next(found[1:] for found in cells(text[text.index(start) :]) if found[0] == first)
