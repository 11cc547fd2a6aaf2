"""`surefoot train`."""

from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

import surefoot
from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.algorithms.settings import EMITTERS, Settings, ThresholdSettings
from repertoire.problems.catalogue import WalkSettings
from repertoire.strategies.table import STRATEGIES
from robots.words import short
from surefoot.commands.console import (
    AnyPath,
    Number,
    Positive,
    cluster_options,
    console,
    randomization_option,
    refuse_others,
    seed_option,
)
from surefoot.commands.options import MAP_HELP, Decorator, chain, setting_option

_OF_THIS_PROCESS = ("threads", "checkpoint_seconds", "log_csv")  # not of the run
_SETTINGS = list(dict.fromkeys(name for one in ALGORITHMS.values() for name in one.own_settings()))


def _settings_option(name: str) -> Decorator:
    """The option for a setting that algorithms of the table have, as its record describes it."""
    default = "[default: the algorithm's or the problem's]"
    if name == "strategy":
        choice = "for algorithms that leave the choice; see `algorithms`"
        return click.option("--strategy", help=f"Evolution strategy, {choice}.  {default}")
    records: tuple[type[BaseModel], ...] = (
        Settings,
        *STRATEGIES.values(),
        *EMITTERS.values(),
        ThresholdSettings,
    )
    record = next(record for record in records if name in record.model_fields)
    users = [user for user, one in ALGORITHMS.items() if name in one.own_settings()]
    only = f" Only for {' and '.join(users)}." if len(users) <= 2 else ""
    return setting_option(record, name, default=default, more=only)


def _walk_option(name: str) -> Decorator:
    """The option for a setting of the problem to walk with a robot."""
    return setting_option(WalkSettings, name, default=None, before="Only for robots: ")


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
@chain(*map(_settings_option, _SETTINGS))
@chain(*map(_walk_option, ("episode_steps", "measures", "reward", "damage_share")))
@randomization_option
@_walk_option("hidden")
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
    "--policy",
    type=AnyPath,
    metavar="FILE",
    help="Only for robots: train gaits around this policy that others trained, an ONNX file.",
)
@click.option("--map", "policy_map", help=f"{MAP_HELP}  [default: playground]")
@click.option("--threads", type=Positive, help="Threads of a robot's simulation.  [default: all cores]")
@cluster_options
@click.pass_context
def train(ctx: click.Context, problem: str | None, **options: Any) -> None:
    """Train a repertoire for PROBLEM, or go on with a run: `surefoot train --resume runs/ant`.

    PROBLEM is the name of a robot that comes with the package, the path of the YAML of your own robot, that
    of a repertoire, for whose robot and policy another one is trained, or a benchmark: sphere-N or arm-N with
    N parameters, e.g. sphere-100, or maze. Ctrl-C or SIGTERM saves the run, which can then be resumed.
    """
    common = {key: options.pop(key) for key in _OF_THIS_PROCESS}
    folder, algorithm, out = (options.pop(key) for key in ("resume", "algorithm", "out"))
    if folder is not None:
        kept = ("resume", "plugin", *_OF_THIS_PROCESS, "address")
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
