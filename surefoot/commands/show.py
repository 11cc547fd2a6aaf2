"""`surefoot show`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, RepertoireFile, check_different


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option("--picture", type=AnyPath, help="Draw the repertoire to this PNG.")
@click.option(
    "--history", type=AnyPath, help="Draw the metrics over the evaluations of training to this PNG."
)
@click.option(
    "--log-csv",
    type=AnyPath,
    help="Log of `train --log-csv`: draw its evaluations per second with the history.",
)
def show(file: Path, picture: Path | None, history: Path | None, log_csv: Path | None) -> None:
    """Print the facts and metrics of the repertoire FILE, and draw it.

    FILE may also be the folder of a run.
    """
    import surefoot

    if log_csv is not None and history is None:
        raise click.UsageError("--log-csv is drawn with the history: name a PNG for --history")
    check_different(file, picture, history, log_csv)
    surefoot.show(file, picture=picture, history=history, log_csv=log_csv)
