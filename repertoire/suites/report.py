"""The report of a study: every trial in a CSV, two pictures, and tables and verdicts in Markdown and HTML."""

import csv
import io
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from repertoire.suites.document import Block, to_html, to_markdown
from repertoire.suites.figures import draw_archives, draw_curves
from repertoire.suites.sections import sections
from repertoire.suites.trials import Trials
from robots.files import make_folder, write_text


def write_report(
    trials: Trials,
    folder: Path,
    *,
    title: str,
    notes: Sequence[str] = (),
    extras: Sequence[Block] = (),
) -> list[Path]:
    """Write `trials.csv`, `curves.png`, `archives.png`, `report.md` and `report.html` to a folder.

    The same results give the same files, in whatever order they come. A study need not be complete, nor keep
    to the algorithms and domains of the paper: what is missing is said, what the paper lacks shows as "-".

    Args:
        trials: the results, beside what was published.
        folder: is made if need be.
        title: of the report.
        notes: sentences on how the study was run, such as the machine; one bullet each.
        extras: what this study has that others have not, after the results.

    Returns:
        The files, in the order above.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    make_folder(folder)
    names = ("trials.csv", "curves.png", "archives.png", "report.md", "report.html")
    table, curves, archives, markdown, page = paths = [folder / name for name in names]
    write_text(table, trials_csv(trials))
    draw_curves(trials, curves)
    draw_archives(trials, archives)
    blocks = sections(trials, title=title, notes=notes, curves=curves, archives=archives, extras=extras)
    write_text(markdown, to_markdown(blocks))
    write_text(page, to_html(blocks, title=title))
    return paths


def trials_csv(trials: Trials) -> str:
    """Every scalar of every trial, with a header; floats in full."""
    scalars = [field.name for field in fields(trials.results[0]) if field.type in (str, int, float)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(scalars)
    writer.writerows([getattr(one, name) for name in scalars] for one in trials.results)
    return text.getvalue()
