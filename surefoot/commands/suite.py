"""`surefoot suite`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, Commands, Cores, Names, Positive, console
from surefoot.commands.gait_suites import ablation, locomotion
from surefoot.commands.progress import study_bar
from surefoot.commands.recovery_suite import recovery


@click.group(cls=Commands)
def suite() -> None:
    """Run the studies of the field, resumable, and report on them."""


suite.add_command(locomotion)
suite.add_command(ablation)
suite.add_command(recovery)


@suite.command("optimization")
@click.option("--algorithms", type=Names(), help="Fewer or others.  [default: the paper's four]")
@click.option(
    "--domains", type=Names(), help="Fewer or others, e.g. sphere-100,arm-20,maze.  [default: the paper's]"
)
@click.option(
    "--trials", type=click.IntRange(1, 1000), help="Of each algorithm in each domain.  [default: 10]"
)
@click.option("--evaluations", type=Positive, help="Of each trial.  [default: 2000000]")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--processes", type=Cores, help="Trials at a time.  [default: one a core]")
@click.option(
    "--out",
    type=AnyPath,
    default=Path("studies/optimization"),
    show_default=True,
    help="Folder of the study.",
)
def optimization(
    algorithms: tuple[str, ...] | None,
    domains: tuple[str, ...] | None,
    trials: int | None,
    evaluations: int | None,
    seed: int,
    processes: int | None,
    out: Path,
) -> None:
    """Run the CMA-MAE variants on Sphere, Arm and Maze, and report beside the paper's Tables I and II.

    The same command goes on with a study that was stopped; finished trials are never run again.
    """
    from repertoire.suites.optimization import optimization_study, remarks, report_optimization
    from robots.simulation.simulation import available_cores

    chosen = {"algorithms": algorithms, "domains": domains, "trials": trials, "evaluations": evaluations}
    given = {name: value for name, value in chosen.items() if value is not None}
    study = optimization_study(out, seed=seed, **given)  # type: ignore[arg-type]
    for remark in remarks(study):
        console.print(f"note: {remark}")
    try:
        with study_bar() as show:
            study.run(processes=processes or available_cores(), on_progress=show)
    except KeyboardInterrupt:
        console.print("Stopped. Finished trials are kept: go on with the same command.")
        raise
    for path in report_optimization(study):
        console.print(f"saved {path}")
