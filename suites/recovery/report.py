"""`write_report`: every recovery in a CSV file, pictures, and a report in Markdown."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import yaml

from adapt.oracle import FINAL_EPISODES, FINALISTS
from adapt.selectors.catalogue import find_selector
from repertoire.execution.provenance import processor_name, software_versions
from robots.files.atomic import make_folder, write_text
from robots.randomization import FRICTION, LATENCY, MASS, STRENGTH
from robots.words import version_words
from suites.markdown import (
    NOTHING,
    Bold,
    bold_if,
    bullets,
    format_p,
    heading,
    join,
    picture,
    table,
)
from suites.recovery.cases import Track
from suites.recovery.figures import draw_curves, draw_damages
from suites.recovery.metrics import Metric, Summary, compare_paired, metrics, trials_of
from suites.recovery.recoveries import Results
from suites.recovery.study import RecoveryStudy

SUBJECT = "rehearsed"  # the selector that is compared with the others
_RATIOS = ("RR@1", "RR@3", "RR@5", "RR@10", "RR@20", "AURC", "CVaR10")
_COUNTS = ("T90", "T95", "solved@5", "solved@10", "solved@20", "falls@10", "stop", "RR@stop")
_ALL = ("mean RR@1", "mean RR@3", "mean RR@5", "mean RR@10", "mean RR@20", "falls@10", "stop", "RR@stop")
_TESTED = ("RR@5", "RR@10", "RR@20")
_ENOUGH_SEEDS = 5  # of which a bootstrap can draw enough different samples
_SHOWN_TRIALS = 10  # after which damages are compared
_TEMPLATE = Path(__file__).with_name("report.md")


def write_report(
    results: Results,
    folder: Path,
    *,
    notes: Sequence[str],
    simulated: pd.DataFrame | None = None,
    videos: Sequence[str] = (),
) -> list[Path]:
    """Write `recoveries.csv`, pictures and `report.md` to a folder.

    Args:
        results: of the benchmark.
        folder: made if it is missing.
        notes: sentences on how it was run, see `study_notes`.
        simulated: see `simulate_recoveries`.
        videos: a line for each video.

    Returns:
        The files.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    make_folder(folder)
    csv, curves, report = (folder / name for name in ("recoveries.csv", "curves.png", "report.md"))
    damages = {gap: folder / ("damages-gap.png" if gap else "damages.png") for gap in results.gaps}
    write_text(csv, results.recoveries.to_csv(index=False, float_format="%.4f"))
    draw_curves(results, curves)
    blocks = {
        "robot": results.robot,
        "subject": SUBJECT,
        "notes": bullets(notes),
        "targets": _targets(results),
        "tracks": bullets(_track_line(results, track) for track in results.tracks),
        "curves": picture(
            curves, "Recovery ratio over trials, binding damages: interquartile mean and its interval."
        ),
        "tables": join(block for track in results.tracks for block in _track(results, track)),
        "damages": join(block for gap, path in damages.items() for block in _damages(results, gap, path)),
        "paired": _paired(results),
        "simulated": "" if simulated is None or simulated.empty else _simulated(simulated),
        "videos": bullets(videos),
    }
    sections = map(Template, re.split(r"^(?=## )", _TEMPLATE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    # a section is left out where something in it is empty
    full = (one for one in sections if all(blocks[name] for name in one.get_identifiers()))
    write_text(report, "".join(section.substitute(blocks) for section in full))
    return [csv, curves, *damages.values(), report]


def study_notes(study: RecoveryStudy) -> list[str]:
    """Sentences on how a study was run."""
    repertoire, settings, library = study.repertoire, study.settings, study.library
    known = sum(text in library.conditions for text in settings.texts)
    means = f"means over {_episodes(repertoire.spread.episodes)}" if repertoire.spread else "single episodes"
    notes = [
        f"Repertoire: {repertoire.robot.name}, {len(repertoire):,} gaits of "
        f"{repertoire.settings.algorithm} after {repertoire.evaluations:,} evaluations; "
        f"objectives are {means}.",
        f"Library: {len(library)} conditions, means over {_episodes(library.episodes)}. It holds "
        f"{known} of the benchmark's damages; the track decides which part of it selectors are given.",
        f"True outcomes: {len(settings.damages)} damages. Trials show means over "
        f"{_episodes(settings.episodes)} of every gait, and scores are means over as many others. The oracle "
        f"is the best of the {FINALISTS} gaits with the highest means of the former, by {FINAL_EPISODES} "
        "further episodes.",
        f"Recoveries: {settings.trials} trials, {settings.seeds} seeds for each damage. A trial measures the "
        f"gait's mean with normal noise of standard deviations {settings.noise.share:.0%} of it and "
        f"{settings.noise.offset:g}, and {_variation(settings.episodes)}.",
        *_few_seeds(settings.seeds),
        f"Selectors: {'; '.join(f'{name}: {find_selector(name).summary}' for name in settings.selectors)}.",
    ]
    if settings.gap:
        notes.append(
            f"Reality gap: {settings.gaps} robots with masses ±{MASS:.0%}, friction ±{FRICTION:.0%}, motor "
            f"strength ±{STRENGTH:.0%} and {LATENCY} control step of latency; each has some of the damages."
        )
    software = version_words(software_versions())
    return [*notes, f"Seed {settings.seed}. Computed on: {processor_name()}, with {software}."]


def _episodes(count: int) -> str:
    """A number of episodes in words."""
    return "one episode" if count == 1 else f"{count} episodes"


def _few_seeds(seeds: int) -> list[str]:
    """What so many seeds cannot tell."""
    if seeds >= _ENOUGH_SEEDS:
        return []
    return [f"Bootstrap intervals need {_ENOUGH_SEEDS} seeds: with {seeds} they are missing or too narrow."]


def _variation(episodes: int) -> str:
    """Whether a gait's episodes differ in the trials, in words."""
    if episodes == 1:
        return "without the variation between its episodes, which one episode does not show"
    return "with the variation between its episodes"


def _targets(results: Results) -> str:
    """Targets next to what was reached, as far as there are results for them; few robots have targets."""
    path = Path(__file__).with_name(f"{results.robot}-targets.yaml")
    if SUBJECT not in results.selectors or not path.is_file():
        return ""
    known, tracks = metrics(results.trials), {track.name: track for track in results.tracks}
    rows = [
        _target_row(results.of(tracks[target["track"]]), known[target["metric"]], target)
        for target in yaml.safe_load(path.read_text())
        if target["track"] in tracks and target["metric"] in known
    ]
    header = ("quantity", "map-bo 2015 in the pilot", "best in the pilot", "target", "here", "reached")
    return table(header, rows)


def _target_row(recoveries: pd.DataFrame, metric: Metric, target: dict[str, Any]) -> tuple[str, ...]:
    """A target, and what was reached in its track."""
    found = _summaries(recoveries, metric, target["scope"])
    here, sense = found.get(SUBJECT), "at least" if metric.higher else "at most"
    goal, words = target.get("goal"), f"{sense} {target.get('goal')}"
    if goal is None:
        rival = found.get(target["rival"])
        goal = rival.value if rival else None
        words = f"{sense} {_number(rival.value, metric.decimals) if rival else NOTHING} ({target['rival']})"
    reached = NOTHING
    if here is not None and goal is not None:
        reached = "yes" if is_reached(here.value, goal, metric) else "no"
    quantity = f"{target['track']}, {target['metric']}, {target['scope']} damages"
    return (
        quantity,
        target["pilot"],
        target["best"],
        words,
        Bold(here.text(metric.decimals) if here else NOTHING),
        reached,
    )


def is_reached(value: float, goal: float, metric: Metric) -> bool:
    """Whether a value is as good as a goal, both rounded to the decimals that are printed."""
    value, goal = round(value, metric.decimals), round(goal, metric.decimals)
    return value >= goal if metric.higher else value <= goal


def _track_line(results: Results, track: Track) -> str:
    """A track in a line."""
    damages = results.of(track).drop_duplicates("damage")
    names = ", ".join(results.excluded[track.gap])
    excluded = (
        f"; excluded, because the oracle's score, of which ratios are shares, is not above 0: {names}"
        if names
        else ""
    )
    return (
        f"{track.name}, {track.title}: {len(damages)} damages, {damages['binding'].sum()} of them "
        f"binding{excluded}."
    )


def _track(results: Results, track: Track) -> Iterator[str]:
    """The tables of a track."""
    yield heading(f"{track.name}: {track.title}", 3)
    recoveries = results.of(track)
    if recoveries["binding"].any():
        yield _selectors(recoveries, track, "binding", _RATIOS)
        yield _selectors(recoveries, track, "binding", _COUNTS)
    yield _selectors(recoveries, track, "all", _ALL)


def _selectors(recoveries: pd.DataFrame, track: Track, scope: str, names: Sequence[str]) -> str:
    """Metrics by name, as far as they are defined, of every selector in a track; the best of each is bold."""
    known = metrics(trials_of(recoveries))
    chosen = {name: known[name] for name in names if name in known}
    found = {name: _summaries(recoveries, metric, scope) for name, metric in chosen.items()}
    best = {name: _best(list(found[name].values()), metric) for name, metric in chosen.items()}
    rows = [
        (
            selector,
            *(
                bold_if(summary.value == best[name], summary.text(metric.decimals))
                for name, metric in chosen.items()
                for summary in [found[name][selector]]
            ),
        )
        for selector in recoveries["selector"].unique()
    ]
    caption = "Binding damages." if scope == "binding" else "All damages."
    return table((track.name, *chosen), rows, caption=caption)


def _summaries(recoveries: pd.DataFrame, metric: Metric, scope: str) -> dict[str, Summary]:
    """A metric of each selector's recoveries from binding or all damages."""
    chosen = recoveries[recoveries["binding"] == 1] if scope == "binding" else recoveries
    return {str(name): metric.of(own) for name, own in chosen.groupby("selector", sort=False)}


def _best(summaries: Sequence[Summary], metric: Metric) -> float | None:
    """The best value of a metric; None where there is none, or all are the same."""
    values = {one.value for one in summaries if math.isfinite(one.value)}
    if not metric.ranked or len(values) < 2:
        return None
    return max(values) if metric.higher else min(values)


def _damages(results: Results, gap: bool, path: Path) -> Iterator[str]:
    """Draw and list each damage, and the mean ratio of each selector after some trials."""
    after = min(_SHOWN_TRIALS, results.trials)
    found = results.across(gap)
    ratios = _mean_by_damage(found, f"rr_{after}", "label")
    damages = found.drop_duplicates("damage").set_index("damage")
    draw_damages(pd.concat([damages["rr_0"].rename("no adaptation"), ratios], axis=1), path, after=after)
    where = "Robots that differ from the rehearsed one. " if gap else ""
    yield picture(path, f"{where}Means over seeds; damages with the lowest RR_0 first.")
    own = found[found["selector"] == SUBJECT]["label"]
    last = (own if len(own) else found["label"]).iloc[-1]
    retention = found[found["label"] == last].groupby("damage", sort=False)["retention"].median()
    numbers = pd.concat([damages[["headroom", "rr_0"]], ratios, retention], axis=1)
    rows = [
        (str(damage), "yes" if damages["binding"][damage] else "no", *(_number(value) for value in values))
        for damage, values in zip(numbers.index, numbers.to_numpy(), strict=True)
    ]
    columns = ("headroom", "RR_0", *(f"{label} RR@{after}" for label in ratios.columns))
    name = "damage across the reality gap" if gap else "damage"
    yield table((name, "binding", *columns, f"retention of {last}"), rows, text_columns=2)


def _mean_by_damage(recoveries: pd.DataFrame, values: str, columns: str) -> pd.DataFrame:
    """Means over seeds: a row for each damage, in their order, and a column for each selector or label."""
    return recoveries.pivot_table(values, index="damage", columns=columns, aggfunc="mean", sort=False)


def _paired(results: Results) -> str:
    """How `rehearsed` compares with each rival over the damages of each track."""
    tables: list[str] = []
    if SUBJECT not in results.selectors or len(results.selectors) < 2:
        return ""
    for track in results.tracks:
        for metric in (name for name in _TESTED if name in metrics(results.trials)):
            values = _mean_by_damage(results.of(track), metric, "selector")
            rows = [
                (
                    str(pair.Index),
                    f"{pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}]",
                    _number(pair.hedges_g),
                    _number(pair.rank_biserial),
                    f"{pair.better:.0%}",
                    bold_if(pair.p <= 0.05, format_p(pair.p)),
                )
                for pair in compare_paired(values, SUBJECT).itertuples()
            ]
            columns = ("difference", "Hedges' g", "rank-biserial", "damages in favour", "p")
            tables.append(table((f"{track.name}, {metric}", *columns), rows))
    return join(tables)


def _simulated(simulated: pd.DataFrame) -> str:
    """Simulated recoveries next to replays, and their means for each selector."""
    means = simulated.groupby("selector", sort=False).mean(numeric_only=True).reset_index()
    rows = [
        (
            one.selector,
            one.damage,
            *(f"{value:.1f}" for value in (one.trials, one.replayed_trials)),
            *(f"{value:.2f}" for value in (one.ratio, one.replayed_ratio)),
        )
        for one in pd.concat([simulated, means.assign(damage="mean of these")]).itertuples()
    ]
    header = ("selector", "damage", "trials", "replayed", "RR at the stop", "replayed")
    return table(header, rows, text_columns=2)


def _number(value: float, decimals: int = 2) -> str:
    """A number; a dash where it is not finite."""
    return f"{value:.{decimals}f}" if math.isfinite(value) else NOTHING
