"""Tables of the report: selectors, damages, targets, paired comparisons and simulated recoveries."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adapt.suite.cases import Track
from adapt.suite.metrics import Metric, Paired, Summary, metrics
from adapt.suite.results import Results, Scope
from adapt.suite.simulation import Simulated
from repertoire.suites.report import NOTHING, Bold, bold_if, format_p, table

SUBJECT = "rehearsed"  # the selector that is compared with the others


@dataclass(frozen=True)
class Target:
    """A number that the `rehearsed` selector should reach.

    Attributes:
        track: name of the track.
        metric: name of the metric.
        pilot: what map-based Bayesian optimisation with the constants of 2015 had in a pilot study, as text.
        best: what the best method of the pilot study had, as text.
        goal: the number to reach; None where it is what `rival` has in these results.
        rival: name of a selector.
        scope: which damages count.
    """

    track: str
    metric: str
    pilot: str
    best: str
    goal: float | None
    rival: str | None = None
    scope: Scope = "binding"


# Set before the benchmark on the hexapod was run
TARGETS = (
    Target("T2", "RR@3", "0.50", "0.92", 0.95),
    Target("T2", "RR@5", "0.70", "1.00", 0.99),
    Target("T2", "solved@5", "0.12", "0.92", 0.97),
    Target("T3", "RR@10", "0.84", "0.90", 0.93),
    Target("T3", "RR@20", "0.88", "0.94", 0.96),
    Target("T3", "T90", "26", "10", 7),
    Target("T3", "solved@20", "0.47", "0.67", 0.80),
    Target("T3", "CVaR10", "0.36", "0.55", 0.70),
    Target("T3-limb", "RR@10", "0.84", "0.75", None, rival="map-bo-tuned"),
    Target("T0", "RR@10", "0.84", "0.85", 0.90),
    Target("T0", "RR@20", "0.88", "0.90", 0.94),
    Target("T1", "mean RR@10", "0.61", "0.63", 0.80, scope="all"),
    Target("T1", "mean RR@20", "0.67", "0.72", 0.88, scope="all"),
    Target("T3", "falls@10", "1.6", "1.4", 0.7),
    Target("T3", "stop", "3", "-", 6, scope="all"),
    Target("T3", "RR@stop", "0.75", "-", 0.90, scope="all"),
)


def selectors_table(results: Results, track: Track, scope: Scope, names: Sequence[str]) -> str:
    """Metrics by name, as far as they are defined, of every selector in a track; the best of each is bold."""
    known = metrics(results.trials)
    chosen = [known[name] for name in names if name in known]
    found = {
        name: [_summary(results, track, name, metric, scope) for metric in chosen]
        for name in results.selectors
    }
    best = [_best([row[column] for row in found.values()], metric) for column, metric in enumerate(chosen)]
    rows = [
        (
            name,
            *(
                bold_if(summary is not None and summary.value == top, _summary_text(summary, metric))
                for summary, metric, top in zip(row, chosen, best, strict=True)
            ),
        )
        for name, row in found.items()
    ]
    caption = "Binding damages." if scope == "binding" else "All damages."
    return table((track.name, *(metric.name for metric in chosen)), rows, caption=caption)


def damages_table(results: Results, *, gap: bool, after: int) -> str:
    """The headroom of each damage of a case set, and the mean ratio of each selector after some trials."""
    case_set, found = results.setting.case_sets[gap], results.across(gap)
    last = next((one for one in reversed(found) if one.selector == SUBJECT), found[-1])
    rows = []
    for index, case in enumerate(case_set.cases):
        ratios = [one.runs.ratios[index, :, after - 1].mean() for one in found]
        retention = float(np.median(case.score(last.runs.recommended[index, :, -1]))) / case.intact_score
        numbers = (case.headroom, case_set.unadapted[index], *ratios, retention)
        binding = "yes" if case_set.binding[index] else "no"
        rows.append((case.damage, binding, *(_number(value, 2) for value in numbers)))
    columns = ("headroom", "RR_0", *(f"{one.label} RR@{after}" for one in found))
    name = "damage across the reality gap" if gap else "damage"
    return table((name, "binding", *columns, f"retention of {last.label}"), rows, text_columns=2)


def targets_table(results: Results, targets: Sequence[Target]) -> str:
    """Targets next to what `rehearsed` reached, as far as there are results for them."""
    known, tracks = metrics(results.trials), {track.name: track for track in results.tracks}
    rows = [
        _target_row(results, tracks[target.track], known[target.metric], target)
        for target in targets
        if target.track in tracks and target.metric in known
    ]
    header = ("quantity", "map-bo 2015 in the pilot", "best in the pilot", "target", "here", "reached")
    return table(header, rows)


def is_reached(value: float, goal: float, metric: Metric) -> bool:
    """Whether a value is as good as a goal, both rounded to the decimals that are printed."""
    value, goal = round(value, metric.decimals), round(goal, metric.decimals)
    return value >= goal if metric.higher else value <= goal


def paired_table(track: Track, metric: Metric, pairs: Sequence[Paired]) -> str:
    """How `rehearsed` compares with each rival over the damages of a track."""
    rows = [
        (
            pair.rival,
            f"{pair.difference.mean:+.3f} [{pair.difference.low:+.3f}, {pair.difference.high:+.3f}]",
            _number(pair.hedges_g, 2),
            _number(pair.rank_biserial, 2),
            f"{pair.better:.0%}",
            bold_if(pair.p <= 0.05, format_p(pair.p)),
        )
        for pair in pairs
    ]
    columns = ("difference", "Hedges' g", "rank-biserial", "damages in favour", "p")
    return table((f"{track.name}, {metric.name}", *columns), rows)


def simulated_table(simulated: Sequence[Simulated]) -> str:
    """Simulated recoveries next to replays, and their means for each selector."""
    numbers = {
        (one.selector, one.damage): (one.trials, one.replayed_trials, one.ratio, one.replayed_ratio)
        for one in simulated
    }
    for name in dict.fromkeys(one.selector for one in simulated):
        own = [values for (selector, _), values in numbers.items() if selector == name]
        numbers[name, "mean of these"] = tuple(np.mean(own, axis=0))
    rows = [
        (selector, damage, *(f"{value:.{n}f}" for value, n in zip(values, (1, 1, 2, 2), strict=True)))
        for (selector, damage), values in numbers.items()
    ]
    header = ("selector", "damage", "trials", "replayed", "RR at the stop", "replayed")
    return table(header, rows, text_columns=2)


def _summary(results: Results, track: Track, selector: str, metric: Metric, scope: Scope) -> Summary | None:
    """A metric of a selector in a track; None if there is nothing to summarise."""
    runs = results.select(track, selector, scope)
    return metric.of(runs) if runs is not None else None


def _best(summaries: Sequence[Summary | None], metric: Metric) -> float | None:
    """The best value of a metric; None where there is none, or all are the same."""
    values = {one.value for one in summaries if one is not None and math.isfinite(one.value)}
    if not metric.ranked or len(values) < 2:
        return None
    return max(values) if metric.higher else min(values)


def _target_row(results: Results, track: Track, metric: Metric, target: Target) -> tuple[str, ...]:
    """A target, and what was reached."""
    found = _summary(results, track, SUBJECT, metric, target.scope)
    goal, sense = target.goal, "at least" if metric.higher else "at most"
    words = f"{sense} {target.goal:g}" if target.goal is not None else NOTHING
    if target.rival is not None:
        rival = _summary(results, track, target.rival, metric, target.scope)
        goal = rival.value if rival else None
        words = f"{sense} {NOTHING if goal is None else _number(goal, metric.decimals)} ({target.rival})"
    verdict = NOTHING
    if found is not None and goal is not None:
        verdict = "yes" if is_reached(found.value, goal, metric) else "no"
    quantity = f"{target.track}, {target.metric}, {target.scope} damages"
    return quantity, target.pilot, target.best, words, Bold(_summary_text(found, metric)), verdict


def _summary_text(summary: Summary | None, metric: Metric) -> str:
    """A statistic with its interval, e.g. `0.93 [0.91, 0.95]`; a dash where there is none."""
    if summary is None:
        return NOTHING
    value, low, high = (_number(end, metric.decimals) for end in (summary.value, summary.low, summary.high))
    return f"{value} [{low}, {high}]"


def _number(value: float, decimals: int) -> str:
    """A number; a dash where it is not finite."""
    return f"{value:.{decimals}f}" if math.isfinite(value) else NOTHING
