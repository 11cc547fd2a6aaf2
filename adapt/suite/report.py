"""The report of a recovery benchmark: every recovery in a CSV, pictures, Markdown and HTML."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from adapt.suite.figures import draw_curves, draw_damages
from adapt.suite.results import Contender, Results, World
from adapt.suite.sections import sections
from adapt.suite.simulated import Simulated
from repertoire.suites.document import to_html, to_markdown
from robots.files import make_folder, write_text


def write_report(
    results: Results,
    folder: Path,
    *,
    notes: Sequence[str],
    simulated: Sequence[Simulated] = (),
    videos: Sequence[str] = (),
) -> list[Path]:
    """Write `recoveries.csv`, pictures, `report.md` and `report.html` to a folder.

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
    markdown, page = folder / "report.md", folder / "report.html"
    write_text(table, recoveries_csv(results))
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
    write_text(markdown, to_markdown(blocks))
    write_text(page, to_html(blocks, title=title))
    return [table, curves, *damages.values(), markdown, page]


def recoveries_csv(results: Results) -> str:
    """Every recovery: its damage, the selector's own stop, falls, and the ratio after each trial.

    A selector without a library has the same recoveries in several tracks: they stand here once, with all of
    these tracks.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ratios = [f"rr_{trial}" for trial in range(1, results.trials + 1)]
    writer.writerow(("track", "selector", "damage", "seed", "binding", "rr_0", "stop", "falls", *ratios))
    for gap in results.gaps:
        for one in results.contenders(gap=gap):
            writer.writerows(_rows(one, results.worlds[gap]))
    return text.getvalue()


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
