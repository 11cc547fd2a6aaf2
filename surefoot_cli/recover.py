"""`surefoot recover`."""

from pathlib import Path
from typing import Any

import click

from surefoot_cli.console import AnyPath, Positive, console


@click.command()
@click.argument("file", type=AnyPath)
@click.option(
    "--damage",
    "damage_text",
    required=True,
    metavar="DAMAGE",
    help="E.g. front_left:lost or all:weak@0.5+torso:payload@2; see `surefoot damages`.",
)
@click.option("--trials", type=Positive, default=20, show_default=True, help="Trials at most.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--oracle", is_flag=True, help="Also find the best gait there is, by trying all.")
@click.option(
    "--out", type=AnyPath, help="Where to save recovery.json and recovery.png.  [default: beside FILE]"
)
@click.option("--threads", type=Positive, help="Of the simulation.  [default: all cores]")
def recover(
    file: Path, damage_text: str, trials: int, seed: int, oracle: bool, out: Path | None, threads: int | None
) -> None:
    """Break the robot of the repertoire FILE and find a gait that still works."""
    from adapt.damage import parse_damage
    from adapt.recovery import recover as run_recovery
    from adapt.report import result_paths, save_recovery
    from repertoire.storage import read_repertoire
    from robots.atomic import check_writable, make_folder

    repertoire = read_repertoire(file)
    damage = parse_damage(damage_text, repertoire.robot)
    folder = out or file.parent
    make_folder(folder)
    for path in result_paths(folder):
        check_writable(path)
    recovery = run_recovery(
        repertoire, damage, trials=trials, seed=seed, oracle=oracle, threads=threads, on_trial=print_trial
    )
    _print_levels(recovery)
    for path in save_recovery(recovery, folder):
        console.print(f"saved {path}")


def print_trial(trial: Any) -> None:
    """A line per trial."""
    from repertoire.repertoire import format_cell

    console.print(
        f"trial {trial.number:2d}  cell {format_cell(trial.cell)}  predicted {trial.predicted:8.1f}  "
        f"measured {trial.measured:8.1f}  {trial.distance:6.2f} m"
    )


def _print_levels(recovery: Any) -> None:
    """The levels before, during and after."""
    console.print(f"stopped after {len(recovery.trials)} trials: {recovery.stop}")
    for name, level in recovery.levels().items():
        console.print(
            f"{name:>10} {level.objective:8.1f} ± {level.standard_error:.1f}  {level.distance:6.2f} m"
        )
