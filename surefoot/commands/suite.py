"""`surefoot suite`: the studies of the field."""

from typing import Any

import click
from click.core import ParameterSource

from surefoot.commands.console import Commands, Names, Number, Positive, Whole
from surefoot.commands.mission_suite import mission_suite
from surefoot.commands.options import Decorator, chain
from surefoot.commands.recovery_suite import recovery
from surefoot.commands.studies import run_study, study_options
from surefoot.commands.transfer_suite import transfer


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


def _options(evaluations: int) -> Decorator:
    """Give a command the options of the studies of algorithms."""
    return chain(
        click.option(
            "--seeds",
            "trials",
            type=Whole(1, 1000),
            help="Trials of each algorithm in each domain, each with a seed of its own.  [default: 10]",
        ),
        click.option(
            "--evaluations",
            type=Budgets(),
            help="Number of evaluations in each trial. Single domains can have another number: "
            f"50000,NAME=100000.  [default: {evaluations}]",
        ),
    )


def _robot_options(name: str) -> Decorator:
    """Give a command the options of the studies that train robots."""
    return chain(
        click.option(
            "--robots",
            "domains",
            type=Names(),
            help="Robots to train, with commas.  [default: the paper's four]",
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
        _options(1_000_000),
        study_options(name, simulated=True, filmed="nine gaits of each algorithm and robot"),
    )


@click.group(cls=Commands)
def suite() -> None:
    """Compare algorithms or selectors over many trials, with statistics.

    The same command continues a study that was stopped; finished trials are never run again. Several
    processes may run the same study in a shared folder: each takes other trials.
    """


suite.add_command(recovery)
suite.add_command(transfer)
suite.add_command(mission_suite)


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
@_options(2_000_000)
@study_options("optimization")
def optimization(as_published: bool, **options: Any) -> None:
    """Run the CMA-MAE variants on Sphere, Arm and Maze, and compare with the paper's Tables I and II."""
    source = click.get_current_context().get_parameter_source("out")
    if as_published and source is ParameterSource.DEFAULT:
        options["out"] = options["out"].with_name("optimization-as-published")
    _run("optimization", options, options={"rank_one": "published"} if as_published else None)


@suite.command()
@click.option(
    "--algorithms", type=Names(), help="Algorithms to run, with commas.  [default: those of the paper]"
)
@_robot_options("locomotion")
def locomotion(**options: Any) -> None:
    """Train the paper's robots with its algorithms, and compare with its Tables III, V and VI."""
    _run("locomotion", options)


@suite.command()
@click.option(
    "--learning-rates",
    type=Rates(),
    help="Learning rates of the archive, from 0 to 1.  [default: 0,0.001,0.01,0.1,1]",
)
@_robot_options("ablation")
def ablation(**options: Any) -> None:
    """Train robots with several archive learning rates, and compare with the paper's Table VII."""
    _run("ablation", options)


def _run(name: str, given: dict[str, Any], **settings: Any) -> None:
    """Run a study of algorithms with the options of its command."""
    from suites.paper.published import published_study
    from suites.paper.suite import algorithm_variants, learning_rate_variants, paper_suite

    if algorithms := given.pop("algorithms", None):
        settings["variants"] = algorithm_variants(algorithms)
    if rates := given.pop("learning_rates", None):
        settings["variants"] = learning_rate_variants(rates)
    for option in ("domains", "evaluations", "trials", "episodes", "episode_steps", "seed"):
        if option in given:
            settings[option] = given.pop(option)
    run_study(paper_suite(published_study(name), **settings), **given)
