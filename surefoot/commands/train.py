"""`surefoot train`."""

from pathlib import Path
from typing import Any

import click

from robots.errors import InvalidFileError
from robots.words import short
from surefoot.commands.console import AnyPath, Number, Positive, Sizes, console
from surefoot.commands.progress import interrupt_flag, training_bar

_DEFAULT = "[default: the algorithm's]"


@click.command()
@click.argument("robot", required=False)
@click.option(
    "--algorithm", default="sep-cma-mae", show_default=True, help="How to search; see `surefoot algorithms`."
)
@click.option(
    "--evaluations",
    type=Positive,
    default=20_000,
    show_default=True,
    help="Episodes to run, rounded up to whole batches of all emitters.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--out", type=AnyPath, help="Folder of the run.  [default: runs/ROBOT]")
@click.option("--resume", type=AnyPath, metavar="FOLDER", help="Go on with the run in this folder.")
@click.option("--overwrite", is_flag=True, help="Replace a run that the folder already holds.")
@click.option(
    "--archive",
    metavar="SPEC",
    help="Cells along each measure, e.g. 6,6,6,6, or cvt:1000 for 1000 cells around centroids.  "
    "[default: the problem's]",
)
@click.option("--emitters", type=Positive, help=f"How many.  {_DEFAULT}")
@click.option("--batch-size", type=click.IntRange(min=2), help=f"Solutions per emitter.  {_DEFAULT}")
@click.option("--sigma0", type=Number(), help=f"Initial step size.  {_DEFAULT}")
@click.option("--line-sigma", type=Number(), help=f"Step size along lines between elites.  {_DEFAULT}")
@click.option("--gradient-samples", type=Positive, help=f"Solutions to estimate gradients from.  {_DEFAULT}")
@click.option("--gradient-sigma", type=Number(), help=f"Step size of these.  {_DEFAULT}")
@click.option("--strategy", help="Evolution strategy, where the algorithm leaves the choice.")
@click.option("--vectors", type=Positive, help="Direction vectors of lm-ma-es.  [default: the batch size]")
@click.option("--learning-rate", type=Number(), help=f"Of the thresholds.  {_DEFAULT}")
@click.option(
    "--rule",
    type=click.Choice(["sequential", "batch"]),
    help=f"How thresholds move within a batch.  {_DEFAULT}",
)
@click.option(
    "--episode-steps", type=Positive, help="Control steps an episode has at most.  [default: the robot's]"
)
@click.option(
    "--hidden",
    type=Sizes(),
    help="Drive it by networks with these layers.  [default: the robot's controllers]",
)
@click.option("--checkpoint-seconds", type=Number(min=0), default=60.0, show_default=True)
@click.option("--threads", type=Positive, help="Of the simulation.  [default: all cores]")
@click.pass_context
def train(ctx: click.Context, robot: str | None, **options: Any) -> None:
    """Train a repertoire for ROBOT, or go on with a run: `surefoot train --resume runs/ant`.

    ROBOT is the name of a robot that comes with the package, or the path of the YAML of your own.
    """
    from repertoire.training.runs import FILE_NAME, resume_training, start_training

    checkpoint, threads, resume = (options.pop(key) for key in ("checkpoint_seconds", "threads", "resume"))
    if resume is not None:
        _refuse_with_resume(ctx)
        out = resume
        training = resume_training(out, threads=threads)
    elif robot is None:
        raise click.UsageError("name a robot to train, or a run to --resume")
    else:
        out = options.pop("out") or Path("runs") / Path(robot).stem
        settings = {key: value for key, value in options.items() if value is not None}
        training = start_training(robot, settings.pop("algorithm"), out=out, threads=threads, **settings)
    if training is None:
        console.print(f"{out} has finished already; see it with: surefoot show {out / FILE_NAME}")
        return
    _compare_versions(training)
    for remark in training.remarks:
        console.print(f"note: {remark}")
    total = training.settings.evaluations
    with training, interrupt_flag() as interrupted, training_bar(total) as show:
        try:
            training.run(out / FILE_NAME, checkpoint_seconds=checkpoint, on_progress=show, stop=interrupted)
        except InvalidFileError as error:
            raise InvalidFileError(f"{error}; once that is mended: surefoot train --resume {out}") from error
    _report_training(training, out)


def _compare_versions(training: Any) -> None:
    """Say so where other software saved what is resumed: the result may then differ."""
    from repertoire.provenance import software_versions

    now = software_versions()
    for name, then in training.saved_by.items():
        if now.get(name) != then:
            console.print(
                f"note: saved with {name} {then}, resumed with {now.get(name, 'none')}: results may differ"
            )


def _refuse_with_resume(ctx: click.Context) -> None:
    """A resumed run keeps its settings: refuse options that would be ignored."""
    ignored = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name not in ("resume", "threads", "checkpoint_seconds")
        and ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if ignored:
        raise click.UsageError(f"a resumed run keeps its settings: leave out {', '.join(ignored)}")


def _report_training(training: Any, out: Path) -> None:
    """Say how training ended."""
    from repertoire.training.runs import FILE_NAME

    progress = training.progress()
    if not training.finished:
        console.print(f"Stopped and saved. Go on with: surefoot train --resume {out}")
    if progress.diverged:
        console.print(f"{progress.diverged} evaluations diverged in simulation and were left out.")
    m = progress.metrics
    console.print(
        f"{m.elites} gaits, coverage {m.coverage:.1%}, QD score {m.qd_score:,.0f}, "
        f"best {short(m.best)} after {progress.evaluations} evaluations: {out / FILE_NAME}"
    )
