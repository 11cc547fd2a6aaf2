"""`surefoot cluster`: scripts that run a command on many machines."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from robots.errors import UnknownNameError
from surefoot.commands.console import AnyPath, Commands, Positive, console
from surefoot.shipped import DATA

_TEMPLATES = DATA / "slurm"  # of scripts, with words between @ that `slurm` fills in


@click.group(cls=Commands)
def cluster() -> None:
    """Write the scripts that run a command on many machines under SLURM."""


@cluster.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--workers", type=Positive, required=True, help="Number of workers, each a job of its own.")
@click.option("--time", required=True, metavar="HH:MM:SS", help="Limit of every job, as SLURM takes it.")
@click.option("--cpus", type=Positive, default=1, show_default=True, help="Cores of each worker.")
@click.option("--memory", type=Positive, default=4, show_default=True, help="Memory of each job [GiB].")
@click.option(
    "--sbatch",
    multiple=True,
    metavar="OPTION",
    help="A further option of every job, e.g. partition=cpu; may be given several times.",
)
@click.option(
    "--out", type=AnyPath, default=Path("cluster"), show_default=True, help="Folder for the scripts."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def slurm(
    workers: int,
    time: str,
    cpus: int,
    memory: int,
    sbatch: tuple[str, ...],
    out: Path,
    command: tuple[str, ...],
) -> None:
    """Write scripts that run COMMAND on a cluster under SLURM.

    COMMAND is another one of Surefoot with its options, e.g. train ant --evaluations 1000000. The scripts are
    for the scheduler, the workers and the run itself; submit.sh submits all three. Connections are encrypted
    by a key that submit.sh makes in the folder, which all machines must be able to read.
    """
    from robots.files.atomic import make_folder, write_text

    _check_command(command)
    folder = out.resolve()
    words = {
        "folder": shlex.quote(str(folder)),
        "python": shlex.quote(sys.executable),
        "command": shlex.join(command),
        "cpus": str(cpus),
        "memory": str(memory),
    }
    common = [f"time={time}", f"mem={memory}G", f"chdir={Path.cwd()}", *sbatch]
    jobs = {
        "scheduler": ["cpus-per-task=2"],
        "workers": [f"array=1-{workers}", f"cpus-per-task={cpus}"],
        "driver": ["cpus-per-task=4", "signal=TERM@120"],
    }
    make_folder(out)
    for template in _TEMPLATES.iterdir():
        text = re.sub("@([a-z]+)@", lambda word: words[word[1]], template.read_text(encoding="utf-8"))
        if options := jobs.get(template.stem):
            own = [f"job-name=surefoot-{template.stem}", f"output={folder}/{template.stem}-%j.log"]
            lines = [f"#SBATCH --{option}" for option in (*own, *common, *options)]
            head = ["#!/bin/bash", *lines, "set -euo pipefail", f"source {words['folder']}/environment.sh"]
            text = "\n".join(head) + "\n" + text
        write_text(out / template.name, text)
    console.print(f"saved the scripts; submit them with: bash {shlex.quote(str(out / 'submit.sh'))}")


def _check_command(words: tuple[str, ...]) -> None:
    """Refuse a command that cannot run on a cluster, or that would refuse its options once it is started."""
    from surefoot.commands.main import cli

    context, command, rest = click.Context(cli), cli, list(words)
    found: click.Command | None = command
    name = ""
    while isinstance(found, click.Group) and rest:
        name = rest.pop(0)
        found = found.get_command(context, name)
    if found is None or not _runs_on_clusters(found):
        known = sorted(_commands_for_clusters(context, cli))
        raise UnknownNameError("command for a cluster", " ".join(words[: len(words) - len(rest)]), known)
    found.make_context(name, rest)


def _runs_on_clusters(command: click.Command) -> bool:
    return any(parameter.name == "scheduler_file" for parameter in command.params)


def _commands_for_clusters(context: click.Context, group: click.Group) -> Iterator[str]:
    """The commands of a group, and of groups in it, that can be told a cluster."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {other}" for other in _commands_for_clusters(context, command))
        elif command and _runs_on_clusters(command):
            yield name
