"""`write_report`: every recovery in a CSV file, pictures, and a report in Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from adapt.oracle import FINAL_EPISODES, FINALISTS
from adapt.selectors.catalogue import find_selector
from adapt.suite.cases import Track
from adapt.suite.figures import draw_curves, draw_damages
from adapt.suite.metrics import compare_paired, metrics
from adapt.suite.reality_gap import FRICTION, LATENCY, MASS, STRENGTH
from adapt.suite.results import CaseSet, Results, SelectorRuns
from adapt.suite.simulation import Simulated
from adapt.suite.study import RecoveryStudy
from adapt.suite.tables import (
    SUBJECT,
    TARGETS,
    damages_table,
    paired_table,
    selectors_table,
    simulated_table,
    targets_table,
)
from repertoire.provenance import processor_name, software_versions
from repertoire.suites.report import bullets, heading, paragraph, picture, write_csv, write_document
from robots.files import make_folder

_RATIOS = ("RR@1", "RR@3", "RR@5", "RR@10", "RR@20", "AURC", "CVaR10")
_COUNTS = ("T90", "T95", "solved@5", "solved@10", "solved@20", "falls@10", "stop", "RR@stop")
_ALL = ("mean RR@1", "mean RR@3", "mean RR@5", "mean RR@10", "mean RR@20", "falls@10", "stop", "RR@stop")
_TESTED = ("RR@5", "RR@10", "RR@20")
_TARGETED = "hexapod"
_SHOWN_TRIALS = 10  # after which damages are compared

_TARGETS = (
    f"What {SUBJECT} should reach. The values of the pilot study are from another repertoire, and from the "
    "same damages that its methods were tuned on."
)
_TRACKS = (
    "All selectors get the same repertoire, number of trials and trial noise. Tracks differ in the library "
    "of rehearsed damages, which only some methods use; the other methods have the same results in all "
    "tracks with the same robot."
)
_PAIRED = (
    "The unit is a damage, and its value the mean over seeds; all damages count. The columns are: the mean "
    f"difference of {SUBJECT} and the rival, with Student's 95% interval; Hedges' g of the paired "
    "differences; the matched-pairs rank-biserial correlation; the share of damages in which it is better, "
    "ties counted as half; and p of the Wilcoxon signed-rank test, adjusted for the number of rivals (Holm)."
)
_SIMULATED = (
    "The same recoveries on the simulated robot, trial by trial and up to the method's own stop, next to the "
    "mean of the replays from the same damage. A simulated recovery begins with the incumbent, and the only "
    "noise of its trials is the variation between episodes."
)
_DEFINITIONS = (
    "Oracle: the controller of the repertoire that does best on the damaged robot. It is found by running "
    "all controllers, and then the most promising ones again; its score comes from other episodes.",
    "Recovery ratio, RR@t: the true score of the controller recommended after t trials as a share of the "
    "oracle's, from 0 to 1. It comes from episodes that no selector saw, never from what a trial measured.",
    "RR_0: the recovery ratio without adaptation, of the controller that the intact robot uses. A damage is "
    "binding if RR_0 is below 0.9. Tables are of binding damages unless they say otherwise.",
    "T90, T95: the first trial with an RR of at least 0.9 or 0.95; the median over all recoveries, or - if "
    "half of them never reach it. solved@t: the share of recoveries with an RR@t of at least 0.9.",
    "AURC: the mean of RR over all trials. CVaR10: the mean of the worst tenth of the last RR. falls@10: the "
    "number of falls in the first ten trials.",
    "stop, RR@stop: the number of trials after which the method would have stopped by its own rule, and the "
    "ratio there. All recoveries are continued to the last trial.",
    "Headroom: the oracle's score as a share of that of the intact robot's oracle, which the repertoire "
    "limits. Retention: the same share for the controller recommended last, which a user would notice.",
    "RR@t and AURC are interquartile means. Intervals are 95% bootstrap intervals over seeds within each "
    "damage.",
)


def write_report(
    results: Results,
    folder: Path,
    *,
    notes: Sequence[str],
    simulated: Sequence[Simulated] = (),
    videos: Sequence[str] = (),
) -> list[Path]:
    """Write `recoveries.csv`, pictures and `report.md` to a folder.

    Args:
        results: of the benchmark.
        folder: made if it is missing.
        notes: sentences on how it was run, see `study_notes`.
        simulated: recoveries on the simulated robot.
        videos: a line for each video.

    Returns:
        The files.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    make_folder(folder)
    csv, curves, report = (folder / name for name in ("recoveries.csv", "curves.png", "report.md"))
    damages = {gap: folder / ("damages-gap.png" if gap else "damages.png") for gap in results.gaps}
    _write_recoveries(csv, results)
    draw_curves(results, curves)
    for gap, path in damages.items():
        draw_damages(results, path, gap=gap, after=min(_SHOWN_TRIALS, results.trials))
    blocks = [
        heading(f"Recovery of the {results.robot}", 1),
        bullets(notes),
        *_targets(results),
        heading("Tracks"),
        paragraph(_TRACKS),
        bullets(_track_line(results, track) for track in results.tracks),
        picture(curves, "Recovery ratio over trials, binding damages: interquartile mean and its interval."),
        *(block for track in results.tracks for block in _track(results, track)),
        *_damages(results, list(damages.values())),
        *_paired(results),
        *([heading("Simulated recoveries"), paragraph(_SIMULATED)] if simulated else []),
        *([simulated_table(simulated)] if simulated else []),
        *([heading("Videos"), bullets(videos)] if videos else []),
        heading("Definitions"),
        bullets(_DEFINITIONS),
    ]
    write_document(report, blocks)
    return [csv, curves, *damages.values(), report]


