"""`surefoot suite recovery`."""

from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, Names, Number, Positive, RepertoireFile
from surefoot.commands.studies import run_study, study_options


@click.command("recovery")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="The library, a rehearsal.  [default: FILE-rehearsal]")
@click.option("--damages", type=AnyPath, help="YAML list of damages.  [default: a list for the robot]")
@click.option(
    "--selectors",
    type=Names(),
    help="Selectors to compare.  [default: all but those that simulate between trials, such as self-model]",
)
@click.option(
    "--tracks",
    type=Names(),
    help="Tracks to run, e.g. T0,T3, or T3-pairs, T4, T4-left-out, T4-gap with random faults.  [default: "
    "those with listed damages]",
)
@click.option(
    "--faults",
    type=Positive,
    help="Number of faults of each track.  [default: all that are listed, or 60 random ones]",
)
@click.option(
    "--seeds",
    type=Positive,
    default=10,
    show_default=True,
    help="Recoveries from each fault with each selector.",
)
@click.option("--trials", type=Positive, default=20, show_default=True, help="Trials of each recovery.")
@click.option(
    "--noise",
    type=(Number(min=0), Number(min=0)),
    default=(0.05, 0.02),
    show_default=True,
    metavar="SHARE AMOUNT",
    help="Standard deviations of a trial's noise: as a share of the objective, and in its units.",
)
@click.option(
    "--think",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long self-model simulates after each trial, instead of --think-episodes.",
)
@click.option(
    "--think-episodes",
    type=Positive,
    default=1200,
    show_default=True,
    help="Episodes that it simulates after each trial.",
)
@study_options("recovery", seed=5, filmed="the best recoveries")
def recovery(
    file: Path,
    rehearsal: Path | None,
    damages: Path | None,
    selectors: tuple[str, ...] | None,
    tracks: tuple[str, ...] | None,
    faults: int | None,
    seeds: int,
    trials: int,
    noise: tuple[float, float],
    think: float | None,
    think_episodes: int,
    seed: int,
    **options: Any,
) -> None:
    """Break the robot of the repertoire FILE in many ways, and compare how selectors recover.

    Every trial is simulated. The same command continues a study that was stopped; several processes may run
    the same study in a shared folder: each takes other recoveries. Random faults of the seed 5 are those of
    the benchmark; take another one, such as 40, to tune selectors.
    """
    from adapt.selectors.catalogue import find_table
    from repertoire.storage.repertoires import read_repertoire
    from suites.recovery.faults import benchmark_damages
    from suites.recovery.suite import RecoverySuite, default_selectors
    from suites.recovery.tracks import find_tracks

    chosen, repertoire = find_tracks(tracks), read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    suite = RecoverySuite(
        repertoire=repertoire,
        library=library,
        tracks=chosen,
        selectors=selectors or default_selectors(),
        damages=tuple(benchmark_damages(repertoire.robot, damages)) if damages else None,
        faults=faults,
        seeds=seeds,
        trials=trials,
        noise=noise,
        seed=seed,
        think_seconds=think,
        think_episodes=think_episodes,
    )
    run_study(suite, **options)
