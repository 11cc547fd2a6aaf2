"""`surefoot demo`."""

from pathlib import Path

import click

from surefoot_cli.console import AnyPath, Positive, console
from surefoot_cli.progress import training_bar
from surefoot_cli.recover import print_trial


@click.command()
@click.option(
    "--out", type=AnyPath, default=Path("demo"), show_default=True, help="Folder for what it makes."
)
@click.option("--evaluations", type=Positive, help="Episodes to train for; fewer is faster and worse.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a run that the folder already holds.")
def demo(out: Path, evaluations: int | None, seed: int, overwrite: bool) -> None:
    """Train a small Ant repertoire, break a leg, walk on: a few minutes on two cores."""
    from adapt.demo import DemoSettings, run_demo

    settings = DemoSettings() if evaluations is None else DemoSettings(evaluations=evaluations)
    run_demo(
        out,
        settings,
        seed=seed,
        overwrite=overwrite,
        say=console.print,
        bar=training_bar,
        on_trial=print_trial,
    )
