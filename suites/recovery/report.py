"""`write_report`: every recovery in a CSV file, a picture, and a report in Markdown."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from repertoire.execution.running import processor_name, software_versions
from robots.randomization import GAP
from robots.rendering.figures import PLAIN, save_figure
from robots.words import version_words
from suites.figures import draw_curve, finish, panels
from suites.markdown import (
    NOTHING,
    bold_if,
    bullets,
    fill,
    format_p,
    heading,
    join,
    picture,
    save_report,
    table,
)
from suites.recovery.metrics import RecoveryMetric, compare_paired, interquartile_mean, marks_of, metrics
from suites.recovery.results import Results
from suites.recovery.tracks import Track

_TESTED = (5, 10, 20)  # numbers of trials after which selectors are compared in pairs
_ENOUGH = 5  # recoveries from each damage, of which a bootstrap can draw enough different samples
_MARGIN = 0.04  # above the highest curve
_TEMPLATE = Path(__file__).with_name("report.md")


def write_report(results: Results, folder: Path, *, notes: Sequence[str]) -> list[Path]:
    """Write `recoveries.csv`, `faults.csv`, `curves.png` and `report.md` to a folder; returns the files.

    The report begins with notes on how the study was run; without recoveries there is no picture.
    """
    drawn, curves = _tracks_with_recoveries(results), folder / "curves.png"
    if drawn:
        _draw_curves(results, drawn, curves)
    tables = {"faults": results.faults, "recoveries": results.recoveries}
    *csvs, report = save_report(folder, report_text(results, notes), **tables)
    return [*csvs, *([curves] if drawn else []), report]


def report_text(results: Results, notes: Sequence[str]) -> str:
    """`report.md` of a study."""
    tracks = _tracks_with_recoveries(results)
    caption = "Recovery ratio over trials, binding damages: interquartile mean and its interval."
    paired = join(_paired(results, track) for track in tracks)
    return fill(
        _TEMPLATE,
        {
            "robot": results.robot,
            "notes": bullets([*notes, *_remarks(results)]),
            "tracks": bullets(_track_line(results, track) for track in results.tracks),
            "curves": picture("curves.png", caption) if tracks else "",
            "tables": join(block for track in tracks for block in _track(results, track)),
            "damages": join(_damages(results, track) for track in tracks),
            "subject": results.subject if paired else "",
            "paired": paired,
        },
    )


def _tracks_with_recoveries(results: Results) -> list[Track]:
    if results.recoveries.empty:
        return []
    return [track for track in results.tracks if len(results.of(track))]


def _remarks(results: Results) -> Iterator[str]:
    recoveries = results.recoveries
    if len(recoveries):
        last = recoveries[f"rr_{results.trials}"]
        above = last[last > 1]
        if len(above):
            yield (
                f"In {len(above)} of {len(recoveries)} recoveries the last gait does better than the oracle "
                f"in the episodes that score both: ratios exceed 1 by {above.mean() - 1:.3f} as a mean and "
                f"{above.max() - 1:.3f} at most."
            )
        if 1 < recoveries["seed"].nunique() < _ENOUGH:
            yield f"Bootstrap intervals over fewer than {_ENOUGH} seeds are too narrow."
    if any(track.gap for track in results.tracks):
        yield f"Reality gap: each fault is on a robot of its own, one of {GAP.ranges}; its sensors are noisy."
    yield f"Reported on: {processor_name()}, with {version_words(software_versions())}."


def _track_line(results: Results, track: Track) -> str:
    faults = results.faults[results.faults["world"] == track.world]
    hopeless = ", ".join(faults.loc[faults["rr_0"].isna(), "damage"])
    counts = f"{len(faults)} damages, {faults['binding'].sum()} of them binding"
    excluded = f"; excluded, because the oracle scores nothing: {hopeless}" if hopeless else ""
    return f"{track.name}, {track.title}: {counts}{excluded}."


def _track(results: Results, track: Track) -> Iterator[str]:
    recoveries, known = results.of(track), metrics(results.trials)
    split = [*known].index("T90")
    yield heading(f"{track.name}: {track.title}", 3)
    for names in ([*known][:split], [*known][split:]):
        yield _selectors(recoveries, track, {name: known[name] for name in names})


def _selectors(recoveries: pd.DataFrame, track: Track, chosen: dict[str, RecoveryMetric]) -> str:
    """Metrics by name of every selector in a track; the best of each is bold."""
    rows: dict[str, list[str]] = {name: [] for name in recoveries["selector"].unique()}
    for metric in chosen.values():
        found = {str(name): metric.of(own) for name, own in recoveries.groupby("selector", sort=False)}
        values = {one.value for one in found.values() if math.isfinite(one.value)}
        best = max if metric.higher else min
        for name, one in found.items():
            leads = metric.higher is not None and len(values) > 1 and one.value == best(values)
            rows[name].append(bold_if(leads, one.text(metric.decimals)))
    return table((track.name, *chosen), [(name, *cells) for name, cells in rows.items()])


def _damages(results: Results, track: Track) -> str:
    """Each binding damage of a track, and the mean ratio of each selector after some trials."""
    recoveries = results.of(track)
    after = marks_of(min(10, results.trials))[-1]
    ratios = _mean_by_damage(recoveries, f"rr_{after}")
    known = recoveries.drop_duplicates("damage").set_index("damage")[["headroom", "rr_0"]]
    numbers = pd.concat([known, ratios], axis=1).sort_values("rr_0", kind="stable")
    rows = [
        (str(damage), *(f"{value:.2f}" if math.isfinite(value) else NOTHING for value in values))
        for damage, values in zip(numbers.index, numbers.to_numpy(), strict=True)
    ]
    return table((track.name, "headroom", "RR_0", *(f"{name} RR@{after}" for name in ratios.columns)), rows)


def _mean_by_damage(recoveries: pd.DataFrame, values: str) -> pd.DataFrame:
    """Means over seeds: a row for each damage, in their order, and a column for each selector."""
    return recoveries.pivot_table(values, index="damage", columns="selector", aggfunc="mean", sort=False)


def _paired(results: Results, track: Track) -> str:
    """How the first of the selectors compares with each rival over the damages of a track."""
    subject, recoveries, tables = results.subject, results.of(track), []
    selectors = recoveries["selector"].unique()
    if subject not in selectors or len(selectors) < 2 or recoveries["damage"].nunique() < 2:
        return ""
    for mark in (mark for mark in _TESTED if mark <= results.trials):
        rows = [
            (
                str(pair.Index),
                f"{pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}]",
                f"{pair.better:.0%}",
                bold_if(pair.p <= 0.05, format_p(pair.p)),
            )
            for pair in compare_paired(_mean_by_damage(recoveries, f"rr_{mark}"), subject).itertuples()
        ]
        columns = ("difference", "damages in favour", "p")
        tables.append(table((f"{track.name}, RR@{mark}", *columns), rows))
    return join(tables)


@PLAIN
def _draw_curves(results: Results, tracks: Sequence[Track], path: Path) -> None:
    """Draw the interquartile mean of the recovery ratio over trials with its interval, a panel per track."""
    figure, found = panels(len(tracks), (6.4, 3.6))
    for axes, track in zip(found, tracks, strict=True):
        _draw_track(axes, results, track)
    save_figure(figure, path)


def _draw_track(axes: Axes, results: Results, track: Track) -> None:
    trials, curves = np.arange(1, results.trials + 1), {}
    for name, runs in results.of(track).groupby("selector", sort=False):
        metrics = [RecoveryMetric(f"rr_{trial}", interquartile_mean) for trial in trials]
        curves[str(name)] = np.transpose([metric.of(runs) for metric in metrics])
    for name in sorted(curves, key=lambda name: -curves[name][0, -1]):
        label = f"{name} {curves[name][0, -1]:.2f}"
        draw_curve(axes, trials, curves[name], number=results.selectors.index(name), label=label)
    top = max([1.0, *(curve[0].max() for curve in curves.values())]) + _MARGIN
    axes.axhline(0.9, color="black", linewidth=0.8, linestyle=(0, (1, 3)))
    axes.set(xlabel="trials", ylabel="recovery ratio", ylim=(0, top))
    axes.set_xticks([1, *range(5, results.trials + 1, 5)])
    finish(axes, f"{track.name}: {track.title}", "in the end")
