"""`surefoot strengthen`."""

from pathlib import Path
from typing import Any

import click

import surefoot
from adapt.requests import StrengtheningRequest
from repertoire.storage.files import RunFiles
from robots.words import counted
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    cluster_options,
    console,
    rehearsal_option,
    threads_option,
)
from surefoot.commands.options import request_options


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
@request_options(StrengtheningRequest)
@rehearsal_option
@threads_option
@cluster_options
@click.option("--overwrite", is_flag=True, help="Replace the output files, and what was left unfinished.")
def strengthen(file: Path, damages: Path, out: Path, request: StrengtheningRequest, **options: Any) -> None:
    """Refine a gait for each damage that leaves the repertoire FILE no good one, before anything breaks.

    Mirror images of gaits are tried first, if the robot's left and right are alike.

    The output has the gaits of FILE and the new ones, as specialists, with a rehearsal of all of them next to
    it. First it says how long it takes at most; after an interruption the same command goes on.
    """
    from adapt.damage.text import read_damages

    repertoire = surefoot.load(file)
    library = None if damages == Path("library") else read_damages(damages, repertoire.robot)
    stronger = surefoot.strengthen(file, library, **dict(request), out=out, **options, progress=True)
    new = counted(len(stronger) - len(repertoire), "specialist")
    console.print(f"saved {out} with {new}, and {RunFiles(out).rehearsal}; see surefoot show {out}")
