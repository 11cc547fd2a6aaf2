"""Tables of what was run, of what came out beside the paper's Table I, and of what it cost."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean as mean

import numpy as np

from repertoire.statistics import mean_interval
from repertoire.suites import paper
from repertoire.suites.agreement import agreement
from repertoire.suites.document import Cell, Table
from repertoire.suites.formats import NOTHING, format_mean, format_number
from repertoire.suites.trials import Trials

_MINUTES = 1 / 60


@dataclass(frozen=True)
class Metric:
    """A column of Table I.

    Attributes:
        label: with its unit.
        field: of `TrialResult`.
        printed: field of `PaperMeans`.
        scale: from the unit of the former to that of the latter.
        judged: whether agreement with the paper is judged; else the ratio to it is given.
        best: of several means.
    """

    label: str
    field: str
    printed: str
    scale: float = 1.0
    judged: bool = True
    best: Callable[..., float | None] = max

    @property
    def name(self) -> str:
        """The label without its unit."""
        return self.label.split(" [")[0]

    @property
    def decimals(self) -> int:
        """Those that the paper prints."""
        return paper.DECIMALS[self.printed]

    def values(self, trials: Trials, domain: str, algorithm: str) -> np.ndarray:
        """Of each trial, in the paper's unit."""
        return self.scale * np.array(trials.values(domain, algorithm, self.field), float)


JUDGED = (
    Metric("QD score [10⁶]", "qd_score", "qd_score", 1e-6),
    Metric("coverage", "coverage", "coverage"),
    Metric("best", "best", "best"),
)
# Hardware differs, so that there is nothing to judge
TIME = Metric("time [min]", "cpu_seconds", "time", _MINUTES, judged=False, best=min)


def trials_table(trials: Trials) -> Table:
    """How many trials there are of each algorithm in each domain, and of how many evaluations."""
    algorithms = (*paper.ALGORITHMS, *(name for name in trials.algorithms if name not in paper.ALGORITHMS))
    domains = (*paper.DOMAINS, *(name for name in trials.domains if name not in paper.DOMAINS))
    return Table(
        ("trials", *domains),
        tuple(
            (Cell(algorithm), *(_count(trials, domain, algorithm) for domain in domains))
            for algorithm in algorithms
        ),
        caption=(
            f"The paper has {paper.TRIALS} trials of {paper.EVALUATIONS:,} evaluations for each of its "
            "algorithms in each of its domains. Bold: not as there."
        ),
    )


def results_table(trials: Trials, domain: str) -> Table:
    """Table I for one domain: our mean and its 95% interval, and beside it the paper's mean."""
    metrics = (*JUDGED, TIME)
    best = {metric: _best(trials, domain, metric) for metric in metrics}
    rows = []
    for name in trials.algorithms_in(domain):
        row = [Cell(name)]
        for metric in metrics:
            text = _mean(metric.values(trials, domain, name), metric.decimals)
            row += [Cell(text, strong=name in best[metric]), _beside(trials, domain, name, metric)]
        rows.append(tuple(row))
    header = [text for metric in metrics for text in (metric.label, "paper")]
    return Table((domain, *header), tuple(rows))


def cost_table(trials: Trials, domain: str) -> Table:
    """Where the time of a domain's trials went, and what memory the search took."""
    names = trials.algorithms_in(domain)
    reference = next((name for name in paper.ORDER if name in names), names[0])
    times = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds")
    rows = [
        (
            name,
            *(
                _mean(_MINUTES * np.array(trials.values(domain, name, field)), TIME.decimals)
                for field in times
            ),
            *_relative(trials, domain, name, reference),
            format_number(2**-20 * mean(trials.values(domain, name, "search_bytes"))),
            format_number(mean(trials.values(domain, name, "restarts"))),
        )
        for name in names
    ]
    header = ("time [min]", "processor [min]", "search [min]", "evaluation [min]")
    return Table(
        (domain, *header, f"time / {reference}", "paper", "search memory [MiB]", "restarts"),
        tuple(tuple(Cell(text) for text in row) for row in rows),
    )


def agreements(trials: Trials, metric: Metric) -> list[bool]:
    """Whether each mean of the paper that can be compared agrees."""
    return [
        agreement(
            metric.values(trials, *key), getattr(means, metric.printed), decimals=metric.decimals
        ).agrees
        for key, means in paper.MEANS.items()
        if trials.comparable(*key) and np.isfinite(metric.values(trials, *key)).all()
    ]


def _count(trials: Trials, domain: str, algorithm: str) -> Cell:
    """How many trials, and of how many evaluations unless these are the paper's."""
    evaluations = sorted(set(trials.values(domain, algorithm, "evaluations")))
    number = len(trials.of(domain, algorithm))
    if not number:
        return Cell("none", strong=(domain, algorithm) in paper.MEANS)
    if evaluations == [paper.EVALUATIONS]:
        return Cell(str(number), strong=number != paper.TRIALS)
    sizes = " to ".join(f"{size:,}" for size in dict.fromkeys((evaluations[0], evaluations[-1])))
    return Cell(f"{number} ({sizes} evaluations)", strong=True)


def _mean(values: np.ndarray, decimals: int) -> str:
    """Mean and interval; nothing where there is no number, as for the best of an empty archive."""
    return format_mean(mean_interval(values), decimals) if np.isfinite(values).all() else NOTHING


def _best(trials: Trials, domain: str, metric: Metric) -> set[str]:
    """Of several algorithms the best by mean; as in the paper, all that look the same in its digits."""
    means = {
        # what would be printed as zero is compared in full
        name: round(mean, metric.decimals) or mean
        for name in trials.algorithms_in(domain)
        if math.isfinite(mean := float(metric.values(trials, domain, name).mean()))
    }
    top = metric.best(means.values(), default=None)
    return {name for name, mean in means.items() if mean == top} if len(means) > 1 else set()


def _beside(trials: Trials, domain: str, algorithm: str, metric: Metric) -> Cell:
    """The paper's mean, and what to make of it where it comes from as many evaluations."""
    if (domain, algorithm) not in paper.MEANS:
        return Cell(NOTHING)
    printed = getattr(paper.MEANS[domain, algorithm], metric.printed)
    text, values = f"{printed:.{metric.decimals}f}", metric.values(trials, domain, algorithm)
    if not trials.comparable(domain, algorithm) or not np.isfinite(values).all():
        return Cell(text)
    if not metric.judged:
        return Cell(f"{text} (x{format_number(float(values.mean() / printed))})")
    judged = agreement(values, printed, decimals=metric.decimals)
    return Cell(f"{text} ({judged})", strong=not judged.agrees)


def _relative(trials: Trials, domain: str, algorithm: str, reference: str) -> tuple[str, str]:
    """Time as a multiple of another algorithm's, here and in the paper."""
    here = TIME.values(trials, domain, algorithm).mean() / TIME.values(trials, domain, reference).mean()
    if not {(domain, algorithm), (domain, reference)} <= set(paper.MEANS):
        return format_number(here), NOTHING
    there = paper.MEANS[domain, algorithm].time / paper.MEANS[domain, reference].time
    return format_number(here), format_number(there)
