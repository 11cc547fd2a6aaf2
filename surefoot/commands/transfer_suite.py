"""`surefoot suite transfer`."""

from pathlib import Path
from typing import Any

import click

from adapt.requests import RecoveryRequest
from robots.errors import InvalidValueError
from suites.requests import TRANSFERS
from surefoot.commands.console import Names, Positive, RepertoireFile
from surefoot.commands.options import request_options, selector_option
from surefoot.commands.studies import run_study, study_options


@click.command("transfer")
@click.argument("files", type=RepertoireFile, nargs=-1, required=True)
@click.option(
    "--worlds",
    type=Names(),
    help="Where to walk: gap, wide, timestep, solver, elliptic, soft, lag, torque-speed, encoders, ground, "
    "together, pybullet.  [default: all]",
)
@click.option(
    "--damages",
    type=Names(),
    help="Faults to recover from.  [default: the motors of one leg dead, of another weak, of a third stuck]",
)
@click.option("--gaits", type=Positive, help="Number of gaits that walk, the best.  [default: 20]")
@request_options(TRANSFERS, "selector", "trials", "think_episodes", "refine", selector=selector_option)
@study_options("transfer", simulated=True)
def transfer(
    files: tuple[Path, ...], worlds: tuple[str, ...] | None, request: RecoveryRequest, **options: Any
) -> None:
    """Let the best gaits of the repertoires FILES walk where they were not trained, and recover there.

    Worlds have other physics, motors, sensors or ground than the model of the gaits, or are PyBullet's own
    environment of the robot (pip install pybullet). In the report a repertoire
    is named after its file, or the folder of its run.
    """
    from repertoire.storage.files import FILE_NAME
    from repertoire.storage.repertoires import read_repertoire
    from suites.transfer.suite import TransferSuite
    from suites.transfer.worlds import find_worlds

    chosen = find_worlds(worlds)
    labels = [file.resolve().parent.name if file.name == FILE_NAME else file.stem for file in files]
    if len(set(labels)) < len(labels):
        raise InvalidValueError(f"repertoires must have different names, not {', '.join(labels)}")
    given = {name: options.pop(name) for name in ("damages", "gaits", "seed")}
    suite = TransferSuite(
        repertoires={label: read_repertoire(file) for label, file in zip(labels, files, strict=True)},
        worlds=chosen,
        request=request,
        **{name: value for name, value in given.items() if value is not None},
    )
    run_study(suite, **options)
