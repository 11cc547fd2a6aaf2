"""`surefoot evaluate`."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import surefoot
from adapt.requests import CorrectionRequest
from robots.words import short
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    cluster_options,
    console,
    randomization_option,
    threads_option,
)
from surefoot.commands.options import request_options
from surefoot.printing import or_dash, print_table
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from repertoire.evaluation.correction import Correction

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
@threads_option
@cluster_options
@click.option(
    "--overwrite", is_flag=True, help="Replace the output file, and what another evaluation left unfinished."
)
def evaluate(file: Path, request: CorrectionRequest, out: Path | None, **options: Any) -> None:
    """Evaluate every gait of the repertoire FILE again in fresh episodes, and correct the repertoire.

    The episodes have the same seeds for all gaits. After an interruption the same command goes on where it
    was. With --randomization, it keeps the gaits that do well on average over models of the robot.
    """
    out = out or result_files(file).corrected
    correction = surefoot.evaluate(file, **dict(request), out=out, **options, progress=True)
    _print_metrics(correction)
    _print_spread(correction)
    if request.keep is not None:
        m = correction.repertoire.metrics
        console.print(
            f"kept the best {m.elites:,} of {correction.after.elites:,} gaits: "
            f"coverage {m.coverage:.1%}, QD score {m.qd_score:,.1f}"
        )
    console.print(f"saved {out}")


def _print_metrics(correction: "Correction") -> None:
    """A table of the metrics before and after, and what was lost."""
    before, after, losses = asdict(correction.before), asdict(correction.after), correction.losses
    rows = []
    for field, (name, write, is_amount) in _METRICS.items():
        share = losses[field] / before[field] if is_amount and before[field] > 0 else math.nan
        values = (or_dash(value, write) for value in (before[field], after[field], losses[field]))
        rows.append((name, *values, "" if math.isnan(share) else f"{share:.1%}"))
    print_table(("", "before", "corrected", "loss", ""), rows)
    if correction.left_out:
        console.print(f"gaits left out because the simulation diverged in an episode: {correction.left_out}")


def _print_spread(correction: "Correction") -> None:
    """How much the episodes of each original gait differ."""
    spreads = correction.spread.summaries().items()
    rows = [(name, *(or_dash(value, _SPREADS[name]) for value in summary)) for name, summary in spreads]
    print_table(("", "median", "worst 10%"), rows)
    console.print(
        "reproducibility: share of the episodes whose measures lie in the cell that the gait was found for"
    )