def study_notes(study: RecoveryStudy) -> list[str]:
    """Sentences on how a study was run."""
    repertoire, settings, library = study.repertoire, study.settings, study.library
    known = sum(text in library.conditions for text in settings.texts)
    means = f"means over {_episodes(repertoire.spread.episodes)}" if repertoire.spread else "single episodes"
    versions = ", ".join(f"{name} {version}" for name, version in software_versions().items())
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
        f"{settings.noise.offset:g}, and with the variation between the gait's episodes.",
        f"Selectors: {'; '.join(f'{name}: {find_selector(name).summary}' for name in settings.selectors)}.",
    ]
    if settings.gap:
        notes.append(
            f"Reality gap: {settings.gaps} robots with masses ±{MASS:.0%}, friction ±{FRICTION:.0%}, motor "
            f"strength ±{STRENGTH:.0%} and {LATENCY} control step of latency; each has some of the damages."
        )
    return [*notes, f"Seed {settings.seed}. Computed on: {processor_name()}, with {versions}."]


def _episodes(count: int) -> str:
    """A number of episodes in words."""
    return "one episode" if count == 1 else f"{count} episodes"


def _targets(results: Results) -> Iterator[str]:
    """Targets and results; there are targets for one robot only."""
    if results.robot == _TARGETED and SUBJECT in results.selectors:
        yield heading("Targets")
        yield paragraph(_TARGETS)
        yield targets_table(results, TARGETS)


def _track_line(results: Results, track: Track) -> str:
    """A track in a line."""
    case_set = results.case_set(track)
    excluded = f"; excluded, because no controller scores above 0: {', '.join(case_set.excluded)}"
    return (
        f"{track.name}, {track.title}: {len(case_set.cases)} damages, {int(case_set.binding.sum())} of them "
        f"binding{excluded if case_set.excluded else ''}."
    )


def _track(results: Results, track: Track) -> Iterator[str]:
    """The tables of a track."""
    yield heading(f"{track.name}: {track.title}", 3)
    if results.case_set(track).binding.any():
        yield selectors_table(results, track, "binding", _RATIOS)
        yield selectors_table(results, track, "binding", _COUNTS)
    yield selectors_table(results, track, "all", _ALL)


def _damages(results: Results, pictures: Sequence[Path]) -> Iterator[str]:
    """Results for each damage."""
    yield heading("Damages")
    for gap, path in zip(results.gaps, pictures, strict=True):
        where = "Robots that differ from the rehearsed one. " if gap else ""
        yield picture(path, f"{where}Means over seeds; damages with the lowest RR_0 first.")
        yield damages_table(results, gap=gap, after=min(_SHOWN_TRIALS, results.trials))


def _paired(results: Results) -> Iterator[str]:
    """How `rehearsed` compares with each rival."""
    rivals = [name for name in results.selectors if name != SUBJECT]
    if SUBJECT not in results.selectors or not rivals:
        return
    yield heading(f"{SUBJECT} and each rival")
    yield paragraph(_PAIRED)
    known = metrics(results.trials)
    for track in results.tracks:
        for metric in (known[name] for name in _TESTED if name in known):
            own, *others = (
                metric.values(results.runs(track, name)).mean(axis=1) for name in (SUBJECT, *rivals)
            )
            yield paired_table(track, metric, compare_paired(own, dict(zip(rivals, others, strict=True))))


def _write_recoveries(path: Path, results: Results) -> None:
    """Write every recovery: its damage, the selector's own stop, falls, and the ratio after each trial.

    A selector without a library has the same recoveries in several tracks: they are written once, with all of
    these tracks.
    """
    ratios = [f"rr_{trial}" for trial in range(1, results.trials + 1)]
    header = ("track", "selector", "damage", "seed", "binding", "rr_0", "stop", "falls", *ratios)
    rows = [
        row
        for gap in results.gaps
        for one in results.across(gap)
        for row in _csv_rows(one, results.setting.case_sets[gap])
    ]
    write_csv(path, header, rows)


def _csv_rows(found: SelectorRuns, case_set: CaseSet) -> Iterator[tuple[object, ...]]:
    """A row for each recovery of a selector."""
    runs, tracks = found.runs, " ".join(track.name for track in found.tracks)
    for damage, seed in np.ndindex(runs.stops.shape):
        yield (
            tracks,
            found.selector,
            case_set.cases[damage].damage,
            seed,
            int(case_set.binding[damage]),
            f"{case_set.unadapted[damage]:.4f}",
            runs.stops[damage, seed],
            int(runs.falls[damage, seed].sum()),
            *(f"{ratio:.3f}" for ratio in runs.ratios[damage, seed]),
        )
