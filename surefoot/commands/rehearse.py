"""`surefoot rehearse`."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, Positive, console
from surefoot.commands.progress import episode_bar, interrupt_flag
from surefoot.commands.resuming import check_output, take_up, unfinished_path


@click.command()
@click.argument("file", type=AnyPath)
@click.option(
    "--damages", type=AnyPath, metavar="YAML", help="A list of damages.  [default: a library for the robot]"
)
@click.option("--episodes", type=Positive, default=2, show_default=True, help="Of each gait and damage.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=AnyPath, help="Where to save what it finds.  [default: FILE-rehearsal]")
@click.option("--picture", type=AnyPath, help="Draw what is left under each damage to this PNG.")
@click.option("--threads", type=Positive, help="Of the simulation.  [default: all cores]")
@click.option("--overwrite", is_flag=True, help="Replace what is there, the start of another rehearsal too.")
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
    """Try every gait of the repertoire FILE under every damage of a library, before anything breaks.

    After Ctrl-C or a crash the same command goes on where it was.
    """
    from adapt.rehearsal import Rehearsal, rehearsal_path, write_table
    from repertoire.storage.repertoires import read_repertoire
    from robots.rendering.pictures import check_picture

    repertoire = read_repertoire(file)
    out = out or rehearsal_path(file)
    unfinished = unfinished_path(out)
    if not dry_run:
        check_output(file, out, overwrite)
    if picture is not None:
        check_picture(picture)
    conditions = _conditions(damages, repertoire.robot)
    with Rehearsal(repertoire, conditions, episodes=episodes, seed=seed, threads=threads) as rehearsal:
        take_up(rehearsal, unfinished, overwrite)
        _announce(rehearsal, len(repertoire))
        if dry_run:
            return
        with interrupt_flag() as interrupted, episode_bar(rehearsal.total, done=rehearsal.done) as show:
            rehearsal.run(unfinished, on_progress=show, stop=interrupted)
    if not rehearsal.finished:
        console.print(f"Stopped and saved to {unfinished}. The same command goes on.")
        return
    write_table(out, rehearsal.table(), rehearsal.identity)
    with suppress(OSError):  # what was computed is safe
        unfinished.unlink()
    _report(repertoire, out, picture)


def _conditions(damages: Path | None, robot: Any) -> list[str]:
    """Texts of the damages to rehearse."""
    from adapt.damage.library import damage_library
    from adapt.damage.text import read_damages

    if damages is None:
        return list(map(str, damage_library(robot)))
    return [str(damage) for damage in read_damages(damages, robot)]


def _announce(rehearsal: Any, gaits: int) -> None:
    """Say what will be done, and how long it will take."""
    work = f"{len(rehearsal.conditions)} conditions x {gaits:,} gaits x {rehearsal.episodes} episodes"
    left = "nothing left to do" if rehearsal.finished else f"about {_duration(rehearsal.seconds_left())}"
    console.print(f"{work} = {rehearsal.total:,} episodes: {left} on {rehearsal.threads} threads")


def _duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _report(repertoire: Any, out: Path, picture: Path | None) -> None:
    """Print and draw what is left under each damage."""
    from adapt.rehearsal import read_table
    from adapt.rehearsal.plots import draw_rehearsal
    from adapt.rehearsal.survival import GOOD, survivals

    table = read_table(out, repertoire)
    width = max(len(condition) for condition in table.conditions) + 2
    console.print(
        f"{'':<{width}}{'best gait':>12}{'of healthy':>12}{'in use':>12}{'good gaits':>12}{'falls':>8}"
    )
    for survival in survivals(table):
        shares = "".join(f"{_share(share):>12}" for share in (survival.headroom, survival.kept))
        console.print(
            f"{survival.condition:<{width}}{survival.objective:>12,.4g}{shares}"
            f"{survival.good:>12,}{survival.falls:>8.1%}"
        )
    console.print(
        f"in use: the gait that is best when healthy; good: at least {GOOD:.0%} of the best under that damage"
    )
    console.print(f"saved {out}")
    if picture is not None:
        title = f"{repertoire.robot.description.title}: {len(repertoire):,} gaits rehearsed"
        draw_rehearsal(table, title[0].upper() + title[1:], picture)
        console.print(f"drawn to {picture}")


def _share(value: float) -> str:
    """A share, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:.0%}"
