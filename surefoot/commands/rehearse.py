"""`surefoot rehearse`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import surefoot
from adapt.requests import RehearsalRequest
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
    from adapt.rehearsal.table import Table


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--damages",
    type=AnyPath,
    metavar="YAML",
    help="File with a list of damages.  [default: the library that `surefoot damages ROBOT --library` lists]",
)
@request_options(RehearsalRequest, randomization=randomization_option)
@click.option("--out", type=AnyPath, help="File for the table.  [default: FILE with -rehearsal added]")
@threads_option
@cluster_options
@click.option(
    "--overwrite", is_flag=True, help="Replace the output file, and what another rehearsal left unfinished."
)
def rehearse(
    file: Path, damages: Path | None, request: RehearsalRequest, out: Path | None, **options: Any
) -> None:
    """Try every gait of the repertoire FILE under every damage of a library, before anything breaks.

    The episodes have the same seeds for all gaits and damages. With --randomization, each of them runs on a
    model of the robot. First it says how long it takes; after an interruption the same command goes on.
    """
    from adapt.damage.text import read_damages
    from robots.randomization import read_randomization

    repertoire = surefoot.load(file)
    out = out or result_files(file).rehearsal
    trained = repertoire.problem.randomization
    drawn = read_randomization(request.randomization, repertoire.robot)
    if trained != drawn:
        ways = [str(one or "the robot as it is") for one in (trained, drawn)]
        console.print("note: the gaits were trained on {}, and are rehearsed on {}".format(*ways))
    library = None if damages is None else read_damages(damages, repertoire.robot)
    table = surefoot.rehearse(file, library, **dict(request), out=out, **options, progress=True)
    _print_survivals(table)
    console.print(f"saved {out}")


def _print_survivals(table: "Table") -> None:
    """A table of what the repertoire can still do under each damage."""
    from adapt.rehearsal.table import GOOD, survivals

    left, share = survivals(table), "{:.0%}".format
    rows = (
        (
            str(one.Index),
            f"{one[1]:,.4g}",
            or_dash(one[2], share),
            or_dash(one[3], share),
            f"{one[4]:,}",
            f"{one[5]:.1%}",
        )
        for one in left.itertuples()
    )
    print_table(("", *left.columns), rows)
    console.print(
        "of healthy: the best gait's objective as a share of the best one of the healthy robot\n"
        "incumbent: the same of the gait that is best on the healthy robot\n"
        f"good gaits: those that reach at least {GOOD:.0%} of the best gait under that damage"
    )
