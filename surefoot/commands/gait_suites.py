"""`surefoot suite locomotion` and `surefoot suite ablation`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from robots.errors import RenderingError
from surefoot.commands.console import AnyPath, Cores, Names, Number, Positive, console
from surefoot.commands.progress import study_bar


class Budgets(click.ParamType):
    """A number for all names, numbers for some, or both: `50000,hopper=100000`; by name, "" for all."""

    name = "N,NAME=N,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split the numbers."""
        if isinstance(value, dict):
            return value
        budgets: dict[str, int] = {}
        for part in value.split(","):
            name, _, number = part.rpartition("=")
            if name.strip() in budgets:
                self.fail(f"it must give each name one number, not {value!r}", param, ctx)
            budgets[name.strip()] = Positive.convert(number.strip(), param, ctx)
        return budgets


class Rates(Names):
    """Different numbers from 0 to 1 with commas between."""

    name = "RATE,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split the numbers."""
        rates = [Number(0, 1).convert(part, param, ctx) for part in super().convert(value, param, ctx)]
        if len(set(rates)) < len(rates):
            self.fail(f"it must be different numbers, not {value!r}", param, ctx)
        return tuple(rates)


_OPTIONS = (
    click.option("--robots", type=Names(), help="Fewer or others.  [default: the paper's four]"),
    click.option("--trials", type=click.IntRange(1, 1000), help="Of each row and robot.  [default: 10]"),
    click.option(
        "--evaluations",
        type=Budgets(),
        help="Of each trial; for some robots others, e.g. 50000,hopper=100000.  [default: 1000000]",
    ),
    click.option("--episodes", type=Positive, help="Of each elite, to correct.  [default: 10]"),
    click.option(
        "--episode-steps", type=Positive, help="Control steps an episode has at most.  [default: the robot's]"
    ),
    click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True),
    click.option("--processes", type=Cores, help="Cores to use.  [default: all]"),
    click.option(
        "--parallel",
        type=click.Choice(["trials", "episodes"]),
        help="What runs side by side.  [default: trials, if there is one for each core]",
    ),
    click.option("--videos/--no-videos", default=True, help="Whether to film nine gaits of each."),
    click.option("--dry-run", is_flag=True, help="Only say how long it will take."),
)


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of both studies."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.option("--algorithms", type=Names(), help="Fewer or others.  [default: those of the paper's that run]")
@_options
@click.option("--out", type=AnyPath, default=Path("studies/locomotion"), show_default=True)
def locomotion(algorithms: tuple[str, ...] | None, **options: Any) -> None:
    """Train the paper's robots with its algorithms, and report beside its Tables III to V.

    The same command goes on with a study that was stopped, in the middle of a trial too.
    """
    from repertoire.suites.locomotion import LOCOMOTION_STUDY, algorithm_variants

    _run(LOCOMOTION_STUDY, algorithms and algorithm_variants(algorithms), options)


@click.command()
@click.option("--learning-rates", type=Rates(), help="Of the archive.  [default: 0,0.001,0.01,0.1,1]")
@_options
@click.option("--out", type=AnyPath, default=Path("studies/ablation"), show_default=True)
def ablation(learning_rates: tuple[float, ...] | None, **options: Any) -> None:
    """Train with several archive learning rates, and report beside the paper's Table VII.

    The same command goes on with a study that was stopped, in the middle of a trial too.
    """
    from repertoire.suites.locomotion import ABLATION_STUDY, learning_rate_variants

    _run(ABLATION_STUDY, learning_rates and learning_rate_variants(learning_rates), options)


def _run(experiment: Any, variants: Any, options: dict[str, Any]) -> None:
    """Say how long it will take, run what is not done, film and report."""
    from repertoire.suites.gait_study import check_plans, open_gait_study, share_machine
    from repertoire.suites.gait_videos import film_trials
    from robots.simulation.simulation import available_cores

    out, dry, videos = (options.pop(name) for name in ("out", "dry_run", "videos"))
    cores, parallel = options.pop("processes") or available_cores(), options.pop("parallel")
    robots = options.pop("robots") or experiment.published.domains
    budgets = options.pop("evaluations") or {}
    evaluations = _evaluations(budgets, robots, experiment.published.evaluations)
    given = {name: value for name, value in options.items() if value is not None}
    settings = experiment.settings(out, evaluations, variants=variants, **given)
    remarks = check_plans(settings)
    settings, processes = share_machine(settings, parallel, cores)
    study = open_gait_study(settings, dry=dry)
    for remark in remarks:
        console.print(f"note: {remark}")
    _print_estimate(study, cores, processes)
    if dry:
        return
    try:
        with study_bar() as show:
            study.run(processes=processes, on_progress=show)
    except KeyboardInterrupt:
        console.print("Stopped. What is saved is kept: go on with the same command.")
        raise
    trials = experiment.collect(study.found())
    if videos:
        try:
            film_trials(trials, out, say=console.print)
        except RenderingError as error:
            console.print(f"note: no videos, since {error}")
    for path in experiment.report(trials, out):
        console.print(f"saved {path}")


def _evaluations(budgets: dict[str, int], robots: Sequence[str], default: int) -> dict[str, int]:
    """Evaluations of each robot."""
    for name in budgets:
        if name and name not in robots:
            raise click.UsageError(
                f"--evaluations speaks of {name}, which is not among the robots: {', '.join(robots)}"
            )
    return {robot: budgets.get(robot, budgets.get("", default)) for robot in robots}


def _print_estimate(study: Any, cores: int, processes: int) -> None:
    """Say how long what is left will take."""
    from repertoire.suites.estimate import estimate
    from repertoire.suites.report import duration

    estimates = estimate(study.waiting(), study.results(), cores=cores, processes=processes)
    for one in estimates:
        console.print(str(one))
    if estimates:
        total = duration(sum(one.seconds for one in estimates))
        console.print(f"in all {total} on {cores} {'core' if cores == 1 else 'cores'}")
