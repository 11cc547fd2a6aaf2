"""`surefoot cluster`: scripts that run a command on many machines."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from robots.errors import UnknownNameError
from surefoot.commands.console import AnyPath, Commands, Positive, console

_ENVIRONMENT = """\
# What the scheduler, the workers and the run itself share. Whoever can read key.pem can use the cluster.
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=30
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE={folder}/certificate.pem
for role in SCHEDULER WORKER CLIENT; do
    export DASK_DISTRIBUTED__COMM__TLS__${{role}}__CERT={folder}/certificate.pem
    export DASK_DISTRIBUTED__COMM__TLS__${{role}}__KEY={folder}/key.pem
done
"""
_SCHEDULER = """\
exec {python} -m dask scheduler --protocol tls --port 0 --dashboard-address 127.0.0.1:0 \\
    --scheduler-file {folder}/scheduler.json
"""
_WORKERS = """\
exec {python} -m dask worker --protocol tls --scheduler-file {folder}/scheduler.json \\
    --dashboard-address 127.0.0.1:0 --nworkers 1 --nthreads {cpus} --memory-limit {memory}GiB \\
    --death-timeout 300 --local-directory "${{TMPDIR:-/tmp}}"
"""
_DRIVER = """\
until [ -s {folder}/scheduler.json ]; do sleep 1; done
status=0
srun --ntasks=1 {python} -m surefoot {command} \\
    --scheduler-file {folder}/scheduler.json || status=$?
scancel "$SCHEDULER" "$WORKERS"
exit $status
"""
_SUBMIT = """\
#!/bin/bash
# Start the cluster and the run on it: bash {folder}/submit.sh
set -euo pipefail
rm -f {folder}/scheduler.json
if [ ! -s {folder}/key.pem ]; then  # one key for all three roles, which nobody else may read
    (umask 077 && openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=surefoot \\
        -keyout {folder}/key.pem -out {folder}/certificate.pem)
fi
SCHEDULER=$(sbatch --parsable {folder}/scheduler.sbatch)
WORKERS=$(sbatch --parsable --dependency="after:$SCHEDULER" {folder}/workers.sbatch)
export SCHEDULER WORKERS
sbatch --export=ALL --dependency="after:${{WORKERS}}_1" {folder}/driver.sbatch
"""


@click.group(cls=Commands)
def cluster() -> None:
    """Write the scripts that run a command on many machines."""


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
        "cpus": cpus,
        "memory": memory,
    }
    common = [f"time={time}", f"mem={memory}G", f"chdir={Path.cwd()}", *sbatch]
    jobs = {
        "scheduler": (_SCHEDULER, ["cpus-per-task=2"]),
        "workers": (_WORKERS, [f"array=1-{workers}", f"cpus-per-task={cpus}"]),
        "driver": (_DRIVER, ["cpus-per-task=4", "signal=TERM@120"]),
    }
    make_folder(out)
    write_text(out / "environment.sh", _ENVIRONMENT.format(**words))
    for name, (body, options) in jobs.items():
        log = f"output={folder}/{name}-%j.log"
        lines = [f"#SBATCH --{option}" for option in (f"job-name=surefoot-{name}", log, *common, *options)]
        head = ["#!/bin/bash", *lines, "set -euo pipefail", f"source {words['folder']}/environment.sh"]
        write_text(out / f"{name}.sbatch", "\n".join(head) + "\n" + body.format(**words))
    write_text(out / "submit.sh", _SUBMIT.format(**words))
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
    """Whether a command can be told a cluster."""
    return any(parameter.name == "scheduler_file" for parameter in command.params)


def _commands_for_clusters(context: click.Context, group: click.Group) -> Iterator[str]:
    """The commands of a group, and of groups in it, that can be told a cluster."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {other}" for other in _commands_for_clusters(context, command))
        elif command and _runs_on_clusters(command):
            yield name
