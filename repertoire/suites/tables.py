"""Tables of what was run, of the results next to the published means, of costs, and of the correction."""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from repertoire.statistics import mean_interval
from repertoire.suites.published import Metric
from repertoire.suites.report import NOTHING, bold_if, format_mean, format_number, table
from repertoire.suites.results import StudyResults

_CORRECTED = ("qd_score", "coverage", "best")


def trials_table(results: StudyResults) -> str:
    """Return how many trials there are of each algorithm in each domain, and of how many evaluations."""
    published = results.published
    algorithms = dict.fromkeys((*published.algorithms, *results.algorithms))
    domains = dict.fromkeys((*published.domains, *results.domains))
    return table(
        ("trials", *domains),
        [(name, *(_trials_cell(results, domain, name) for domain in domains)) for name in algorithms],
        caption=(
            f"The paper has {published.trials} trials of {published.evaluations:,} evaluations for each of "
            "its algorithms in each of its domains. Entries in bold differ from that."
        ),
    )


def results_table(results: StudyResults, domain: str) -> str:
    """Return the results in a domain: our mean and its 95% interval, followed by the published mean."""
    metrics = results.published.metrics
    best = {metric: _best(results, domain, metric) for metric in metrics}
    rows = []
    for name in results.algorithms_in(domain):
        row = [name]
        for metric in metrics:
            text = _describe(results.measured(domain, name, metric), metric.decimals)
            row += [bold_if(name in best[metric], text), _published_cell(results, domain, name, metric)]
        rows.append(row)
    header = [text for metric in metrics for text in (metric.label, results.published.label)]
    return table((domain, *header), rows)


def cost_table(results: StudyResults, domain: str) -> str:
    """Return how the time of a domain's trials was spent, and how much memory the search took."""
    names = results.algorithms_in(domain)
    reference = next((name for name in results.published.order if name in names), names[0])
    rows = [
        (
            name,
            *(
                _describe(1 / 60 * np.array(results.values(domain, name, field)), 2)
                for field in ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds")
            ),
            *_relative_times(results, domain, name, reference),
            format_number(2**-20 * fmean(results.values(domain, name, "search_bytes"))),
            format_number(fmean(results.values(domain, name, "restarts"))),
        )
        for name in names
    ]
    times = ("time [min]", "processor [min]", "search [min]", "evaluation [min]")
    relative = (f"time / {reference}", "paper")
    return table((domain, *times, *relative, "search memory [MiB]", "restarts"), rows)


def correction_table(results: StudyResults, domain: str) -> str:
    """Return metrics before the correction in a domain, and what the correction took away of them."""
    metrics = [metric for metric in results.published.metrics if metric.field in _CORRECTED]
    rows = []
    for name in results.algorithms_in(domain):
        row = [name]
        for metric in metrics:
            raw = metric.scale * np.array(results.values(domain, name, f"raw_{metric.field}"))
            loss = _loss(raw, results.measured(domain, name, metric))
            row += [_describe(raw, metric.decimals), loss]
        rows.append((*row, format_number(fmean(results.values(domain, name, "left_out")))))
    header = [text for metric in metrics for text in (metric.label, "lost [%]")]
    return table((domain, *header, "left out"), rows)


def agreements(results: StudyResults, metric: Metric) -> list[bool]:
    """Return whether each published mean that can be compared agrees with our trials."""
    return [
        agrees(results.measured(*key, metric), means[metric.field], decimals=metric.decimals)
        for key, means in results.published.means.items()
        if results.is_comparable(*key) and np.isfinite(results.measured(*key, metric)).all()
    ]


def agrees(values: Sequence[float] | np.ndarray, printed: float, *, decimals: int) -> bool:
    """Return whether some number that rounds to a printed mean lies within the range of our trials."""
    rounding = 0.5 * 10**-decimals
    return bool(min(values) <= printed + rounding and printed - rounding <= max(values))


def _trials_cell(results: StudyResults, domain: str, algorithm: str) -> str:
    """Return how many trials, and of how many evaluations unless these are the published ones."""
    published = results.published
    evaluations = sorted(set(results.values(domain, algorithm, "evaluations")))
    number = len(results.of(domain, algorithm))
    if not number:
        return bold_if((domain, algorithm) in published.means, "none")
    if evaluations == [published.evaluations]:
        return bold_if(number != published.trials, str(number))
    sizes = " to ".join(f"{size:,}" for size in dict.fromkeys((evaluations[0], evaluations[-1])))
    return bold_if(True, f"{number} ({sizes} evaluations)")


def _best(results: StudyResults, domain: str, metric: Metric) -> set[str]:
    """Return the algorithms with the best mean, to the digits that the paper prints."""
    means = {
        # what would be printed as zero is compared in full
        name: round(mean, metric.decimals) or mean
        for name in results.algorithms_in(domain)
        if math.isfinite(mean := float(results.measured(domain, name, metric).mean()))
    }
    if len(means) < 2:
        return set()
    top = min(means.values()) if metric.lowest_is_best else max(means.values())
    return {name for name, mean in means.items() if mean == top}


def _published_cell(results: StudyResults, domain: str, algorithm: str, metric: Metric) -> str:
    """Return the published mean, and how ours compares where it has as many evaluations."""
    printed = results.published.means.get((domain, algorithm), {}).get(metric.field)
    if printed is None:
        return NOTHING
    text, values = f"{printed:,.{metric.decimals}f}", results.measured(domain, algorithm, metric)
    if not results.is_comparable(domain, algorithm) or not np.isfinite(values).all():
        return text
    if not metric.judged:
        return f"{text} (x{format_number(float(values.mean() / printed))})"
    if agrees(values, printed, decimals=metric.decimals):
        return f"{text} (agrees)"
    percent = 100 * (float(np.mean(values) / printed) - 1)
    deviation = f"{percent:+.0f}%" if abs(percent) >= 10 else f"{percent:+#.2g}%"
    return bold_if(True, f"{text} ({deviation})")


def _relative_times(results: StudyResults, domain: str, algorithm: str, reference: str) -> tuple[str, str]:
    """Return processor time as a multiple of another algorithm's, here and in the paper."""
    here, other = (fmean(results.values(domain, name, "cpu_seconds")) for name in (algorithm, reference))
    printed = [
        results.published.means.get((domain, name), {}).get("cpu_seconds") for name in (algorithm, reference)
    ]
    there = format_number(printed[0] / printed[1]) if printed[0] and printed[1] else NOTHING
    return format_number(here / other), there


def _loss(raw: np.ndarray, corrected: np.ndarray) -> str:
    """Return the lost share of a mean [%]; a dash where the mean is not positive or not a number."""
    before, after = float(raw.mean()), float(corrected.mean())
    return f"{100 * (1 - after / before):.1f}" if before > 0 and np.isfinite(after) else NOTHING


def _describe(values: np.ndarray, decimals: int) -> str:
    """Return mean and interval; a dash where there is no number, as for the best of an empty archive."""
    return format_mean(mean_interval(values), decimals) if np.isfinite(values).all() else NOTHING
