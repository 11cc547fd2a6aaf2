"""What the commands of `surefoot suite` share: their options, and how a study is run and reported on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robots.errors import RenderingError
from robots.words import duration
from surefoot.commands.console import (
    AnyPath,
    Cores,
    Positive,
    cluster_options,
    console,
    seed_option,
)
from surefoot.commands.options import Decorator, chain
from surefoot.progress import ProgressBar, study_bar

if TYPE_CHECKING:
    from robots.simulation.backend import Backend
    from suites.study import Study
    from suites.suite import StudyTrial, Suite


def study_options(name: str, *, simulated: bool = False, filmed: str | None = None) -> Decorator:
    """Give a command the options of every study, which are arguments of `run_study`, and a seed.

    Args:
        name: of the study, and of its folder by default.
        simulated: whether it simulates robots, and has more options.
        filmed: what is filmed of it; None if nothing is.
    """
    of_robots = (
        click.option(
            "--parallel",
            type=click.Choice(["trials", "episodes"]),
            help="Run one trial on each core, or one trial at a time on all of them.  [default: trials, if "
            "there are at least as many as cores]",
        ),
        cluster_options,
    )
    videos = click.option(
        "--videos/--no-videos", default=True, show_default=True, help=f"Whether to film {filmed}."
    )
    return chain(
        *(of_robots if simulated else ()),
        *([videos] if filmed else []),
        seed_option("the seeds of all trials"),
        click.option(
            "--threads", "cores", type=Cores, help="Threads of all trials together.  [default: all cores]"
        ),
        click.option("--dry-run", is_flag=True, help="Only print how many trials there are, and how long."),
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


def run_study(
    suite: "Suite",
    *,
    cores: int | None,
    dry_run: bool,
    only_trial: int | None,
    report: bool,
    out: Path,
    threads: "Backend | None" = None,
    parallel: str | None = None,
    videos: bool = False,
) -> None:
    """Print how long a study will take, run what is not done, film and report; see the options.

    In place of threads of this machine a backend may run the episodes.
    """
    from robots.simulation.threads import available_cores
    from suites.study import Study

    cores, remarks = cores or available_cores(), suite.check()
    if only_trial and only_trial > (count := len(suite.plan())):
        raise click.UsageError(f"--only-trial must be at most {count}, the number of trials")
    suite, together = suite.share_cores(
        "episodes" if only_trial and not parallel else parallel, cores, threads
    )
    study = Study(suite, out, dry=dry_run or report)
    for remark in remarks:
        console.print(f"note: {remark}")
    if dry_run or not (only_trial or report):
        _print_estimate(study, cores, together)
    if not (dry_run or report):
        _run_trials(study, together, study.trials[only_trial - 1] if only_trial else None)
    if not (dry_run or only_trial):
        _report(study, videos)


def _print_estimate(study: "Study", cores: int, processes: int) -> None:
    """Print how long the remaining trials will take."""
    remaining = study.remaining()
    if remaining:
        console.print("measuring how long the trials will take: seconds, or minutes with many robots")
        seconds = 0.0
        for one in study.suite.estimate(remaining, study.results(), processes):
            console.print(str(one))
            seconds += one.seconds
        own = f"{cores} {'core' if cores == 1 else 'cores'}"
        who = "the cluster" if study.suite.backend.elsewhere else own
        console.print(f"in all about {duration(seconds)} on {who}, and videos and the report after that")
    console.print(f"the study has {len(study.trials)} trials, {len(remaining)} of them not finished")


def _run_trials(study: "Study", processes: int, only: "StudyTrial | None") -> None:
    """Run the trials of a study, or only one."""
    try:
        with study_bar() as show:
            progress = study.run(processes=processes, only=only, on_progress=show)
    except KeyboardInterrupt:
        console.print("Stopped. What is saved is kept; the same command continues the study.")
        raise
    if progress.elsewhere:
        names = ", ".join(
            f"trial {trial} of {name} in {case}" for case, name, trial in sorted(progress.elsewhere)
        )
        console.print(f"note: left to the processes that run them now: {names}")


def _report(study: "Study", videos: bool) -> None:
    """Film and report all finished trials in the folder of a study."""
    from suites.videos import film_videos, missing_videos

    results = study.all_results()
    missing = missing_videos(study.suite.videos(results, study.folder), study.folder) if videos else []
    if missing:
        console.print(f"filming {len(missing)} videos; --no-videos leaves them out")
        try:
            with ProgressBar("videos", len(missing)) as show:
                show(0)
                film_videos(missing, study.folder, show)
        except RenderingError as error:
            console.print(f"note: no videos, because {error}")
    for path in study.report(results):
        console.print(f"saved {path}")
