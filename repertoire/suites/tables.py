"""Tables of what was run, of what came out beside the published means, and of what it cost."""

import math
from statistics import fmean as mean

import numpy as np

from repertoire.statistics import mean_interval
from repertoire.suites.agreement import agreement
from repertoire.suites.document import Cell, Table
from repertoire.suites.formats import NOTHING, format_mean, format_number
from repertoire.suites.published import Metric
from repertoire.suites.trials import Trials

_MINUTES = 1 / 60
_TIME_DECIMALS = 2


def trials_table(trials: Trials) -> Table:
    """How many trials there are of each algorithm in each domain, and of how many evaluations."""
    published = trials.published
    algorithms = dict.fromkeys((*published.algorithms, *trials.algorithms))
    domains = dict.fromkeys((*published.domains, *trials.domains))
    return Table(
        ("trials", *domains),
        tuple(
            (Cell(algorithm), *(_count(trials, domain, algorithm) for domain in domains))
            for algorithm in algorithms
        ),
        caption=(
            f"The paper has {published.trials} trials of {published.evaluations:,} evaluations for each of "
            "its algorithms in each of its domains. Bold: not as there."
        ),
    )


def results_table(trials: Trials, domain: str) -> Table:
    """The results in a domain: our mean and its 95% interval, and beside it the published mean."""
    metrics = trials.published.metrics
    best = {metric: _best(trials, domain, metric) for metric in metrics}
    rows = []
    for name in trials.algorithms_in(domain):
        row = [Cell(name)]
        for metric in metrics:
            text = describe(trials.measured(domain, name, metric), metric.decimals)
            row += [Cell(text, strong=name in best[metric]), _beside(trials, domain, name, metric)]
        rows.append(tuple(row))
    header = [text for metric in metrics for text in (metric.label, trials.published.label)]
    return Table((domain, *header), tuple(rows))


def cost_table(trials: Trials, domain: str) -> Table:
    """Where the time of a domain's trials went, and what memory the search took."""
    names = trials.algorithms_in(domain)
    reference = next((name for name in trials.published.order if name in names), names[0])
    times = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds")
    rows = [
        (
            name,
            *(
                describe(_MINUTES * np.array(trials.values(domain, name, field)), _TIME_DECIMALS)
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
    """Whether each published mean that can be compared agrees."""
    return [
        agreement(trials.measured(*key, metric), means[metric.field], decimals=metric.decimals).agrees
        for key, means in trials.published.means.items()
        if trials.comparable(*key) and np.isfinite(trials.measured(*key, metric)).all()
    ]


def describe(values: np.ndarray, decimals: int) -> str:
    """Mean and interval; nothing where there is no number, as for the best of an empty archive."""
    return format_mean(mean_interval(values), decimals) if np.isfinite(values).all() else NOTHING


def _count(trials: Trials, domain: str, algorithm: str) -> Cell:
    """How many trials, and of how many evaluations unless these are the published ones."""
    published = trials.published
    evaluations = sorted(set(trials.values(domain, algorithm, "evaluations")))
    number = len(trials.of(domain, algorithm))
    if not number:
        return Cell("none", strong=(domain, algorithm) in published.means)
    if evaluations == [published.evaluations]:
        return Cell(str(number), strong=number != published.trials)
    sizes = " to ".join(f"{size:,}" for size in dict.fromkeys((evaluations[0], evaluations[-1])))
    return Cell(f"{number} ({sizes} evaluations)", strong=True)


def _best(trials: Trials, domain: str, metric: Metric) -> set[str]:
    """Of several algorithms the best by mean; as in the paper, all that look the same in its digits."""
    means = {
        # what would be printed as zero is compared in full
        name: round(mean, metric.decimals) or mean
        for name in trials.algorithms_in(domain)
        if math.isfinite(mean := float(trials.measured(domain, name, metric).mean()))
    }
    top = metric.best(means.values(), default=None)
    return {name for name, mean in means.items() if mean == top} if len(means) > 1 else set()


def _beside(trials: Trials, domain: str, algorithm: str, metric: Metric) -> Cell:
    """The published mean, and what to make of it where it comes from as many evaluations."""
    printed = trials.published.means.get((domain, algorithm), {}).get(metric.field)
    if printed is None:
        return Cell(NOTHING)
    text, values = f"{printed:,.{metric.decimals}f}", trials.measured(domain, algorithm, metric)
    if not trials.comparable(domain, algorithm) or not np.isfinite(values).all():
        return Cell(text)
    if not metric.judged:
        return Cell(f"{text} (x{format_number(float(values.mean() / printed))})")
    judged = agreement(values, printed, decimals=metric.decimals)
    return Cell(f"{text} ({judged})", strong=not judged.agrees)


def _relative(trials: Trials, domain: str, algorithm: str, reference: str) -> tuple[str, str]:
    """Processor time as a multiple of another algorithm's, here and in the paper."""
    here, other = (mean(trials.values(domain, name, "cpu_seconds")) for name in (algorithm, reference))
    printed = [
        trials.published.means.get((domain, name), {}).get("cpu_seconds") for name in (algorithm, reference)
    ]
    there = format_number(printed[0] / printed[1]) if printed[0] and printed[1] else NOTHING
    return format_number(here / other), there
