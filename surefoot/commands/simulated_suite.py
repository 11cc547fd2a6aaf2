"""`surefoot suite recovery-simulated`."""

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


@click.command("recovery-simulated")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="The library, a rehearsal.  [default: FILE-rehearsal]")
@click.option(
    "--track",
    default="T4",
    show_default=True,
    help="One of `suite recovery`, or T3-pairs, T4, T4-left-out or T4-gap, see the docs.",
)
@click.option("--selectors", type=Names(), help="To compare.  [default: self-model,rehearsed]")
@click.option(
    "--faults", type=Positive, help="Number of faults.  [default: 60 random ones, or all that are listed]"
)
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
@seed_option(5, "the faults, trials and selectors")
@click.option(
    "--out",
    type=AnyPath,
    default=Path("studies/recovery-simulated"),
    show_default=True,
    help="Folder of the study.",
)
@threads_option
@cluster_options
def recovery_simulated(
    file: Path,
    rehearsal: Path | None,
    track: str,
    selectors: tuple[str, ...] | None,
    faults: int | None,
    trials: int,
    think: float | None,
    think_episodes: int,
    seed: int,
    out: Path,
    threads: int | None,
) -> None:
    """Recover from faults with every trial simulated, as selectors that think between trials need it.

    Random faults of the seed 5 are those of the benchmark; take another one, such as 40, to tune selectors.
    Each fault is kept once all selectors recovered from it: the same command goes on after an interruption.
    """
    from adapt.selectors.catalogue import find_table
    from repertoire.storage.repertoires import read_repertoire
    from robots.files.atomic import write_text
    from suites.recovery.simulated_report import simulated_report
    from suites.recovery.simulated_study import SimulatedSettings, SimulatedStudy

    repertoire = read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    settings = SimulatedSettings(
        track=track,
        faults=faults,
        selectors=selectors or SimulatedSettings.selectors,
        trials=trials,
        seed=seed,
        think_seconds=think,
        think_episodes=None if think else think_episodes,
    )
    study = SimulatedStudy(repertoire, library, settings, out, threads=threads)
    count = len(study.faults)
    recoveries = study.run(lambda number, text: console.print(f"fault {number + 1} of {count}: {text}"))
    write_text(out / "recoveries.csv", recoveries.to_csv(index=False, float_format="%.4f"))
    report = simulated_report(study, recoveries)
    write_text(out / "report.md", report)
    console.print(report)
    console.print(f"saved {out / 'report.md'}")
