"""`surefoot mission`."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

import surefoot
from adapt.requests import MissionRequest
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    check_different,
    console,
    print_rendering_note,
    rehearsal_option,
    threads_option,
)
from surefoot.commands.options import request_options, setting_option
from surefoot.resuming import locked_output


@click.command()
@click.argument("file", type=RepertoireFile)
@rehearsal_option
@request_options(
    MissionRequest,
    goals=setting_option(MissionRequest, "goals", flag="--goal", repeated="X,Y"),
    changes=setting_option(MissionRequest, "changes", flag="--break", repeated="DAMAGE@SECONDS"),
)
@click.option(
    "--log",
    type=AnyPath,
    help="Write every event and all poses to this file, lines of JSON that `surefoot explore` plays.",
)
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif, with a map.")
@click.option(
    "--robot", "address", metavar="ADDRESS", help="Walk with the robot at this address, tcp://HOST:PORT."
)
@click.option("--keys", type=AnyPath, metavar="FOLDER", help="Keys of the link to --robot, if it has any.")
@click.option("--mcap", type=AnyPath, help="Write what --robot tells to this .mcap, for Foxglove and Rerun.")
@click.option("--overwrite", is_flag=True, help="Replace these files.")
@threads_option
def mission(
    file: Path,
    request: MissionRequest,
    log: Path | None,
    video: Path | None,
    address: str | None,
    keys: Path | None,
    mcap: Path | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Send the robot of the repertoire FILE to goals while things break.

    The robot walks in one simulation without resets, or behind a link with --robot. It notices that
    something is wrong, finds out what, and walks on with what works.
    """
    from adapt.mission.film import filmed
    from robots.link.driving import DrivenStep
    from robots.link.telemetry import McapLog, Reading
    from robots.rendering.video import check_video

    if address is None and (keys or mcap):
        raise click.UsageError("--keys and --mcap are of a link to a robot: name one with --robot")
    if address is not None and (request.changes or video):
        raise click.UsageError(
            "--break and --video are of a simulation: leave them out with --robot, and see "
            "`surefoot robot --break`"
        )
    check_different(file, log, video, mcap)
    if video is not None:
        check_video(video)
    written = {"log": log, "video": video, "mcap": mcap}
    for name, path in written.items():
        if path is not None:
            click.get_current_context().with_resource(locked_output(file, path, overwrite, name))
    with ExitStack() as stack:
        add, telemetry = None, None

        def on_step(world: Any) -> None:
            if add:
                add(world, made.latest)
            if telemetry:
                telemetry.write(Reading.of(DrivenStep(world.steps, world.seen.state, world.seen.told)))

        options |= {"robot": address, "keys": keys, "log": log, "on_step": on_step, "say": console.print}
        made = surefoot.Mission(file, **dict(request), **options)
        walking = stack.enter_context(closing(made.__iter__()))
        if video is not None:
            print_rendering_note()
            add = stack.enter_context(filmed(request, made.repertoire.robot, video))
        if mcap is not None:
            names = made.repertoire.robot.description.joints, tuple(made.repertoire.robot.description.feet)
            telemetry = stack.enter_context(McapLog(mcap, *names, gait="mission"))
        console.print(f"each of {len(made.repertoire):,} gaits is simulated first, on the whole robot")
        for event in walking:
            console.print(f"{event.time:6.1f} s  {event.words}")
    if made.linked is not None:
        console.print(made.linked.words)
    for path in filter(None, written.values()):
        console.print(f"saved {path}")
