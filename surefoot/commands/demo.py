"""`surefoot demo`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, Positive, console
from surefoot.commands.progress import training_bar
from surefoot.commands.recover import print_trial

_TRAINED_HERE = "ant"


@click.command()
@click.argument("robot", required=False, default=_TRAINED_HERE)
@click.option("--out", type=AnyPath, help="Folder for what it makes.  [default: demo, or demo-hexapod]")
@click.option("--damage", metavar="DAMAGE", help="What breaks; see `surefoot damages`.  [default: a leg]")
@click.option("--evaluations", type=Positive, help="Of the Ant: episodes to train for; fewer is worse.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--overwrite", is_flag=True, help="Of the Ant: replace a run that the folder already holds.")
def demo(
    robot: str, out: Path | None, damage: str | None, evaluations: int | None, seed: int, overwrite: bool
) -> None:
    """Break a leg, walk on.

    ROBOT is hexapod, whose gaits come with Surefoot, trained and rehearsed: damage, diagnosis and recovery
    in a minute; or ant, the default, whose gaits are trained first: a few minutes on two cores.
    """
    from adapt.shipped import SHIPPED
    from robots.errors import UnknownNameError

    if robot == _TRAINED_HERE:
        _train_and_recover(out or Path("demo"), damage, evaluations, seed, overwrite)
    elif robot not in SHIPPED:
        raise UnknownNameError("robot to demonstrate", robot, [_TRAINED_HERE, *SHIPPED])
    elif evaluations is not None or overwrite:
        raise click.UsageError(
            f"--evaluations and --overwrite are of the training, and the {robot}'s is done"
        )
    else:
        _recover(robot, out or Path(f"demo-{robot}"), damage, seed)


def _train_and_recover(
    out: Path, damage: str | None, evaluations: int | None, seed: int, overwrite: bool
) -> None:
    """Run the demo that trains."""
    from adapt.demo import DemoSettings, run_demo

    run_demo(
        out,
        _with(DemoSettings(), damage=damage, evaluations=evaluations),
        seed=seed,
        overwrite=overwrite,
        say=console.print,
        bar=training_bar,
        on_trial=print_trial,
    )


def _recover(robot: str, out: Path, damage: str | None, seed: int) -> None:
    """Run the demo that starts from a shipped repertoire."""
    from adapt.rehearsed_demo import RehearsedDemoSettings, run_rehearsed_demo

    settings = _with(RehearsedDemoSettings(robot), damage=damage)
    run_rehearsed_demo(out, settings, seed=seed, say=console.print, on_trial=print_trial)


def _with(settings: Any, **choices: object) -> Any:
    """Settings with what the user chose, and their defaults for what is None."""
    return replace(settings, **{name: choice for name, choice in choices.items() if choice is not None})
