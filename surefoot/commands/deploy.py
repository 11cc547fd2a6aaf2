"""`surefoot deploy`."""

from pathlib import Path

import click

from surefoot.commands.console import (
    AnyPath,
    Number,
    RepertoireFile,
    Whole,
    check_different,
    console,
    print_rendering_note,
    seed_option,
)
from surefoot.printing import note as print_note
from surefoot.shipped import best_known


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--best",
    is_flag=True,
    help="Deploy the gait with the highest objective, corrected if there is FILE-corrected.",
)
@click.option("--cell", metavar="I,J,...", help="Deploy the gait of this cell, e.g. 1,0,3,2.")
@click.option(
    "--row", type=Whole(min=0), help="Deploy the gait of this row: specialists have no cell of their own."
)
@click.option(
    "--damage",
    metavar="DAMAGE",
    help="Break the robot first, e.g. front_left:lost; see `surefoot damages`.",
)
@click.option(
    "--seconds",
    type=Number(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Length of the run [s of simulated time].",
)
@seed_option("the episode's random numbers")
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif.")
@click.option("--plain", is_flag=True, help="Film it without the overlay that tells how it goes.")
@click.option("--csv", type=AnyPath, help="Write its telemetry to this .csv.")
def deploy(
    file: Path,
    best: bool,
    cell: str | None,
    row: int | None,
    damage: str | None,
    seconds: float,
    seed: int,
    video: Path | None,
    plain: bool,
    csv: Path | None,
) -> None:
    """Run one gait of the repertoire FILE on the intact or damaged robot."""
    import surefoot
    from repertoire.repertoire import parse_cell

    if best + (cell is not None) + (row is not None) != 1:
        raise click.UsageError("say which gait to deploy: either --best, --cell or --row")
    check_different(file, csv, video)
    repertoire, note = surefoot.load(file), ""
    if best:
        repertoire, note = best_known(file, repertoire)
    if video is not None:
        print_rendering_note()
        console.print(f"filming {seconds:g} s of the run, which takes seconds, by ray casting minutes")
    telemetry = surefoot.deploy(
        repertoire,
        "best" if best else parse_cell(cell) if cell is not None else row or 0,
        damage=damage,
        seconds=seconds,
        seed=seed,
        video=video,
        plain=plain,
        csv=csv,
    )
    if note:
        print_note(note)
    console.print(telemetry.summary())
    if csv is not None:
        console.print(f"saved {csv}")
    if video is not None:
        console.print(f"saved {video}")
