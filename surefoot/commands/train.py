"""`surefoot train`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repertoire.storage.files import RunFiles
from robots.errors import InvalidFileError
from robots.files.atomic import file_exists
from robots.words import short
from surefoot.commands.console import (
    CLUSTER_PARAMETERS,
    AnyPath,
    Number,
    Positive,
    Sizes,
    Whole,
    cluster_options,
    console,
    randomization_option,
    seed_option,
)
from surefoot.commands.progress import training_bar
from surefoot.interrupts import INTERRUPTED, interrupt_flag

if TYPE_CHECKING:
    from repertoire.training.training import Training

_DEFAULT = "[default: the algorithm's]"


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
@seed_option(1, "all random numbers of the run")
@click.option("--out", type=AnyPath, help="Folder of the run.  [default: runs/PROBLEM]")
@click.option("--resume", type=AnyPath, metavar="FOLDER", help="Go on with the run in this folder.")
@click.option("--overwrite", is_flag=True, help="Replace the run that the folder already holds.")
@click.option(
    "--archive",
    metavar="SPEC",
    help="Number of cells along each measure, e.g. 6,6,6,6, or cvt:1000 for 1000 cells around centroids.  "
    "[default: the problem's]",
)
@click.option("--emitters", type=Positive, help=f"Number of emitters.  {_DEFAULT}")
@click.option("--batch-size", type=Whole(min=2), help=f"Solutions per emitter and batch.  {_DEFAULT}")
@click.option(
    "--sigma0",
    type=Number(),
    help="Initial step size, in units of the parameters.  [default: the algorithm's, or else the problem's]",
)
@click.option(
    "--line-sigma",
    type=Number(),
    help=f"Step size along the line between two elites, as a share of their distance.  {_DEFAULT}",
)
@click.option(
    "--gradient-samples", type=Positive, help=f"Solutions from which a gradient is estimated.  {_DEFAULT}"
)
@click.option("--gradient-sigma", type=Number(), help=f"Step size of these solutions.  {_DEFAULT}")
@click.option(
    "--gradient-steps", type=Positive, help=f"Policy-gradient steps for each solution of pga-me.  {_DEFAULT}"
)
@click.option("--critic-updates", type=Positive, help=f"Updates of the critics per generation.  {_DEFAULT}")
@click.option(
    "--critic-samples", type=Positive, help=f"Transitions for a gradient of the objective.  {_DEFAULT}"
)
@click.option(
    "--buffer-size", type=Positive, help=f"Transitions that critics learn from, the latest.  {_DEFAULT}"
)
@click.option(
    "--time-limit",
    type=click.Choice(["terminal", "bootstrapped"]),
    help="Whether critics take an episode that lasted as long as it may for ended, as the paper's code does, "
    f"or predict the rewards after it as well.  {_DEFAULT}",
)
@click.option(
    "--strategy",
    help=f"Evolution strategy, for algorithms that leave the choice; see `algorithms`.  {_DEFAULT}",
)
@click.option(
    "--vectors", type=Positive, help="Number of direction vectors of lm-ma-es.  [default: the batch size]"
)
@click.option(
    "--rank-one",
    type=click.Choice(["textbook", "published"]),
    help="Rank-one update of cma-es and sep-cma-es: Hansen's, or that of the code of Tjanaka et al. 2023, "
    f"which has no effect.  {_DEFAULT}",
)
@click.option(
    "--learning-rate",
    type=Number(),
    help="Learning rate of the archive's thresholds, from 0 to 1.  "
    "[default: the algorithm's, or else the problem's]",
)
@click.option(
    "--rule",
    type=click.Choice(["sequential", "batch"]),
    help=f"Whether thresholds move after every solution, or once per batch as in pyribs.  {_DEFAULT}",
)
@click.option(
    "--episode-steps",
    type=Positive,
    help="Only for robots: most control steps of an episode.  [default: the robot's]",
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
@click.option("--threads", type=Positive, help="Threads of a robot's simulation.  [default: all cores]")
@cluster_options
@click.pass_context
def train(ctx: click.Context, problem: str | None, **options: Any) -> None:
    """Train a repertoire for PROBLEM, or go on with a run: `surefoot train --resume runs/ant`.

    PROBLEM is the name of a robot that comes with the package, the path of the YAML of your own robot, or a
    benchmark: sphere-N or arm-N with N parameters, e.g. sphere-100, or maze. Ctrl-C or SIGTERM saves the run,
    which can then be resumed.
    """
    from adapt.damage.text import damaged_robots
    from repertoire.training.runs import resume_training, start_training

    checkpoint, threads, resume = (options.pop(key) for key in ("checkpoint_seconds", "threads", "resume"))
    if resume is not None:
        _refuse_with_resume(ctx)
        out = resume
        opening = resume_training(out, threads=threads, breaker=damaged_robots)
    elif problem is None:
        raise click.UsageError("name a robot or another problem to train, or a run to --resume")
    else:
        out = options.pop("out") or Path("runs") / Path(problem).stem
        settings = {key: value for key, value in options.items() if value is not None}
        settings |= {"out": out, "threads": threads, "breaker": damaged_robots}
        opening = start_training(problem, settings.pop("algorithm"), **settings)
    with opening as training:
        if training is None:
            console.print(f"{out} has finished already; see it with: surefoot show {out}")
            return
        for note in (*_other_versions(training), *training.remarks):
            console.print(f"note: {note}")
        _run(training, RunFiles.of(out).repertoire, checkpoint)
        _report(training, out)
        if not training.finished:
            sys.exit(INTERRUPTED)


def _run(training: "Training", path: Path, checkpoint_seconds: float) -> None:
    """Train with a progress bar, until the end or an interruption."""
    with interrupt_flag(console.print) as interrupted, training_bar(training.settings.evaluations) as show:
        try:
            training.run(path, checkpoint_seconds=checkpoint_seconds, on_progress=show, stop=interrupted)
        except InvalidFileError as error:
            if not file_exists(path):
                raise InvalidFileError(
                    f"{error}; nothing was saved: train again once that is mended"
                ) from error
            again = f"surefoot train --resume {path.parent}"
            raise InvalidFileError(f"{error}; once that is mended: {again}") from error


def _other_versions(training: "Training") -> list[str]:
    """Where the resumed run was saved by other software, so that the result may differ."""
    from repertoire.execution.provenance import software_versions

    now = software_versions()
    return [
        f"saved with {name} {then}, resumed with {now.get(name, 'none')}: results may differ"
        for name, then in training.saved_by.items()
        if now.get(name) != then
    ]


def _refuse_with_resume(ctx: click.Context) -> None:
    """A resumed run keeps its settings: refuse options that would be ignored."""
    ignored = [
        parameter.opts[0] if isinstance(parameter, click.Option) else (parameter.name or "").upper()
        for parameter in ctx.command.params
        if parameter.name not in ("resume", "threads", "checkpoint_seconds", *CLUSTER_PARAMETERS)
        and ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if ignored:
        raise click.UsageError(f"a resumed run keeps its settings: leave out {', '.join(ignored)}")


def _report(training: "Training", out: Path) -> None:
    """Say how training ended."""
    progress = training.progress()
    if not training.finished:
        console.print(f"Stopped and saved. Go on with: surefoot train --resume {out}")
    if progress.diverged:
        console.print(f"{progress.diverged} evaluations diverged in simulation and were left out.")
    m = progress.metrics
    console.print(
        f"{m.elites:,} elites, coverage {m.coverage:.1%}, QD score {m.qd_score:,.0f}, best {short(m.best)} "
        f"after {progress.evaluations:,} evaluations; see them with: surefoot show {out}"
    )
