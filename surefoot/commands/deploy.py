"""`surefoot deploy`."""

from pathlib import Path
from typing import Any

import click

import surefoot
from repertoire.repertoire import Which
from robots.task.command import parse_command
from surefoot.commands.console import (
    AnyPath,
    Number,
    RepertoireFile,
    check_different,
    console,
    gait_options,
    print_rendering_note,
    seed_option,
)
from surefoot.printing import note as print_note
from surefoot.shipped import chosen


@click.command()
@click.argument("file", type=RepertoireFile)
@gait_options("deploy")
@click.option(
    "--damage", metavar="DAMAGE", help="Break the robot first, e.g. front_left:lost; see `surefoot damages`."
)
@click.option(
    "--command",
    metavar="SPEED,TURN",
    help="Only for robots that follow a command: speed ahead [m/s] and turn to the left [rad/s].  [default: "
    "drawn from the ranges of the training]",
)
@click.option(
    "--seconds",
    type=Number(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Length of the run [s of simulated time].",
)
@seed_option("the episode's random numbers")
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif.")
@click.option("--csv", type=AnyPath, help="Write its telemetry to this .csv.")
@click.option("--mcap", type=AnyPath, help="Write its telemetry to this .mcap, for Foxglove and Rerun.")
@click.option(
    "--robot", "address", metavar="ADDRESS", help="Deploy it on the robot at this address, tcp://HOST:PORT."
)
@click.option("--keys", type=AnyPath, metavar="FOLDER", help="Keys of the link to --robot, if it has any.")
def deploy(
    file: Path,
    gait: Which,
    command: str | None,
    video: Path | None,
    csv: Path | None,
    mcap: Path | None,
    address: str | None,
    keys: Path | None,
    **options: Any,
) -> None:
    """Run one gait of the repertoire FILE on the intact or damaged robot."""
    from robots.rendering.video import check_video

    check_different(file, csv, video, mcap)
    told = None if command is None else parse_command(command)
    if address is not None:
        if options["damage"] is not None or video is not None:
            raise click.UsageError("--damage and --video are of a simulation: leave them out with --robot")
        known = {"keys": keys, "csv": csv, "mcap": mcap, "seconds": options["seconds"]}
        console.print(surefoot.drive(file, gait, robot=address, command=told, **known))
        return
    if keys is not None:
        raise click.UsageError("--keys are of the link to a robot: name one with --robot")
    repertoire, row, note = chosen(file, gait)
    if video is not None:
        check_video(video)
        print_rendering_note()
        console.print(
            f"filming {options['seconds']:g} s of the run: this takes some seconds (minutes without OpenGL)"
        )
    telemetry = surefoot.deploy(repertoire, row, command=told, **options, video=video, csv=csv, mcap=mcap)
    if note:
        print_note(note)
    console.print(telemetry.summary())
    for path in filter(None, (csv, mcap, video)):
        console.print(f"saved {path}")
