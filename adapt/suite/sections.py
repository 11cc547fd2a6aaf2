"""The report of a recovery benchmark as a document."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from adapt.suite import words
from adapt.suite.metrics import metrics
from adapt.suite.paired import compare_paired
from adapt.suite.results import Results
from adapt.suite.simulated import Simulated
from adapt.suite.tables import SUBJECT, damages_table, paired_table, selectors_table, targets_table
from adapt.suite.targets import TARGETS
from adapt.suite.tracks import Track
from repertoire.suites.report import bullets, heading, paragraph, picture, table

_RATIOS = ("RR@1", "RR@3", "RR@5", "RR@10", "RR@20", "AURC", "CVaR10")
_COUNTS = ("T90", "T95", "solved@5", "solved@10", "solved@20", "falls@10", "stop", "RR@stop")
_ALL = ("mean RR@1", "mean RR@3", "mean RR@5", "mean RR@10", "mean RR@20", "falls@10", "stop", "RR@stop")
_TESTED = ("RR@5", "RR@10", "RR@20")
TARGETED = "hexapod"


def sections(
    results: Results,
    *,
    title: str,
    notes: Sequence[str],
    curves: Path,
    damages: Sequence[Path],
    simulated: Sequence[Simulated] = (),
    videos: Sequence[str] = (),
) -> list[str]:
    """Return the report.

    Args:
        results: of the benchmark.
        title: of the report.
        notes: how it was run, one bullet each.
        curves: picture of the ratio over trials.
        damages: a picture for each world of the ratio of every damage.
        simulated: recoveries in the true simulation.
        videos: a line for each.
    """
    return [
        heading(title, 1),
        bullets(notes),
        *_targets(results),
        heading("Tracks"),
        paragraph(words.TRACKS),
        bullets(_track_words(results, track) for track in results.tracks),
        picture(curves, "Recovery ratio over trials, binding damages: interquartile mean and its interval."),
        *(block for track in results.tracks for block in _track(results, track)),
        *_damages(results, damages),
        *_paired(results),
        *_simulated(simulated),
        *([heading("Videos"), bullets(videos)] if videos else []),
        heading("Definitions"),
        bullets(words.DEFINITIONS),
    ]


def _targets(results: Results) -> Iterator[str]:
    """What was aimed at; the targets are of one robot."""
    if results.robot == TARGETED and SUBJECT in results.selectors:
        yield heading("Targets")
        yield paragraph(
            f"What {SUBJECT} was to reach. The pilot's figures are of another repertoire and of the same "
            "damages that its methods were tuned on."
        )
        yield targets_table(results, TARGETS)


def _track_words(results: Results, track: Track) -> str:
    """A track in a line."""
    world = results.world(track)
    hopeless = f"; left out, since no controller gets anywhere: {', '.join(world.hopeless)}"
    return (
        f"{track.name}, {track.title}: {len(world.cases)} damages, {int(world.binding.sum())} of them binding"
        f"{hopeless if world.hopeless else ''}."
    )


def _track(results: Results, track: Track) -> Iterator[str]:
    """The tables of a track."""
    yield heading(f"{track.name}: {track.title}", 3)
    if results.world(track).binding.any():
        yield selectors_table(results, track, "binding", _RATIOS, "Binding damages.")
        yield selectors_table(results, track, "binding", _COUNTS, "Binding damages.")
    yield selectors_table(results, track, "all", _ALL, "All damages.")


def _damages(results: Results, pictures: Sequence[Path]) -> Iterator[str]:
    """Damage by damage, in each world that ran."""
    after = min(10, results.trials)
    yield heading("Damages")
    for gap, path in zip(results.gaps, pictures, strict=True):
        where = "Robots that differ from the rehearsed one. " if gap else ""
        yield picture(path, f"{where}Mean over seeds; the hardest without adaptation first.")
        yield damages_table(results, gap=gap, after=after)


def _paired(results: Results) -> Iterator[str]:
    """How `rehearsed` compares with each rival."""
    rivals = [name for name in results.selectors if name != SUBJECT]
    if SUBJECT not in results.selectors or not rivals:
        return
    yield heading(f"{SUBJECT} and each rival")
    yield paragraph(words.PAIRED)
    known = metrics(results.trials)
    for track in results.tracks:
        for metric in (known[name] for name in _TESTED if name in known):
            values = {
                name: metric.values(results.runs[track.name, name]).mean(axis=1)
                for name in results.selectors
                if (track.name, name) in results.runs
            }
            own = values.pop(SUBJECT, None)
            if own is not None and values:
                yield paired_table(track, metric, compare_paired(own, values))


def _simulated(simulated: Sequence[Simulated]) -> Iterator[str]:
    """What the true simulation says of the replays."""
    if not simulated:
        return
    yield heading("In the true simulation")
    yield paragraph(words.SIMULATED)
    rows = [_simulated_row(one.selector, one.damage, _numbers(one)) for one in simulated]
    for name in dict.fromkeys(one.selector for one in simulated):
        numbers = np.mean([_numbers(one) for one in simulated if one.selector == name], axis=0)
        rows.append(_simulated_row(name, "mean of these", numbers))
    header = ("selector", "damage", "trials", "replayed", "RR at the stop", "replayed")
    yield table(header, rows, text_columns=2)


def _numbers(one: Simulated) -> tuple[float, ...]:
    """Trials and ratio, here and in the replays."""
    return one.trials, one.replayed_trials, one.ratio, one.replayed_ratio


def _simulated_row(selector: str, damage: str, numbers: Sequence[float]) -> tuple[str, ...]:
    """A row of the table of simulated recoveries."""
    texts = (f"{value:.{decimals}f}" for value, decimals in zip(numbers, (1, 1, 2, 2), strict=True))
    return selector, damage, *texts
