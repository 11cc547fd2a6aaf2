"""`surefoot show`."""

from pathlib import Path

import click

import surefoot
from surefoot.commands.console import AnyPath, RepertoireFile, check_different


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
    check_different(file, picture, history)
    surefoot.show(file, picture=picture, history=history)
