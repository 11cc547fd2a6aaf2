"""`surefoot suite`: the studies of the field."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click
from click.core import ParameterSource

from robots.errors import RenderingError
from robots.words import duration
from surefoot.commands.console import (
    AnyPath,
    Commands,
    Cores,
    Names,
    Number,
    Positive,
    cluster_options,
    console,
    workforce,
)
from surefoot.commands.progress import study_bar
from surefoot.commands.recovery_suite import recovery
from surefoot.commands.simulated_suite import recovery_simulated

if TYPE_CHECKING:
    from suites.paper.settings import StudySettings, Variant
    from suites.paper.trial import Trial
    from suites.study import Study


class Budgets(click.ParamType):
    """A number for all names, numbers for some, or both: `50000,hopper=100000`; "" stands for all."""

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
    """Different numbers from 0 to 1 with commas between them."""

    name = "RATE,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split the numbers."""
        rates = [Number(0, 1).convert(part, param, ctx) for part in super().convert(value, param, ctx)]
        if len(set(rates)) < len(rates):
            self.fail(f"it must be different numbers, not {value!r}", param, ctx)
        return tuple(rates)


class _Options(TypedDict):
    """Options of every study."""

    trials: int | None
    evaluations: dict[str, int] | None
    seed: int
    processes: int | None
    dry_run: bool
    only_trial: int | None
    report: bool
    out: Path


class _RobotOptions(_Options):
    """Options of the studies that train robots."""

    robots: tuple[str, ...] | None
    episodes: int | None
    episode_steps: int | None
    parallel: str | None
    videos: bool


Command = Callable[..., None]


def _options(name: str, evaluations: int) -> Callable[[Command], Command]:
    """Give a command the options of every study."""
    return _chain(
        click.option(
            "--trials",
            type=click.IntRange(1, 1000),
            help="Number of trials of each algorithm in each domain.  [default: 10]",
        ),
        click.option(
            "--evaluations",
            type=Budgets(),
            help="Number of evaluations in each trial. Single domains can have another number: "
            f"50000,NAME=100000.  [default: {evaluations}]",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Number from which the seeds of all trials derive.",
        ),
        click.option("--processes", type=Cores, help="Number of cores to use.  [default: all]"),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Only print how many trials there are and how long they will take.",
        ),
        click.option(
            "--only-trial",
            type=Positive,
            help="Run only one trial, by its number from 1 on, and write no report: for the tasks of a job "
            "array that share the folder.",
        ),
        click.option("--report", is_flag=True, help="Run nothing: report on the trials that are finished."),
        click.option(
            "--out",
            type=AnyPath,
            default=Path("studies") / name,
            show_default=True,
            help="Folder of the study.",
        ),
    )


def _robot_options(name: str) -> Callable[[Command], Command]:
    """Give a command the options of the studies that train robots."""
    return _chain(
        click.option(
            "--robots", type=Names(), help="Robots to train, with commas.  [default: the paper's four]"
        ),
        click.option(
            "--episodes",
            type=Positive,
            help="Number of episodes of each elite, for the correction of metrics.  [default: 10]",
        ),
        click.option(
            "--episode-steps",
            type=Positive,
            help="Limit of an episode, in control steps.  [default: the robot's own]",
        ),
        click.option(
            "--parallel",
            type=click.Choice(["trials", "episodes"]),
            help="Run one trial on each core, or one trial at a time on all of them.  [default: trials, if "
            "there are at least as many as cores]",
        ),
        click.option(
            "--videos/--no-videos",
            default=True,
            show_default=True,
            help="Whether to film nine gaits of each algorithm and robot.",
        ),
        cluster_options,
        _options(name, 1_000_000),
    )


