"""`surefoot strengthen`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapt.damage.damage import Damage
from repertoire.storage.files import RunFiles
from surefoot.api import plan_strengthening
from surefoot.commands.console import (
    AnyPath,
    Number,
    Positive,
    RepertoireFile,
    cluster_options,
    console,
    exits_when_stopped,
    seed_option,
    threads_option,
)
from surefoot.resuming import take_up

if TYPE_CHECKING:
    from robots.backend import Backend


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--damages",
    type=AnyPath,
    metavar="YAML",
    default=Path("library"),
    show_default=True,
    help="File with a list of damages, of those that FILE was rehearsed under; or `library` for all of them.",
)
@click.option("--out", type=AnyPath, required=True, help="File for the repertoire with the new gaits.")
@click.option(
    "--below",
    type=Number(min=0, min_open=True),
    default=0.5,
    show_default=True,
    help="Search for a gait where the best one makes less than this share of the healthy distance.",
)
@click.option(
    "--episodes-per-damage",
    type=Positive,
    default=20_000,
    show_default=True,
    help="Episodes of each search at most; of the included Ant about a quarter of an hour on two cores, of "
    "the Hexapod five minutes. --dry-run says how long all take.",
)
@click.option(
    "--randomization",
    metavar="RANGES",
    help="Refine on models of the robot with other masses, friction etc., see `surefoot train`; none for "
    "the nominal model.  [default: that of the training]",
)
@click.option(
    "--rehearsal",
    type=AnyPath,
    metavar="TABLE",
    help="What `surefoot rehearse` found.  [default: FILE-rehearsal]",
)
@seed_option("all random numbers")
@threads_option
@cluster_options
@click.option("--overwrite", is_flag=True, help="Replace the output files, and what was left unfinished.")
@click.option("--dry-run", is_flag=True, help="Only say what there is to do, and how long it takes at most.")
def strengthen(
    file: Path,
    damages: Path,
    out: Path,
    below: float,
    episodes_per_damage: int,
    randomization: str | None,
    rehearsal: Path | None,
    seed: int,
    threads: "int | Backend | None",
    overwrite: bool,
    dry_run: bool,
) -> None:
    """Refine a gait for each damage that leaves the repertoire FILE no good one, before anything breaks.

    Mirror images of gaits are tried first, if the robot's left and right are alike.

    The output has the gaits of FILE and the new ones, as specialists, with a rehearsal of all of them next to
    it. After an interruption the same command goes on where it was.
    """
    import surefoot
    from adapt.damage.text import read_damages

    repertoire = surefoot.load(file)
    library: list[Damage] | None = None
    if damages != Path("library"):
        library = list(read_damages(damages, repertoire.robot))
    options: dict[str, Any] = {
        "below": below,
        "episodes_per_damage": episodes_per_damage,
        "randomization": randomization,
        "seed": seed,
        "rehearsal": rehearsal,
        "threads": threads,
    }
    if dry_run:
        work = plan_strengthening(repertoire, library, file=file, **options)
        take_up(work, RunFiles.unfinished(out), overwrite, say=True)
        console.print(work.plan_words())
        return
    with exits_when_stopped():
        stronger = surefoot.strengthen(file, library, **options, out=out, overwrite=overwrite, progress=True)
    added = len(stronger) - len(repertoire)
    if not added:
        console.print(f"no search found a better gait: {out} was not written")
        return
    new = f"{added} specialist{'s' * (added > 1)}"
    console.print(f"saved {out} with {new}, and {RunFiles(out).rehearsal}; see surefoot show {out}")
