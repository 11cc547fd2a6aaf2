"""`surefoot suite recovery`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from robots.errors import InvalidFileError, InvalidValueError, RenderingError
from surefoot.commands.console import AnyPath, Names, Number, Positive, RepertoireFile, console
from surefoot.commands.progress import ProgressBar, interrupt_flag

_SCENES = 3  # to film
_SIMULATED = ("rehearsed", "map-bo")


class TrialNoise(click.ParamType):
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
@click.option("--rehearsal", type=AnyPath, help="The library.  [default: FILE-rehearsal]")
@click.option("--damages", type=AnyPath, metavar="YAML", help="What to break.  [default: the robot's list]")
@click.option("--selectors", type=Names(), help="Fewer.  [default: all but the oracle]")
@click.option("--tracks", type=Names(), help="Fewer, e.g. T0,T3.  [default: all]")
@click.option("--seeds", type=Positive, default=10, show_default=True, help="Recoveries from each damage.")
@click.option("--trials", type=Positive, default=20, show_default=True, help="Of each recovery.")
@click.option("--episodes", type=Positive, default=2, show_default=True, help="Of each gait, twice over.")
@click.option("--gaps", type=Positive, default=4, show_default=True, help="Robots unlike the rehearsed one.")
@click.option(
    "--noise",
    type=TrialNoise(),
    default="0.05,0.02",
    show_default=True,
    help="Of a trial: a share of the objective, and an amount.",
)
@click.option(
    "--simulate", type=click.IntRange(min=0), default=0, show_default=True, help="Recoveries to simulate too."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--processes", type=Positive, help="Cores to use.  [default: all]")
@click.option("--videos/--no-videos", default=True, help="Whether to film the best recoveries.")
@click.option("--dry-run", is_flag=True, help="Only say how long it will take.")
@click.option("--out", type=AnyPath, default=Path("studies/recovery"), show_default=True)
def recovery(file: Path, **options: Any) -> None:
    """Break the robot of the repertoire FILE in many ways, and compare how selectors recover.

    Every gait first runs under every damage. This takes long, and goes on where it was stopped by the same
    command; all recoveries are then replayed from what was found.
    """
    from adapt.suite.replay import Noise
    from adapt.suite.replays import replay_all
    from adapt.suite.schedule import find_selectors
    from adapt.suite.tracks import TRACKS, find_tracks
    from robots.simulation.simulation import available_cores

    tracks = find_tracks(options["tracks"] or [track.name for track in TRACKS])
    selectors = find_selectors(options["selectors"])
    cores, gap = options["processes"] or available_cores(), any(track.gap for track in tracks)
    bench = _open(file, options, cores)
    _announce(bench, tracks, selectors, options, cores)
    if options["dry_run"] or not _make_tables(bench, gap):
        return
    console.print("oracles: the best gait under each damage, among finalists")
    arena = bench.arena(
        gap=gap, trials=options["trials"], seeds=options["seeds"], noise=Noise(*options["noise"])
    )
    name = bench.repertoire.robot.name
    with ProgressBar("replays") as show:
        results = replay_all(
            arena, robot=name, tracks=tracks, selectors=selectors, processes=cores, on_progress=show
        )
    _report(bench, arena, results, options, cores)


def _open(file: Path, options: dict[str, Any], cores: int) -> Any:
    """The benchmark of a repertoire, the library that was rehearsed, and the settings."""
    from adapt.rehearsal.storage import read_table
    from adapt.suite.damages import check_damages
    from adapt.suite.study import Benchmark, BenchmarkSettings
    from repertoire.storage.repertoires import read_repertoire
    from robots.files import file_exists

    repertoire = read_repertoire(file)
    if options["trials"] > len(repertoire):
        raise InvalidValueError(
            f"--trials must be at most the {len(repertoire)} gaits of the repertoire, not {options['trials']}"
        )
    path = options["rehearsal"] or file.with_name(f"{file.stem}-rehearsal{file.suffix}")
    if not file_exists(path):
        raise InvalidFileError(
            f"there is no rehearsal {path}: make one with surefoot rehearse {file}, or use --rehearsal"
        )
    library = read_table(path, repertoire)
    damages = check_damages(_damages(options["damages"], repertoire.robot))
    chosen = {name: options[name] for name in ("episodes", "gaps", "seed")}
    settings = BenchmarkSettings(damages, **chosen)
    dry = options["dry_run"]
    return Benchmark(repertoire, library, settings, options["out"], threads=cores, dry=dry)


def _damages(listed: Path | None, robot: Any) -> list[Any]:
    """The damages to put to the test."""
    from adapt.damage.text import read_damages
    from adapt.suite.damages import damage_file, default_damages

    path = listed or damage_file(robot)
    return read_damages(path, robot) if path else default_damages(robot)


def _announce(
    bench: Any, tracks: Sequence[Any], selectors: Sequence[str], options: dict[str, Any], cores: int
) -> None:
    """Say what will be done, and how long it will take."""
    from adapt.suite.estimate import replay_seconds
    from repertoire.suites.report import duration

    gaits, damages = len(bench.repertoire), len(bench.settings.damages)
    waiting = bench.waiting(gap=any(track.gap for track in tracks))
    seconds = bench.seconds_left(waiting)
    for plan in waiting:
        work = f"{1 + len(plan.damages)} conditions x {gaits:,} gaits x {plan.episodes} episodes"
        console.print(f"table {plan.name}: {work}, {duration(seconds[plan.name])}")
    replays = replay_seconds(
        bench.prior,
        bench.library,
        tracks=tracks,
        selectors=selectors,
        damages=damages,
        trials=options["trials"],
        seeds=options["seeds"],
        processes=cores,
    )
    work = (
        f"{damages} damages x {len(selectors)} selectors x {options['seeds']} seeds in {len(tracks)} tracks"
    )
    console.print(f"replays: {work}, {duration(replays)}")
    total = duration(sum(seconds.values()) + replays)
    console.print(f"in all {total} on {cores} {'core' if cores == 1 else 'cores'}")


def _make_tables(bench: Any, gap: bool) -> bool:
    """Make the tables that are missing; whether all are made."""
    for plan in bench.waiting(gap=gap):
        console.print(f"table {plan.name}")
        with (
            interrupt_flag() as interrupted,
            ProgressBar("episodes", plan.total(len(bench.repertoire))) as show,
        ):
            table = bench.make(plan, on_progress=show, stop=interrupted)
        if table is None:
            console.print("Stopped. What is done is saved: go on with the same command.")
            return False
    return True


def _report(bench: Any, arena: Any, results: Any, options: dict[str, Any], cores: int) -> None:
    """Simulate and film what was asked for, and write the report."""
    from adapt.suite.notes import run_notes
    from adapt.suite.report import write_report

    simulated = _simulate(bench, arena, results, options["simulate"], cores)
    videos = _film(bench.repertoire, results, options["out"]) if options["videos"] else []
    notes = run_notes(bench, arena, results.selectors)
    for path in write_report(results, options["out"], notes=notes, simulated=simulated, videos=videos):
        console.print(f"saved {path}")


def _simulate(bench: Any, arena: Any, results: Any, count: int, cores: int) -> list[Any]:
    """Run some recoveries on the simulated robot, with the two selectors that matter most."""
    from adapt.suite.simulated import simulate

    track, found = _shown_track(results), []
    for name in _SIMULATED if count and track else ():
        if name in results.selectors:
            with ProgressBar(f"simulated with {name}") as show:
                found += simulate(
                    bench.repertoire,
                    bench.settings.damages,
                    arena,
                    results,
                    track,
                    name,
                    count=count,
                    threads=cores,
                    on_done=lambda done: show(done / count),
                )
    return found


def _film(repertoire: Any, results: Any, out: Path) -> list[str]:
    """Film the recoveries that gained most."""
    from adapt.suite.videos import best_scenes, film_scenes

    track = _shown_track(results)
    if track is None:
        return []
    name = _SIMULATED[0] if _SIMULATED[0] in results.selectors else results.selectors[0]
    try:
        scenes = best_scenes(results, track, name, _SCENES)
        return film_scenes(repertoire, scenes, out, say=console.print)
    except RenderingError as error:
        console.print(f"note: no videos, since {error}")
        return []


def _shown_track(results: Any) -> Any:
    """The hardest track with the rehearsed robot that ran: the last but for the hostile library."""
    tracks = [track for track in results.tracks if not track.gap]
    return next((track for track in tracks if track.name == "T3"), tracks[-1] if tracks else None)
