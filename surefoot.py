"""The command line: it reads arguments, calls the packages, and prints what they return."""

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robots.errors import InvalidFileError, SurefootError, UnknownNameError


class _Printer(Console):
    """Prints text as it is, unwrapped; once nobody reads any more it goes on in silence."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _PathType(click.Path):
    """A path, which the empty text is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path cannot be empty", param, ctx)
        return super().convert(value, param, ctx)


class _Number(click.FloatRange):
    """A finite number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


console = _Printer()
complaints = _Printer(stderr=True)

AnyPath = _PathType(path_type=Path)
Positive = click.IntRange(min=1)


class _Commands(click.Group):
    """A group that lists its commands when it is given a name it does not know."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UnknownNameError("command", args[0], sorted(self.commands))
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="surefoot")
def cli() -> None:
    """Train repertoires of gaits, and get a damaged walking robot going again."""


@cli.command()
@click.argument("robot", required=False)
@click.option("--algorithm", default="sep-cma-mae", show_default=True, help="How to search.")
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
@click.option("--emitters", type=Positive, default=5, show_default=True)
@click.option("--batch-size", type=click.IntRange(min=2), default=40, show_default=True, help="Per emitter.")
@click.option("--sigma0", type=_Number(), default=0.02, show_default=True, help="Initial step size.")
@click.option("--learning-rate", type=_Number(), default=0.001, show_default=True, help="Of the thresholds.")
@click.option("--rule", type=click.Choice(["sequential", "batch"]), default="sequential", show_default=True)
@click.option(
    "--episode-steps", type=Positive, help="Control steps an episode has at most.  [default: the robot's]"
)
@click.option("--checkpoint-seconds", type=_Number(min=0), default=60.0, show_default=True)
@click.option("--threads", type=Positive, help="Of the simulation.  [default: all cores]")
@click.pass_context
def train(ctx: click.Context, robot: str | None, **options: Any) -> None:
    """Train a repertoire for ROBOT, or go on with a run: `surefoot train --resume runs/ant`."""
    from repertoire.training import FILE_NAME, resume_training, start_training

    checkpoint, threads, resume = (options.pop(key) for key in ("checkpoint_seconds", "threads", "resume"))
    if resume is not None:
        _refuse_with_resume(ctx)
        out = resume
        training = resume_training(out, threads=threads)
    elif robot is None:
        raise click.UsageError("name a robot to train, or a run to --resume")
    else:
        out = options.pop("out") or Path("runs") / robot
        settings = {key: value for key, value in options.items() if value is not None}
        training = start_training(robot, settings.pop("algorithm"), out=out, threads=threads, **settings)
    if training is None:
        console.print(f"{out} has finished already; see it with: surefoot show {out / FILE_NAME}")
        return
    _compare_versions(training)
    total = training.configuration.evaluations
    with training, _interrupt_flag() as interrupted, _training_bar(total) as show:
        try:
            training.run(out / FILE_NAME, checkpoint_seconds=checkpoint, on_progress=show, stop=interrupted)
        except InvalidFileError as error:
            raise InvalidFileError(f"{error}; once that is mended: surefoot train --resume {out}") from error
    _report_training(training, out)


def _compare_versions(training: Any) -> None:
    """Say so where other software saved what is resumed: the result may then differ."""
    from repertoire.training import software_versions

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
    from repertoire.training import FILE_NAME

    progress = training.progress()
    if not training.finished:
        console.print(f"Stopped and saved. Go on with: surefoot train --resume {out}")
    if progress.diverged:
        console.print(f"{progress.diverged} evaluations diverged in simulation and were left out.")
    m = progress.metrics
    console.print(
        f"{m.elites} gaits, coverage {m.coverage:.1%}, QD score {m.qd_score:,.0f}, best {_number(m.best)} "
        f"after {progress.evaluations} evaluations: {out / FILE_NAME}"
    )


def _number(value: float) -> str:
    """A number, or a dash where there is none yet."""
    return "-" if math.isnan(value) else f"{value:.0f}"


