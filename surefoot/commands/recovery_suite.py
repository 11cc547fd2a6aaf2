"""`surefoot suite recovery`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from adapt.requests import RecoveryRequest
from suites.requests import RECOVERIES
from surefoot.commands.console import AnyPath, Names, Number, Positive, RepertoireFile
from surefoot.commands.options import request_options
from surefoot.commands.studies import run_study, study_options


@click.command("recovery")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="The library, a rehearsal.  [default: FILE-rehearsal]")
@click.option(
    "--elites", "elites_only", is_flag=True, help="Choose among the elites, without the specialists."
)
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
@click.option("--seeds", type=Positive, help="Recoveries from each fault with each selector.  [default: 10]")
@click.option(
    "--noise",
    type=(Number(min=0), Number(min=0)),
    metavar="SHARE AMOUNT",
    help="Standard deviations of a trial's noise: as a share of the objective, and in its units.  "
    "[default: 0.05 0.02]",
)
@request_options(RECOVERIES, "trials", "think", "think_episodes", "refine", "objective")
@study_options("recovery", simulated=True, filmed="the best recoveries")
def recovery(
    file: Path,
    rehearsal: Path | None,
    elites_only: bool,
    damages: Path | None,
    selectors: tuple[str, ...] | None,
    tracks: tuple[str, ...] | None,
    request: RecoveryRequest,
    **options: Any,
) -> None:
    """Break the robot of the repertoire FILE in many ways, and compare how selectors recover.

    Every trial is simulated. The seed also decides which random faults there are; selectors were tuned on
    those of the seeds 4, 40 and 41.
    """
    from adapt.damage.text import read_damages
    from adapt.selectors.catalogue import find_table
    from repertoire.storage.repertoires import read_repertoire
    from suites.recovery.suite import RecoverySuite, default_selectors
    from suites.recovery.tracks import find_tracks

    chosen, repertoire = find_tracks(tracks), read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    if elites_only:
        library = library and library.first(len(repertoire.elites))
        repertoire = replace(repertoire, specialists=None)
    given = {name: options.pop(name) for name in ("faults", "seeds", "noise", "seed")}
    suite = RecoverySuite(
        repertoire=repertoire,
        library=library,
        tracks=chosen,
        request=request,
        selectors=selectors or default_selectors(),
        damages=tuple(read_damages(damages, repertoire.robot)) if damages else None,
        **{name: value for name, value in given.items() if value is not None},
    )
    run_study(suite, **options)
