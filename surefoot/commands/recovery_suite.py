"""`surefoot suite recovery`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robots.errors import InvalidFileError, RenderingError
from surefoot.commands.console import AnyPath, Cores, Names, Number, Positive, RepertoireFile, console
from surefoot.commands.progress import ProgressBar, interrupt_flag

if TYPE_CHECKING:
    from adapt.suite.results import Results
    from adapt.suite.runner import ReplaySetting
    from adapt.suite.simulation import Simulated
    from adapt.suite.study import RecoveryStudy

_VIDEOS = 3


class NoiseOption(click.ParamType):
    """Two numbers of at least 0 with a comma between: a share and an amount."""

    name = "SHARE,AMOUNT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split the numbers."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if len(parts) != 2:
            self.fail(f"it must be two numbers with a comma between, as in 0.05,0.02, not {value!r}")
        return tuple(Number(min=0).convert(part, param, ctx) for part in parts)


@click.command("recovery")
@click.argument("file", type=RepertoireFile)
@click.option(
    "--rehearsal",
    type=AnyPath,
    metavar="TABLE",
    help="The library: what `surefoot rehearse` found.  [default: FILE-rehearsal]",
)
@click.option(
    "--damages",
    type=AnyPath,
    metavar="YAML",
    help="List of the damages to recover from.  [default: the list for the robot, or one made from its legs]",
)
@click.option("--selectors", type=Names(), help="Selectors to compare.  [default: all but the oracle]")
@click.option("--tracks", type=Names(), help="Tracks to run, e.g. T0,T3.  [default: all]")
@click.option(
    "--seeds", type=Positive, default=10, show_default=True, help="Number of recoveries from each damage."
)
@click.option("--trials", type=Positive, default=20, show_default=True, help="Trials of each recovery.")
@click.option(
    "--episodes",
    type=Positive,
    default=2,
    show_default=True,
    help="Episodes of each gait under each damage, once for the trials and once for the scores.",
)
@click.option(
    "--gaps",
    type=Positive,
    default=4,
    show_default=True,
    help="Number of robots that differ from the rehearsed one, for the reality gap.",
)
@click.option(
    "--noise",
    type=NoiseOption(),
    default="0.05,0.02",
    show_default=True,
    help="Standard deviations of a trial's noise: a share of the objective, and an amount in its units.",
)
@click.option(
    "--simulate",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Number of recoveries to run on the simulated robot as well.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed from which all others derive.",
)
@click.option("--processes", type=Cores, help="Number of cores to use.  [default: all]")
@click.option("--videos/--no-videos", default=True, show_default=True, help="Film the best recoveries.")
@click.option("--dry-run", is_flag=True, help="Only say how long it would take.")
@click.option(
    "--out",
    type=AnyPath,
    default=Path("studies/recovery"),
    show_default=True,
    help="Folder of the study.",
)
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
    from adapt.rehearsal.storage import find_table, rehearsal_path
    from adapt.suite.cases import benchmark_damages, find_tracks
    from adapt.suite.replay import Noise
    from adapt.suite.report import study_notes, write_report
    from adapt.suite.runner import find_selectors
    from adapt.suite.study import RecoverySettings, RecoveryStudy
    from repertoire.storage.repertoires import read_repertoire
    from robots.simulation.simulation import available_cores

    chosen, names = find_tracks(tracks), find_selectors(selectors)
    repertoire = read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    if library is None:
        missing = rehearsal_path(file)
        raise InvalidFileError(
            f"there is no rehearsal {missing}: make one with surefoot rehearse {file}, or use --rehearsal"
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
    _announce(study)
    if dry_run:
        return
    with study.open():
        if not _make_tables(study):
            return
        console.print("finding the oracles")
        setting = study.replay_setting()
        with ProgressBar("replays") as show:
            results = study.replay(setting, on_progress=show)
        checks = _simulate(study, setting, results, simulate) if simulate else []
        lines = _film(study, results) if videos else []
        notes = study_notes(study)
        for path in write_report(results, out, notes=notes, simulated=checks, videos=lines):
            console.print(f"saved {path}")


def _announce(study: "RecoveryStudy") -> None:
    """Say what will be done, and how long it will take."""
    from repertoire.suites.report import duration

    settings, waiting, cores = study.settings, study.waiting(), study.threads
    seconds = study.table_seconds(waiting)
    for plan in waiting:
        gaits = f"{len(study.repertoire):,} gaits x {plan.episodes} episodes"
        console.print(
            f"table {plan.name}: {1 + len(plan.damages)} conditions x {gaits}, {duration(seconds[plan.name])}"
        )
    replays = study.replay_seconds()
    console.print(
        f"replays: {len(settings.damages)} damages x {len(settings.selectors)} selectors x {settings.seeds} "
        f"seeds in {len(settings.tracks)} tracks, {duration(replays)}"
    )
    total = duration(sum(seconds.values()) + replays)
    console.print(f"in all {total} on {cores} {'core' if cores == 1 else 'cores'}")


def _make_tables(study: "RecoveryStudy") -> bool:
    """Make the tables that are missing; returns whether all are made."""
    for plan in study.waiting():
        console.print(f"table {plan.name}")
        total = plan.total(len(study.repertoire))
        with interrupt_flag() as interrupted, ProgressBar("episodes", total) as show:
            if not study.make(plan, on_progress=show, stop=interrupted):
                console.print("Stopped. What is done is saved: the same command resumes it.")
                return False
    return True


def _simulate(
    study: "RecoveryStudy", setting: "ReplaySetting", results: "Results", count: int
) -> "list[Simulated]":
    """Run some recoveries on the simulated robot."""
    from adapt.suite.simulation import simulate

    with ProgressBar("simulated recoveries") as show:
        return simulate(study, setting, results, count, on_progress=show)


def _film(study: "RecoveryStudy", results: "Results") -> list[str]:
    """Film the best recoveries, if this machine can."""
    from adapt.suite.videos import best_scenes, film_scenes

    try:
        return film_scenes(study, best_scenes(results, _VIDEOS), say=console.print)
    except RenderingError as error:
        console.print(f"note: no videos, because {error}")
        return []
