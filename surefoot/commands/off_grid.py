"""`surefoot suite off-grid`."""

from pathlib import Path

import click

from surefoot.commands.console import (
    AnyPath,
    Names,
    Positive,
    RepertoireFile,
    cluster_options,
    console,
    seed_option,
    threads_option,
)

BENCHMARK_SEED = 4


@click.command("off-grid")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="The library, a rehearsal.  [default: FILE-rehearsal]")
@click.option(
    "--track", default="T4", show_default=True, help="T4, T4-left-out, T4-gap or T3-pairs, see the docs."
)
@click.option("--selectors", type=Names(), help="To compare.  [default: self-model,rehearsed]")
@click.option("--faults", type=Positive, default=60, show_default=True, help="Number of random faults.")
@click.option("--trials", type=Positive, default=10, show_default=True, help="Trials of each recovery.")
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
@seed_option(BENCHMARK_SEED, "the faults, trials and selectors")
@click.option(
    "--out", type=AnyPath, default=Path("studies/off-grid"), show_default=True, help="Folder of the study."
)
@threads_option
@cluster_options
def off_grid(
    file: Path,
    rehearsal: Path | None,
    track: str,
    selectors: tuple[str, ...] | None,
    faults: int,
    trials: int,
    think: float | None,
    think_episodes: int,
    seed: int,
    out: Path,
    threads: int | None,
) -> None:
    """Recover from random faults that no library lists, with every trial simulated.

    The seed 4 is that of the benchmark; take another one, such as 40, for faults to tune selectors on.
    Each fault is kept once all selectors recovered from it: the same command goes on after an interruption.
    """
    from adapt.rehearsal.storage import find_table
    from adapt.suite.off_grid import OffGridSettings, OffGridStudy, off_grid_report
    from repertoire.storage.repertoires import read_repertoire
    from robots.files import write_text

    repertoire = read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    settings = OffGridSettings(
        track=track,
        faults=faults,
        selectors=selectors or OffGridSettings.selectors,
        trials=trials,
        seed=seed,
        think_seconds=think,
        think_episodes=None if think else think_episodes,
    )
    study = OffGridStudy(repertoire, library, settings, out, threads=threads)
    recoveries = study.run(lambda number, text: console.print(f"fault {number + 1} of {faults}: {text}"))
    recoveries.to_csv(out / "recoveries.csv", index=False)
    report = off_grid_report(recoveries)
    title = (
        f"# {study.track.name}: {study.track.title}\n\n{repertoire.robot.description.title}, {faults} faults"
    )
    write_text(out / "report.md", f"{title}\n\n{report}\n")
    console.print(report)
    console.print(f"saved {out / 'report.md'}")
