"""`surefoot deploy`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefoot.commands.console import (
    AnyPath,
    Number,
    RepertoireFile,
    Seed,
    check_different,
    console,
    print_rendering_note,
)
from surefoot.commands.resuming import caution
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from repertoire.repertoire import Repertoire


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--best",
    is_flag=True,
    help="Deploy the gait with the highest objective, corrected if there is FILE-corrected.",
)
@click.option("--cell", metavar="I,J,...", help="Deploy the gait of this cell, e.g. 1,0,3,2.")
@click.option(
    "--damage",
    "damage_text",
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
@click.option("--seed", type=Seed, default=1, show_default=True, help="Seed of the episode.")
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif.")
@click.option("--plain", is_flag=True, help="Film it without the overlay that tells how it goes.")
@click.option("--csv", type=AnyPath, help="Write its telemetry to this .csv.")
def deploy(
    file: Path,
    best: bool,
    cell: str | None,
    damage_text: str | None,
    seconds: float,
    seed: int,
    video: Path | None,
    plain: bool,
    csv: Path | None,
) -> None:
    """Run one gait of the repertoire FILE on the intact or damaged robot."""
    from adapt.damage.text import parse_damage
    from repertoire.repertoire import format_cell
    from repertoire.storage.repertoires import read_repertoire
    from robots.deployment.film import film
    from robots.files.atomic import check_writable

    if best == (cell is not None):
        raise click.UsageError("say which gait to deploy: either --best or --cell")
    if csv is not None and csv.suffix.lower() != ".csv":
        raise click.UsageError(f"telemetry is written as .csv, not {csv.name}")
    check_different(file, csv, video)
    repertoire = read_repertoire(file)
    note = ""
    if best:
        repertoire, note = _with_true_objectives(file, repertoire)
    row = repertoire.best() if cell is None else repertoire.row(_parse_cell(cell))
    robot = repertoire.robot
    if damage_text is not None:
        robot = parse_damage(damage_text, robot).apply(robot)
    if csv is not None:
        check_writable(csv)
    caption = ", ".join([f"cell\u00a0{format_cell(repertoire.cell(row))}", *filter(None, [damage_text])])
    telemetry = film(
        robot,
        repertoire.elites.solutions[row],
        seconds=seconds,
        seed=seed,
        video=video,
        caption=None if plain else caption,
    )
    if note:
        console.print(note)
    console.print(telemetry.summary())
    if csv is not None:
        telemetry.write_csv(csv)
        console.print(f"saved {csv}")
    if video is not None:
        print_rendering_note()
        console.print(f"saved {video}")


def _with_true_objectives(file: Path, repertoire: "Repertoire") -> "tuple[Repertoire, str]":
    """The corrected repertoire where there is one, since single episodes flatter, and a note."""
    from repertoire.storage.repertoires import read_repertoire

    path = result_files(file).corrected
    if repertoire.caution and path.exists():
        corrected = read_repertoire(path)
        if corrected.problem.texts == repertoire.problem.texts and len(corrected):
            return corrected, f"note: the best gait is chosen by the corrected objectives of {path}"
    return repertoire, caution(file, repertoire)


def _parse_cell(text: str) -> tuple[int, ...]:
    """Read a cell such as 1,0,3,2."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"--cell takes whole numbers with commas between, e.g. 1,0,3,2, not {text!r}"
        ) from None
