"""Tables of the report: selectors in a track, damages, targets, and paired comparisons."""

from collections.abc import Sequence

import numpy as np

from adapt.suite.formats import NOTHING, format_summary, format_value
from adapt.suite.metrics import Metric, metrics
from adapt.suite.paired import Paired
from adapt.suite.results import Results
from adapt.suite.summaries import Summary
from adapt.suite.targets import Scope, Target
from adapt.suite.tracks import Track
from repertoire.suites.report import Bold, bold_if, format_p, table

SUBJECT = "rehearsed"  # what is compared with the rivals


def selectors_table(results: Results, track: Track, scope: Scope, names: Sequence[str], text: str) -> str:
    """Metrics of every selector in a track; the best of each is bold.

    Args:
        results: of the benchmark.
        track: that ran.
        scope: which damages count.
        names: of the metrics; those that are not defined for so few trials are left out.
        text: caption.
    """
    known = metrics(results.trials)
    chosen = [known[name] for name in names if name in known]
    found = {
        name: [results.summary(track, name, metric, scope) for metric in chosen]
        for name in results.selectors
        if (track.name, name) in results.runs
    }
    best = [_best([row[column] for row in found.values()], metric) for column, metric in enumerate(chosen)]
    rows = [
        (
            name,
            *(
                bold_if(summary is not None and summary.value == top, format_summary(summary, metric))
                for summary, metric, top in zip(row, chosen, best, strict=True)
            ),
        )
        for name, row in found.items()
    ]
    return table((track.name, *(metric.name for metric in chosen)), rows, caption=text)


def _best(summaries: Sequence[Summary | None], metric: Metric) -> float | None:
    """The best value of a metric; None where there is none, or all are the same."""
    values = {one.value for one in summaries if one is not None and np.isfinite(one.value)}
    if not metric.ranked or len(values) < 2:
        return None
    return max(values) if metric.higher else min(values)


def damages_table(results: Results, *, gap: bool, after: int) -> str:
    """What each damage of a world leaves, and what each contender makes of it.

    Args:
        results: of the benchmark.
        gap: which world's damages.
        after: trials, for the ratios.
    """
    world, contenders = results.worlds[gap], results.contenders(gap=gap)
    last = next((one for one in reversed(contenders) if one.selector == SUBJECT), contenders[-1])
    rows = []
    for index, case in enumerate(world.cases):
        ratios = [one.runs.ratios[index, :, after - 1].mean() for one in contenders]
        retention = float(np.median(case.height(last.runs.recommended[index, :, -1]))) / case.intact
        numbers = (case.headroom, world.unadapted[index], *ratios, retention)
        binding = "yes" if world.binding[index] else "no"
        rows.append((str(case.damage), binding, *(format_value(value, 2) for value in numbers)))
    columns = ("headroom", "RR_0", *(f"{one.label} RR@{after}" for one in contenders))
    name = "reality gap" if gap else "damage"
    return table((name, "binding", *columns, f"retention of {last.label}"), rows, text_columns=2)


def targets_table(results: Results, targets: Sequence[Target]) -> str:
    """What `rehearsed` was to reach, and what it reached."""
    tracks = {track.name: track for track in results.tracks}
    known = metrics(results.trials)
    rows = []
    for target in targets:
        if target.track not in tracks or target.metric not in known:
            continue
        track, metric = tracks[target.track], known[target.metric]
        found = results.summary(track, SUBJECT, metric, target.scope)
        goal = _goal(results, track, metric, target)
        met = found is not None and goal is not None and reached(found.value, goal, metric)
        rows.append(
            (
                f"{target.track}, {target.metric}, {target.scope} damages",
                target.pilot,
                target.best,
                _goal_words(goal, metric, target),
                Bold(format_summary(found, metric)),
                NOTHING if found is None or goal is None else "yes" if met else "no",
            )
        )
    header = ("quantity", "map-bo 2015 in the pilot", "best in the pilot", "target", "here", "met")
    return table(header, rows)


def reached(value: float, goal: float, metric: Metric) -> bool:
    """Whether a value is as good as a goal, to the digits that are shown."""
    shown, wanted = round(value, metric.decimals), round(goal, metric.decimals)
    return shown >= wanted if metric.higher else shown <= wanted


def _goal(results: Results, track: Track, metric: Metric, target: Target) -> float | None:
    """The number to reach; None if it is that of a rival that did not run."""
    if target.rival is None:
        return target.goal
    summary = results.summary(track, target.rival, metric, target.scope)
    return summary.value if summary else None


def _goal_words(goal: float | None, metric: Metric, target: Target) -> str:
    """A target in words."""
    number = NOTHING if goal is None else f"{goal:.{metric.decimals}f}"
    sense = "at least" if metric.higher else "at most"
    return f"{sense} {number} ({target.rival})" if target.rival else f"{sense} {target.goal:g}"


def paired_table(track: Track, metric: Metric, pairs: Sequence[Paired]) -> str:
    """How a selector compares with its rivals over the damages of a track."""
    rows = [
        (
            pair.rival,
            f"{pair.difference.mean:+.3f} [{pair.difference.low:+.3f}, {pair.difference.high:+.3f}]",
            format_value(pair.hedges_g, 2),
            format_value(pair.rank_biserial, 2),
            f"{pair.better:.0%}",
            bold_if(pair.p <= 0.05, format_p(pair.p)),
        )
        for pair in pairs
    ]
    header = (
        f"{track.name}, {metric.name}",
        "difference",
        "Hedges' g",
        "rank-biserial",
        "damages in favour",
        "p",
    )
    return table(header, rows)
