"""The report of a recovery benchmark: every recovery in a CSV, pictures, and Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from adapt.suite.figures import draw_curves, draw_damages
from adapt.suite.results import Contender, Results, World
from adapt.suite.sections import sections
from adapt.suite.simulated import Simulated
from repertoire.suites.report import write_csv, write_document
from robots.files import make_folder


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
        folder: is made if need be.
        notes: sentences on how it was run.
        simulated: recoveries in the true simulation.
        videos: a line for each.

    Returns:
        The files.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    make_folder(folder)
    title = f"Recovery of the {results.robot}"
    table, curves = folder / "recoveries.csv", folder / "curves.png"
    damages = {gap: folder / ("damages-gap.png" if gap else "damages.png") for gap in results.gaps}
    report = folder / "report.md"
    _write_recoveries(table, results)
    draw_curves(results, curves)
    for gap, path in damages.items():
        draw_damages(results, path, gap=gap, after=min(10, results.trials))
    blocks = sections(
        results,
        title=title,
        notes=notes,
        curves=curves,
        damages=list(damages.values()),
        simulated=simulated,
        videos=videos,
    )
    write_document(report, blocks)
    return [table, curves, *damages.values(), report]


def _write_recoveries(path: Path, results: Results) -> None:
    """Write every recovery: its damage, the selector's own stop, falls, and the ratio after each trial.

    A selector without a library has the same recoveries in several tracks: they occur once, with all of these
    tracks.
    """
    ratios = [f"rr_{trial}" for trial in range(1, results.trials + 1)]
    header = ("track", "selector", "damage", "seed", "binding", "rr_0", "stop", "falls", *ratios)
    rows = [
        row
        for gap in results.gaps
        for one in results.contenders(gap=gap)
        for row in _rows(one, results.worlds[gap])
    ]
    write_csv(path, header, rows)


def _rows(contender: Contender, world: World) -> Iterator[tuple[object, ...]]:
    """A row for each recovery of a selector."""
    runs, tracks = contender.runs, " ".join(track.name for track in contender.tracks)
    for damage, seed in np.ndindex(runs.stops.shape):
        yield (
            tracks,
            contender.selector,
            world.cases[damage].damage,
            seed,
            int(world.binding[damage]),
            f"{world.unadapted[damage]:.4f}",
            runs.stops[damage, seed],
            int(runs.falls[damage, seed].sum()),
            *(f"{ratio:.3f}" for ratio in runs.ratios[damage, seed]),
        )
