"""`surefoot show`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console
from surefoot.commands.resuming import caution


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option("--picture", type=AnyPath, help="Draw the repertoire to this PNG.")
@click.option(
    "--history", type=AnyPath, help="Draw the metrics over the evaluations of training to this PNG."
)
def show(file: Path, picture: Path | None, history: Path | None) -> None:
    """Print the facts and metrics of the repertoire FILE, and draw it.

    FILE may also be the folder of a run.
    """
    from repertoire.plots import draw_history, draw_repertoire
    from repertoire.storage.repertoires import read_repertoire
    from robots.rendering.pictures import check_picture

    check_different(file, picture, history)
    for given in filter(None, (picture, history)):
        check_picture(given)
    repertoire = read_repertoire(file)
    for name, value in repertoire.facts().items():
        console.print(f"{name:<12}{value}")
    if note := caution(file, repertoire):
        console.print(note)
    for path, draw in ((picture, draw_repertoire), (history, draw_history)):
        if path is not None:
            draw(repertoire, path)
            console.print(f"drawn to {path}")
