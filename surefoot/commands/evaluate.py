"""`surefoot evaluate`."""

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapt.requests import CorrectionRequest
from robots.words import short
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    check_different,
    cluster_options,
    console,
    exits_when_stopped,
    randomization_option,
    threads_option,
)
from surefoot.commands.options import request_options
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from repertoire.evaluation.correction import Correction
    from robots.simulation.backend import Backend

# of each metric: name, how it is written, and whether it is an amount, of which a share can be lost
_METRICS = {
    "elites": ("elites", "{:d}".format, True),
    "coverage": ("coverage", "{:.1%}".format, True),
    "qd_score": ("QD score", "{:,.1f}".format, True),
    "best": ("best", short, False),
    "mean": ("mean", short, False),
}
_SPREADS = {"objective std": short, "measure std": "{:.3f}".format, "reproducibility": "{:.1%}".format}


@click.command()
@click.argument("file", type=RepertoireFile)
@request_options(CorrectionRequest, randomization=randomization_option)
@click.option(
    "--out", type=AnyPath, help="File for the corrected repertoire.  [default: FILE with -corrected added]"
)
@click.option("--picture", type=AnyPath, help="Draw the repertoire before and after to this PNG.")
@threads_option
@cluster_options
@click.option(
    "--overwrite", is_flag=True, help="Replace the output file, and what another evaluation left unfinished."
)
def evaluate(
    file: Path,
    request: CorrectionRequest,
    out: Path | None,
    picture: Path | None,
    threads: "int | Backend | None",
    overwrite: bool,
) -> None:
    """Evaluate every gait of the repertoire FILE again in fresh episodes, and correct the repertoire.

    The episodes have the same seeds for all gaits. After an interruption the same command goes on where it
    was. With --randomization, it keeps the gaits that do well on average over models of the robot.
    """
    import surefoot
    from repertoire.plots import draw_correction
    from robots.rendering.pictures import check_picture

    out = out or result_files(file).corrected
    check_different(out, picture)
    check_different(file, picture)
    if picture is not None:
        check_picture(picture)
    with exits_when_stopped():
        correction = surefoot.evaluate(
            file, **dict(request), out=out, overwrite=overwrite, threads=threads, progress=True
        )
    _print_metrics(correction)
    _print_spread(correction)
    if request.keep is not None:
        m = correction.repertoire.metrics
        console.print(
            f"kept the best {m.elites:,} of {correction.after.elites:,} gaits: "
            f"coverage {m.coverage:.1%}, QD score {m.qd_score:,.1f}"
        )
    console.print(f"saved {out}")
    if picture is not None:
        draw_correction(surefoot.load(file), correction.repertoire, picture)
        console.print(f"drawn to {picture}")


def _print_metrics(correction: "Correction") -> None:
    """A table of the metrics before and after, and what was lost."""
    before, after, losses = asdict(correction.before), asdict(correction.after), correction.losses
    _print_row("", "before", "corrected", "loss")
    for field, (name, write, is_amount) in _METRICS.items():
        share = losses[field] / before[field] if is_amount and before[field] > 0 else math.nan
        values = (_or_dash(value, write) for value in (before[field], after[field], losses[field]))
        _print_row(name, *values, "" if math.isnan(share) else f"{share:.1%}")
    if correction.left_out:
        console.print(f"gaits left out because the simulation diverged in an episode: {correction.left_out}")


def _print_spread(correction: "Correction") -> None:
    """How much the episodes of each original gait differ."""
    _print_row("", "median", "worst 10%")
    for name, summary in correction.spread.summaries().items():
        _print_row(name, *(_or_dash(value, _SPREADS[name]) for value in summary))
    console.print(
        "reproducibility: share of the episodes whose measures lie in the cell that the gait was found for"
    )


def _print_row(name: str, *columns: str) -> None:
    """A line of a table."""
    console.print(f"{name:<16}{''.join(f'{column:>12}' for column in columns)}".rstrip())


def _or_dash(value: float, write: Callable[[float], str]) -> str:
    """A number, or a dash where there is none."""
    return "-" if math.isnan(value) else write(value)
