"""`surefoot train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from pydantic import BaseModel

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.algorithms.settings import EMITTERS, Settings, ThresholdSettings
from repertoire.strategies.table import STRATEGIES
from robots.files.records import attribute_words
from robots.words import short
from surefoot.commands.console import (
    CLUSTER_PARAMETERS,
    AnyPath,
    Command,
    Number,
    Positive,
    Sizes,
    Whole,
    cluster_options,
    console,
    exits_when_stopped,
    randomization_option,
    refuse_others,
    seed_option,
)

_OF_THIS_PROCESS = ("threads", "checkpoint_seconds", "log_csv", "tensorboard")  # not of the run


def _settings_options(command: Command) -> Command:
    """Give a command an option for each setting that an algorithm of the table has."""
    for name in reversed({name: None for one in ALGORITHMS.values() for name in one.own_settings()}):
        command = _settings_option(name)(command)
    return command


def _settings_option(name: str) -> Callable[[Command], Command]:
    """The option for a setting, as its record declares and describes it."""
    default = "[default: the algorithm's or the problem's]"
    flag = f"--{name.replace('_', '-')}"
    if name == "strategy":
        choice = "for algorithms that leave the choice; see `algorithms`"
        return click.option(flag, help=f"Evolution strategy, {choice}.  {default}")
    records: tuple[type[BaseModel], ...] = (
        Settings,
        *STRATEGIES.values(),
        *EMITTERS.values(),
        ThresholdSettings,
    )
    record = next(record for record in records if name in record.model_fields)
    entry = record.model_fields[name]
    kinds = get_args(entry.annotation)
    kind: click.ParamType = Number()
    if get_origin(entry.annotation) is Literal:
        kind = click.Choice(kinds)
    elif int in (entry.annotation, *kinds):
        kind = Whole(min=next((rule.ge for rule in entry.metadata if hasattr(rule, "ge")), 1))
    text = attribute_words(record, name).rstrip(".")
    users = [user for user, one in ALGORITHMS.items() if name in one.own_settings()]
    only = f" Only for {' and '.join(users)}." if len(users) <= 2 else ""
    return click.option(flag, type=kind, help=f"{text[0].upper()}{text[1:]}.{only}  {default}")


@click.command()
@click.argument("problem", required=False)
@click.option(
    "--algorithm",
    default="sep-cma-mae",
    show_default=True,
    help="Algorithm that searches; see `surefoot algorithms`.",
)
@click.option(
    "--evaluations",
    type=Positive,
    default=20_000,
    show_default=True,
    help="Number of solutions to evaluate, rounded up to whole batches of all emitters.",
)
@seed_option("all random numbers of the run")
@click.option("--out", type=AnyPath, help="Folder of the run.  [default: runs/PROBLEM]")
@click.option("--resume", type=AnyPath, metavar="FOLDER", help="Go on with the run in this folder.")
@click.option("--overwrite", is_flag=True, help="Replace the run that the folder already holds.")
@click.option(
    "--archive",
    metavar="SPEC",
    help="Number of cells along each measure, e.g. 6,6,6,6, or cvt:1000 for 1000 cells around centroids.  "
    "[default: the problem's]",
)
@_settings_options
@click.option(
    "--episode-steps",
    type=Positive,
    help="Only for robots: most control steps of an episode.  [default: the robot's]",
)
@click.option(
    "--measures",
    metavar="SPEC",
    help="Only for robots: what tells gaits apart, feet for their time on the ground or ranges of other "
    "measures, e.g. forward_speed=-0.5:1,turn_rate=-1:1.  [default: the robot's]",
)
@click.option(
    "--reward",
    metavar="PRESET",
    help="Only for robots: preset of the reward: paper, distance, straight, steering or, where the YAML has "
    "a command, command.  [default: the robot's]",
)
@click.option(
    "--damage-share",
    type=Number(),
    help="Only for robots: share of episodes, 0 to 1, in which a random leg is lost or dead.  [default: 0]",
)
@randomization_option
@click.option(
    "--hidden",
    type=Sizes(),
    help="Only for robots: drive the robot by networks with hidden layers of these sizes, e.g. 64,64.  "
    "[default: the robot's controllers]",
)
@click.option(
    "--checkpoint-seconds",
    type=Number(min=0),
    default=60.0,
    show_default=True,
    help="Time between two checkpoints [s].",
)
@click.option(
    "--log-csv",
    type=AnyPath,
    metavar="FILE",
    help="Write a row after each batch: the metrics, the seconds so far, the evaluations per second.",
)
@click.option(
    "--tensorboard", type=AnyPath, metavar="FOLDER", help="Write the same for TensorBoard to this folder."
)
@click.option("--threads", type=Positive, help="Threads of a robot's simulation.  [default: all cores]")
@cluster_options
@click.pass_context
def train(ctx: click.Context, problem: str | None, **options: Any) -> None:
    """Train a repertoire for PROBLEM, or go on with a run: `surefoot train --resume runs/ant`.

    PROBLEM is the name of a robot that comes with the package, the path of the YAML of your own robot, or a
    benchmark: sphere-N or arm-N with N parameters, e.g. sphere-100, or maze. Ctrl-C or SIGTERM saves the run,
    which can then be resumed.
    """
    import surefoot

    common = {key: options.pop(key) for key in _OF_THIS_PROCESS}
    folder, algorithm, out = (options.pop(key) for key in ("resume", "algorithm", "out"))
    with exits_when_stopped():
        if folder is not None:
            kept = ("resume", "plugin", *_OF_THIS_PROCESS, *CLUSTER_PARAMETERS)
            refuse_others(ctx, kept, "a resumed run keeps its settings")
            repertoire = surefoot.resume(folder, **common, progress=True)
        elif problem is None:
            raise click.UsageError("name a robot or another problem to train, or a run to --resume")
        else:
            folder = out or Path("runs") / Path(problem).stem
            chosen = {key: value for key, value in options.items() if value is not None}
            repertoire = surefoot.train(problem, algorithm, out=folder, **common, **chosen, progress=True)
    if diverged := repertoire.last("diverged"):
        console.print(f"{diverged} evaluations diverged in simulation and were left out.")
    m = repertoire.metrics
    console.print(
        f"{m.elites:,} elites, coverage {m.coverage:.1%}, QD score {m.qd_score:,.0f}, best {short(m.best)} "
        f"after {repertoire.evaluations:,} evaluations; see them with: surefoot show {folder}"
    )
