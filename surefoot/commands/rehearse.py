"""`surefoot rehearse`."""

import math
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repertoire.storage.files import RunFiles
from robots.words import duration
from surefoot.commands.console import (
    AnyPath,
    Positive,
    RepertoireFile,
    check_different,
    cluster_options,
    console,
    seed_option,
    threads_option,
)
from surefoot.commands.resuming import check_output, locked_output, run_or_exit, take_up

if TYPE_CHECKING:
    from adapt.damage.damage import Damage
    from adapt.rehearsal.table import Table
    from repertoire.evaluation.evaluator import Evaluation
    from robots.robot import Robot


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--damages",
    type=AnyPath,
    metavar="YAML",
    help="File with a list of damages.  [default: the library that `surefoot damages ROBOT --library` lists]",
)
@click.option(
    "--episodes",
    type=Positive,
    default=2,
    show_default=True,
    help="Number of episodes of each elite under each damage.",
)
@seed_option(0, "the seeds of the episodes")
@click.option("--out", type=AnyPath, help="File for the table.  [default: FILE with -rehearsal added]")
@click.option(
    "--picture", type=AnyPath, help="Draw what the elites still achieve under each damage to this PNG."
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
    episodes: int,
    seed: int,
    out: Path | None,
    picture: Path | None,
    threads: int | None,
    overwrite: bool,
    dry_run: bool,
) -> None:
    """Try every elite of the repertoire FILE under every damage of a library, before anything breaks.

    The episodes have the same seeds for all elites and damages. After an interruption the same command goes
    on where it was.
    """
    from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
    from adapt.rehearsal.storage import read_table, write_table
    from repertoire.storage.repertoires import read_repertoire
    from robots.rendering.pictures import check_picture
    from surefoot.shipped import result_files

    repertoire = read_repertoire(file)
    out = out or result_files(file).rehearsal
    unfinished = RunFiles.unfinished(out)
    if not dry_run:
        check_output(file, out, overwrite)
    check_different(file, out, picture)
    if picture is not None:
        check_picture(picture)
    library = _library(damages, repertoire.robot)
    work = rehearsal(repertoire, library, episodes=episodes, seed=seed, threads=threads)
    with nullcontext() if dry_run else locked_output(file, out, overwrite), work as evaluation:
        take_up(evaluation, unfinished, overwrite)
        _announce(evaluation)
        if dry_run:
            return
        run_or_exit(evaluation, unfinished)
        write_table(out, rehearsed_table(evaluation), evaluation.identity)
        with suppress(OSError):  # what was computed is safe
            unfinished.unlink()
    table = read_table(out, repertoire)  # what others will read, which is rounded
    _print_survivals(table)
    console.print(f"saved {out}")
    if picture is not None:
        from adapt.rehearsal.plots import draw_rehearsal

        title = f"{repertoire.robot.description.title}: {len(repertoire):,} gaits rehearsed"
        draw_rehearsal(table, title[0].upper() + title[1:], picture)
        console.print(f"drawn to {picture}")


def _library(path: Path | None, robot: "Robot") -> "list[Damage]":
    """The damages to rehearse."""
    from adapt.damage.library import damage_library
    from adapt.damage.text import read_damages

    return damage_library(robot) if path is None else read_damages(path, robot)


def _announce(evaluation: "Evaluation") -> None:
    """Say what will be done, and how long it will take."""
    conditions, elites = len(evaluation.evaluator.conditions), len(evaluation.repertoire)
    work = f"{conditions} conditions x {elites:,} gaits x {evaluation.episodes} episodes"
    left = "nothing left to do" if evaluation.finished else f"about {duration(evaluation.seconds_left())}"
    threads = evaluation.evaluator.threads
    console.print(f"{work} = {evaluation.total:,} episodes: {left} on {threads} thread{'s' * (threads != 1)}")


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
