"""`surefoot suite mission`."""

from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, Names, Number, Positive, RepertoireFile, Whole
from surefoot.commands.studies import run_study, study_options


@click.command("mission")
@click.argument("file", type=RepertoireFile)
@click.option("--rehearsal", type=AnyPath, help="Its rehearsal.  [default: FILE-rehearsal if it is there]")
@click.option(
    "--damages", type=AnyPath, help="YAML list of damages.  [default: legs lost and dead, pairs lost]"
)
@click.option("--tasks", type=Names(), help="Tasks, of goal,distance,rule,watch,hours.  [default: all]")
@click.option(
    "--worlds",
    type=Names(),
    help="Robots, of nominal,gap: that of the model, and ones that differ from it.  [default: both]",
)
@click.option("--goal", type=Number(min=0, min_open=True), help="Distance of the goal [m].  [default: 5]")
@click.option(
    "--within",
    type=Number(min=0, min_open=True),
    help="Distance at which the goal is reached [m].  [default: 0.25]",
)
@click.option(
    "--refine",
    "refinement",
    type=Whole(min=0),
    help="Episodes of each search for a better gait, 0 for none.  [default: 800]",
)
@click.option("--max-falls", type=Positive, help="Falls until a robot is damped.  [default: 3]")
@click.option("--seeds", type=Positive, help="Missions of each kind with each damage.  [default: 3]")
@study_options("mission")
def mission_suite(file: Path, rehearsal: Path | None, damages: Path | None, **options: Any) -> None:
    """Break the robot of the repertoire FILE on its way, and measure what becomes of its missions.

    Tasks: to a goal, as far as it gets in two minutes, HexaHeal's rule, what the monitor notices of damage
    in 20 s, and false alarms in an hour without any. A mission is compared with robots that are told at once
    what broke, that walk on as if nothing had, or that stay with the old gait.
    """
    from adapt.damage.text import read_damages
    from adapt.selectors.catalogue import find_table
    from repertoire.storage.repertoires import read_repertoire
    from suites.mission.suite import MissionSuite

    repertoire = read_repertoire(file)
    library, _ = find_table(repertoire, file, None, rehearsal)
    names = ("tasks", "worlds", "goal", "within", "refinement", "max_falls", "seeds", "seed")
    given = {name: options.pop(name) for name in names}
    suite = MissionSuite(
        repertoire=repertoire,
        library=library,
        damages=tuple(read_damages(damages, repertoire.robot)) if damages else None,
        **{name: value for name, value in given.items() if value is not None},
    )
    run_study(suite, **options)
