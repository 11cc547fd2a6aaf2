"""`surefoot rehearse`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapt.requests import RehearsalRequest
from repertoire.storage.files import RunFiles
from surefoot.api import plan_rehearsal
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
from surefoot.resuming import take_up
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from adapt.rehearsal.table import Table
    from robots.simulation.backend import Backend


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
@click.option(
    "--picture", type=AnyPath, help="Draw what the gaits still achieve under each damage to this PNG."
)
@threads_option
@cluster_options
@click.option(
    "--overwrite", is_flag=True, help="Replace the output file, and what another rehearsal left unfinished."
)
@click.option("--dry-run", is_flag=True, help="Only say how long it would take.")
def rehearse(
    file: Path,
    damages: Path | None,
    request: RehearsalRequest,
    out: Path | None,
    picture: Path | None,
    threads: "int | Backend | None",
    overwrite: bool,
    dry_run: bool,
) -> None:
    """Try every gait of the repertoire FILE under every damage of a library, before anything breaks.

    The episodes have the same seeds for all gaits and damages. With --randomization, each of them runs on a
    model of the robot. After an interruption the same command goes on where it was.
    """
    import surefoot
    from adapt.damage.text import read_damages
    from robots.randomization import read_randomization
    from robots.rendering.pictures import check_picture
    from robots.simulation.threads import backend_of

    repertoire = surefoot.load(file)
    out = out or result_files(file).rehearsal
    check_different(out, picture)
    check_different(file, picture)
    if picture is not None:
        check_picture(picture)
    trained, drawn = (
        repertoire.problem.randomization,
        read_randomization(request.randomization, repertoire.robot),
    )
    if trained != drawn:
        ways = [str(one or "the robot as it is") for one in (trained, drawn)]
        console.print("note: the gaits were trained on {}, and are rehearsed on {}".format(*ways))
    library = None if damages is None else read_damages(damages, repertoire.robot)
    if dry_run:
        evaluation = plan_rehearsal(repertoire, library, request, backend_of(threads))
        take_up(evaluation, RunFiles.unfinished(out), overwrite, say=True)
        console.print(evaluation.plan_words())
        return
    with exits_when_stopped():
        table = surefoot.rehearse(
            file, library, **dict(request), out=out, overwrite=overwrite, threads=threads, progress=True
        )
    _print_survivals(table)
    console.print(f"saved {out}")
    if picture is not None:
        from adapt.rehearsal.plots import draw_rehearsal

        title = f"{repertoire.robot.description.title}: {len(repertoire):,} gaits rehearsed"
        draw_rehearsal(table, title[0].upper() + title[1:], picture)
        console.print(f"drawn to {picture}")


def _print_survivals(table: "Table") -> None:
    """A table of what the repertoire can still do under each damage."""
    from adapt.rehearsal.table import GOOD, survivals

    width = max(len(condition) for condition in table.conditions) + 2
    console.print(
        f"{'':<{width}}{'best gait':>12}{'of healthy':>12}{'incumbent':>12}{'good gaits':>12}{'falls':>8}"
    )
    for survival in survivals(table):
        shares = "".join(f"{_share(share):>12}" for share in (survival.headroom, survival.kept))
        console.print(
            f"{survival.condition:<{width}}{survival.objective:>12,.4g}{shares}"
            f"{survival.good:>12,}{survival.falls:>8.1%}"
        )
    console.print(
        "of healthy: the best gait's objective as a share of the best one of the healthy robot\n"
        "incumbent: the same of the gait that is best on the healthy robot\n"
        f"good gaits: those that reach at least {GOOD:.0%} of the best gait under that damage"
    )


def _share(value: float) -> str:
    """A share, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:.0%}"