def _chain(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Apply decorators so that the help lists their options in this order."""

    def decorate(command: Command) -> Command:
        for one in reversed(decorators):
            command = one(command)
        return command

    return decorate


@click.group(cls=Commands)
def suite() -> None:
    """Compare algorithms or selectors over many trials, with statistics."""


suite.add_command(recovery)
suite.add_command(recovery_simulated)


@suite.command()
@click.option(
    "--algorithms", type=Names(), help="Algorithms to run, with commas.  [default: the paper's four]"
)
@click.option(
    "--domains",
    type=Names(),
    help="Problems to solve, for example sphere-100,arm-20,maze.  [default: the paper's five]",
)
@click.option(
    "--as-published",
    is_flag=True,
    help="Run cma-mae and sep-cma-mae with the rank-one update of the code behind the paper, which has no "
    "effect there. This is a study of its own, in studies/optimization-as-published by default.",
)
@_options("optimization", 2_000_000)
def optimization(
    algorithms: tuple[str, ...] | None,
    domains: tuple[str, ...] | None,
    as_published: bool,
    **options: Unpack[_Options],
) -> None:
    """Run the CMA-MAE variants on Sphere, Arm and Maze, and compare with the paper's Tables I and II.

    The same command continues a study that was stopped; finished trials are never run again. Several
    processes may run the same study in a shared folder: each takes other trials.
    """
    from suites.paper.published import published_study
    from suites.paper.settings import algorithm_variants, paper_settings

    published = published_study("optimization")
    settings = paper_settings(
        published,
        domains=domains,
        variants=algorithm_variants(algorithms) if algorithms else None,
        evaluations=options["evaluations"],
        trials=options["trials"],
        options={"rank_one": "published"} if as_published else None,
        seed=options["seed"],
    )
    context = click.get_current_context()
    if as_published and context.get_parameter_source("out") is ParameterSource.DEFAULT:
        options["out"] = options["out"].with_name("optimization-as-published")
    _run(settings, options, parallel="trials")


@suite.command()
@click.option(
    "--algorithms",
    type=Names(),
    help="Algorithms to run, with commas.  [default: those of the paper]",
)
@_robot_options("locomotion")
def locomotion(algorithms: tuple[str, ...] | None, **options: Unpack[_RobotOptions]) -> None:
    """Train the paper's robots with its algorithms, and compare with its Tables III to V.

    The same command continues a study that was stopped, also within a trial. Several processes may run the
    same study in a shared folder: each takes other trials.
    """
    from suites.paper.settings import algorithm_variants

    variants = algorithm_variants(algorithms) if algorithms else None
    _run_robots("locomotion", variants, options)


@suite.command()
@click.option(
    "--learning-rates",
    type=Rates(),
    help="Learning rates of the archive, from 0 to 1.  [default: 0,0.001,0.01,0.1,1]",
)
@_robot_options("ablation")
def ablation(learning_rates: tuple[float, ...] | None, **options: Unpack[_RobotOptions]) -> None:
    """Train robots with several archive learning rates, and compare with the paper's Table VII.

    The same command continues a study that was stopped, also within a trial. Several processes may run the
    same study in a shared folder: each takes other trials.
    """
    from suites.paper.settings import learning_rate_variants

    variants = learning_rate_variants(learning_rates) if learning_rates else None
    _run_robots("ablation", variants, options)


def _run_robots(name: str, variants: "tuple[Variant, ...] | None", options: _RobotOptions) -> None:
    """Run a study that trains robots."""
    from suites.paper.published import published_study
    from suites.paper.settings import paper_settings

    settings = paper_settings(
        published_study(name),
        domains=options["robots"],
        variants=variants,
        evaluations=options["evaluations"],
        trials=options["trials"],
        episodes=options["episodes"],
        episode_steps=options["episode_steps"],
        seed=options["seed"],
    )
    _run(settings, options, parallel=options["parallel"], videos=options["videos"])


def _run(settings: "StudySettings", options: _Options, *, parallel: str | None, videos: bool = False) -> None:
    """Print how long the study will take, run what is not done, film and report."""
    from robots.simulation.simulation import available_cores
    from suites.study import Study

    cores, dry = options["processes"] or available_cores(), options["dry_run"]
    remarks = settings.check()
    number = options["only_trial"]
    settings, processes = settings.share_cores("episodes" if number and not parallel else parallel, cores)
    study = Study(settings, options["out"], dry=dry or options["report"])
    if number and number > len(study.trials):
        raise click.UsageError(f"--only-trial must be at most {len(study.trials)}, the number of trials")
    for remark in remarks:
        console.print(f"note: {remark}")
    if dry or (settings.episodes and not number and not options["report"]):
        _print_estimate(study, cores, processes)
    if dry:
        return
    if not options["report"]:
        _run_trials(study, processes, study.trials[number - 1] if number else None)
    if not number:
        _report(study, videos)


def _run_trials(study: "Study", processes: int, only: "Trial | None") -> None:
    """Run the trials of a study, or only one."""
    try:
        with _terminated_like_interrupted(), study_bar() as show:
            progress = study.run(processes=processes, only=only, on_progress=show)
    except KeyboardInterrupt:
        console.print("Stopped. What is saved is kept; the same command continues the study.")
        raise
    if progress.elsewhere:
        names = ", ".join(
            f"trial {trial} of {name} in {domain}" for domain, name, trial in sorted(progress.elsewhere)
        )
        console.print(f"note: left to the processes that run them now: {names}")


def _report(study: "Study", videos: bool) -> None:
    """Film and report all finished trials in the folder of a study."""
    from suites.paper.analysis import Analysis
    from suites.paper.published import published_study
    from suites.paper.report import write_report
    from suites.paper.videos import film_study

    results = Analysis(study.all_results(), published_study(study.settings.name))
    if videos:
        try:
            film_study(results, study.folder, say=console.print)
        except RenderingError as error:
            console.print(f"note: no videos, because {error}")
    for path in write_report(results, study.folder):
        console.print(f"saved {path}")


def _print_estimate(study: "Study", cores: int, processes: int) -> None:
    """Print how long the remaining trials will take."""
    from suites.paper.estimate import estimate

    estimates = estimate(study.remaining(), study.results(), cores=cores, processes=processes)
    for one in estimates:
        console.print(str(one))
    if estimates:
        total = duration(sum(one.seconds for one in estimates))
        console.print(f"in all about {total} on {workforce(cores)}")
    console.print(f"the study has {len(study.trials)} trials, {len(study.remaining())} of them not finished")


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