@contextmanager
def _interrupt_flag() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a flag, so that the batch in flight is finished; a second one interrupts."""
    seen = False

    def remember(_signal: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        console.print("Finishing the batch in flight, then saving (Ctrl-C again to stop at once).")

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: seen
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _training_bar(total: int) -> Iterator[Callable[[Any], None]]:
    """A bar with the numbers that matter; a line now and then where there is no terminal."""
    started, first, last_line = time.monotonic(), None, 0.0
    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn(
            "QD {task.fields[qd]:,.0f}  coverage {task.fields[coverage]:.1%}  best {task.fields[best]}"
        ),
        TextColumn("{task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=total, qd=0.0, coverage=0.0, best="-", rate=0.0)

    def show(progress: Any) -> None:
        nonlocal first, last_line
        first = progress.evaluations if first is None else first
        elapsed = time.monotonic() - started
        rate = (progress.evaluations - first) / max(elapsed, 1e-9)
        m = progress.metrics
        shown = {"qd": m.qd_score, "coverage": m.coverage, "best": _number(m.best), "rate": rate}
        bar.update(task, completed=min(progress.evaluations, total), **shown)
        if not console.is_terminal and elapsed - last_line >= 10:
            last_line = elapsed
            left = max(total - progress.evaluations, 0) / max(rate, 1e-9)
            console.print(
                f"{progress.evaluations}/{total} evaluations  QD {m.qd_score:,.0f}  "
                f"coverage {m.coverage:.1%}  best {_number(m.best)}  {rate:.0f}/s  {left:.0f} s left"
            )

    with bar:
        yield show


@cli.command()
@click.argument("file", type=AnyPath)
@click.option("--picture", type=AnyPath, help="Draw the repertoire to this PNG.")
@click.option("--history", type=AnyPath, help="Draw how training went to this PNG.")
def show(file: Path, picture: Path | None, history: Path | None) -> None:
    """Print the facts and metrics of a repertoire, and draw it."""
    from repertoire.plots import draw_history, draw_repertoire
    from repertoire.storage import read_repertoire

    repertoire = read_repertoire(file)
    for name, value in repertoire.facts().items():
        console.print(f"{name:<12}{value}")
    for path, draw in ((picture, draw_repertoire), (history, draw_history)):
        if path is not None:
            draw(repertoire, path)
            console.print(f"drawn to {path}")


@cli.command()
@click.argument("file", type=AnyPath)
@click.option("--damage", "damage_text", required=True, metavar="LEG:KIND", help="E.g. front_left:lost.")
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
        repertoire, damage, trials=trials, seed=seed, oracle=oracle, threads=threads, on_trial=_print_trial
    )
    _print_levels(recovery)
    for path in save_recovery(recovery, folder):
        console.print(f"saved {path}")


def _print_trial(trial: Any) -> None:
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


@cli.command()
@click.argument("file", type=AnyPath)
@click.option("--best", is_flag=True, help="Deploy the gait with the highest objective.")
@click.option("--cell", metavar="I,J,...", help="Deploy the gait of this cell, e.g. 1,0,3,2.")
@click.option(
    "--damage", "damage_text", metavar="LEG:KIND", help="Break the robot first, e.g. front_left:lost."
)
@click.option("--seconds", type=_Number(min=0, min_open=True), default=10.0, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif.")
@click.option("--csv", type=AnyPath, help="Write its telemetry to this CSV.")
def deploy(
    file: Path,
    best: bool,
    cell: str | None,
    damage_text: str | None,
    seconds: float,
    seed: int,
    video: Path | None,
    csv: Path | None,
) -> None:
    """Run one gait of the repertoire FILE on the intact or damaged robot."""
    from adapt.damage import parse_damage
    from adapt.report import film
    from repertoire.storage import read_repertoire
    from robots.atomic import check_writable

    if best == (cell is not None):
        raise click.UsageError("say which gait to deploy: either --best or --cell")
    repertoire = read_repertoire(file)
    row = repertoire.best() if cell is None else repertoire.row(_parse_cell(cell))
    robot = repertoire.robot
    if damage_text is not None:
        robot = parse_damage(damage_text, robot).apply(robot)
    if csv is not None:
        check_writable(csv)
    telemetry = film(robot, repertoire.elites.solutions[row], seconds=seconds, seed=seed, video=video)
    console.print(telemetry.summary())
    if csv is not None:
        telemetry.write_csv(csv)
        console.print(f"saved {csv}")
    if video is not None:
        console.print(f"saved {video}")


def _parse_cell(text: str) -> tuple[int, ...]:
    """Read a cell such as 1,0,3,2."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"--cell takes whole numbers with commas between, e.g. 1,0,3,2, not {text!r}"
        ) from None


@cli.command()
@click.option(
    "--out", type=AnyPath, default=Path("demo"), show_default=True, help="Folder for what it makes."
)
@click.option("--evaluations", type=Positive, help="Episodes to train for; fewer is faster and worse.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a run that the folder already holds.")
def demo(out: Path, evaluations: int | None, seed: int, overwrite: bool) -> None:
    """Train a small Ant repertoire, break a leg, walk on: a few minutes on two cores."""
    from adapt.demo import DemoSettings, run_demo

    settings = DemoSettings() if evaluations is None else DemoSettings(evaluations=evaluations)
    run_demo(
        out,
        settings,
        seed=seed,
        overwrite=overwrite,
        say=console.print,
        bar=_training_bar,
        on_trial=_print_trial,
    )


@cli.group(cls=_Commands)
def bench() -> None:
    """Measure speed and memory on this machine."""


@bench.command("simulation")
@click.option("--robot", default="ant", show_default=True)
@click.option("--episodes", type=Positive, default=200, show_default=True, help="Per measurement.")
@click.option("--repeats", type=Positive, default=5, show_default=True, help="Medians are over so many.")
@click.option("--peer", type=click.Choice(["pybullet"]), help="Run this beside it, if it is installed.")
@click.option("--out", type=AnyPath, help="Save the numbers to this JSON file.")
def bench_simulation(robot: str, episodes: int, repeats: int, peer: str | None, out: Path | None) -> None:
    """Closed-loop simulation against raw physics, threads, training's overhead, memory, compile time."""
    from repertoire.benchmarks.simulation import measure_simulation
    from robots.atomic import check_writable, write_text

    if out is not None:
        check_writable(out)
    figures = measure_simulation(robot, episodes=episodes, repeats=repeats, peer=peer, say=console.print)
    text = json.dumps(figures, indent=2)
    console.print(text)
    if out is not None:
        write_text(out, text + "\n")
        console.print(f"saved {out}")


def main() -> None:
    """Run the command line; whatever a user got wrong ends in one sentence and exit code 2."""
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        complaints.print(error.format_message())
    except click.exceptions.Abort:
        complaints.print(
            "surefoot: interrupted; files are as they were saved last, and training can be resumed"
        )
        sys.exit(130)
    except click.ClickException as error:
        complaints.print(f"surefoot: {error.format_message()}")
    except SurefootError as error:
        complaints.print(f"surefoot: {error}")
    except MemoryError:
        complaints.print("surefoot: this needs more memory than there is: ask for less")
    sys.exit(2)


if __name__ == "__main__":
    main()
