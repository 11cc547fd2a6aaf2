"""`surefoot suite recovery`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repertoire.storage.files import RunFiles
from robots.errors import InvalidFileError, RenderingError
from robots.words import duration
from surefoot.commands.console import (
    AnyPath,
    Command,
    Cores,
    Names,
    Number,
    Positive,
    RepertoireFile,
    Whole,
    cluster_options,
    console,
    seed_option,
    workforce,
)
from surefoot.commands.progress import ProgressBar, interrupt_flag

if TYPE_CHECKING:
    from suites.recovery.recoveries import Results
    from suites.recovery.study import RecoveryStudy

_VIDEOS = 3


def _count(name: str, default: int, text: str) -> Callable[[Command], Command]:
    """An option that is a whole number of at least 1."""
    return click.option(name, type=Positive, default=default, show_default=True, help=text)


@click.command("recovery")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="The library, a rehearsal.  [default: FILE-rehearsal]")
@click.option("--damages", type=AnyPath, help="YAML list of damages.  [default: a list for the robot]")
@click.option("--selectors", type=Names(), help="Selectors to compare.  [default: all but the oracle]")
@click.option("--tracks", type=Names(), help="Tracks to run, e.g. T0,T3.  [default: all]")
@_count("--seeds", 10, "Recoveries from each damage.")
@_count("--trials", 20, "Trials of each recovery.")
@_count("--episodes", 2, "Episodes per gait and damage that trials show, and as many others for the scores.")
@_count("--gaps", 4, "Robots that differ from the rehearsed one, for tracks with a reality gap.")
@click.option(
    "--noise",
    type=(Number(min=0), Number(min=0)),
    default=(0.05, 0.02),
    show_default=True,
    metavar="SHARE AMOUNT",
    help="Standard deviations of a trial's noise: as a share of the objective, and in its units.",
)
@click.option(
    "--simulate",
    type=Whole(min=0),
    default=0,
    show_default=True,
    help="Recoveries to run on the simulated robot too, with each of two selectors.",
)
@seed_option(1, "all others")
@click.option("--processes", type=Cores, help="Cores to use.  [default: all]")
@click.option("--videos/--no-videos", default=True, show_default=True, help="Film the best recoveries.")
@click.option("--dry-run", is_flag=True, help="Only say how long it would take.")
@click.option(
    "--out", type=AnyPath, default=Path("studies/recovery"), show_default=True, help="Folder of the study."
)
@cluster_options
def recovery(
    file: Path,
    rehearsal: Path | None,
    damages: Path | None,
    selectors: tuple[str, ...] | None,
    tracks: tuple[str, ...] | None,
    seeds: int,
    trials: int,
    episodes: int,
    gaps: int,
    noise: tuple[float, float],
    simulate: int,
    seed: int,
    processes: int | None,
    videos: bool,
    dry_run: bool,
    out: Path,
) -> None:
    """Break the robot of the repertoire FILE in many ways, and compare how selectors recover.

    Every gait first runs under every damage. This takes long; after an interruption the same command resumes
    it. All recoveries are then replayed from what was found.
    """
    from adapt.selectors.catalogue import find_table
    from repertoire.storage.repertoires import read_repertoire
    from robots.simulation.simulation import available_cores
    from suites.recovery.cases import benchmark_damages, find_tracks
    from suites.recovery.recoveries import find_selectors
    from suites.recovery.replay import Noise
    from suites.recovery.study import RecoverySettings, RecoveryStudy

    chosen, names = find_tracks(tracks), find_selectors(selectors)
    repertoire = read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    if library is None:
        raise InvalidFileError(
            f"there is no rehearsal {RunFiles(file).rehearsal}: make one with surefoot rehearse {file}, or "
            "name one with --rehearsal"
        )
    settings = RecoverySettings(
        damages=tuple(benchmark_damages(repertoire.robot, damages)),
        tracks=chosen,
        selectors=names,
        trials=trials,
        seeds=seeds,
        noise=Noise(*noise),
        episodes=episodes,
        gaps=gaps,
        seed=seed,
    )
    study = RecoveryStudy(repertoire, library, settings, out, threads=processes or available_cores())
    if dry_run:
        _announce(study)
        return
    with study.open():
        _announce(study)
        if not _make_tables(study):
            return
        console.print("finding the best gait under each damage, then replaying the recoveries")
        with ProgressBar("replays") as show:
            show(0.0)
            results = study.replay(on_progress=show)
        _report(study, results, simulate, videos)


def _announce(study: "RecoveryStudy") -> None:
    """Say what will be done, and how long it will take."""
    settings, waiting = study.settings, study.waiting()
    seconds = study.table_seconds(waiting)
    for table in waiting:
        conditions, gaits = 1 + len(table.damages), len(study.repertoire)
        work = f"{conditions} conditions x {gaits:,} gaits x {table.episodes} episodes"
        console.print(f"table {table.name}: {work}, about {duration(seconds[table.name])}")
    replays = study.replay_seconds()
    console.print(
        f"replays: {len(settings.damages)} damages x {len(settings.selectors)} selectors x {settings.seeds} "
        f"seeds in {len(settings.tracks)} tracks, about {duration(replays)}"
    )
    total = duration(sum(seconds.values()) + replays)
    console.print(f"in all about {total} on {workforce(study.threads)}")


def _make_tables(study: "RecoveryStudy") -> bool:
    """Make the tables that are missing; returns whether all are made."""
    for table in study.waiting():
        console.print(f"table {table.name}")
        with interrupt_flag() as interrupted, ProgressBar("episodes", table.total) as show:
            if not table.make(study.threads, on_progress=show, stop=interrupted):
                console.print("Stopped. What is done is saved: the same command resumes it.")
                return False
    return True


def _report(study: "RecoveryStudy", results: "Results", simulate: int, videos: bool) -> None:
    """Simulate and film what was asked for, and write the report."""
    from suites.recovery.report import study_notes, write_report
    from suites.recovery.simulation import simulate_recoveries
    from suites.recovery.videos import film_best

    simulated, lines = None, []
    if simulate:
        with ProgressBar("simulated recoveries") as show:
            show(0.0)
            simulated = simulate_recoveries(study, results, simulate, on_progress=show)
    if videos:
        try:
            lines = film_best(study, results, _VIDEOS, say=console.print)
        except RenderingError as error:
            console.print(f"note: no videos, because {error}")
    notes = study_notes(study)
    for path in write_report(results, study.folder, notes=notes, simulated=simulated, videos=lines):
        console.print(f"saved {path}")
