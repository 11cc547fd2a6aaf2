"""`surefoot mission`."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapt.mission.mission import EPISODES
from adapt.self_model.twin import RefinementSettings
from surefoot.commands.console import (
    AnyPath,
    Number,
    Positive,
    RepertoireFile,
    Whole,
    check_different,
    console,
    print_rendering_note,
    seed_option,
    threads_option,
)

if TYPE_CHECKING:
    from adapt.mission.simulated import SimulatedWorld


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--goal",
    "goals",
    multiple=True,
    metavar="X,Y",
    help="A place to reach [m], x ahead and y to the left of the start; several are reached in turn.  "
    "[default: walk ahead]",
)
@click.option(
    "--break",
    "changes",
    multiple=True,
    metavar="DAMAGE@SECONDS",
    help="What breaks, and when, e.g. left_front:lost@20, or repaired@40. The robot is not told.",
)
@click.option(
    "--seconds",
    type=Number(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="How long the mission may take.",
)
@click.option(
    "--within",
    type=Number(min=0, min_open=True),
    default=0.25,
    show_default=True,
    help="Distance at which a goal is reached [m].",
)
@click.option(
    "--selector",
    metavar="NAME",
    help="What finds out what is wrong, see `surefoot recover`.  [default: self-model]",
)
@click.option("--rehearsal", type=AnyPath, metavar="TABLE", help="[default: FILE-rehearsal if it is there]")
@click.option(
    "--think-episodes",
    type=Positive,
    default=EPISODES,
    show_default=True,
    help="Episodes that self-model simulates after each trial, while the mission's clock runs.",
)
@click.option(
    "--refine",
    type=Whole(min=0),
    default=RefinementSettings.episodes,
    show_default=True,
    help="Episodes of a search for a better gait while the robot walks; 0 for none.",
)
@click.option(
    "--cores",
    type=Positive,
    default=2,
    show_default=True,
    help="Cores that the robot thinks with, each of which simulates 20,000 control steps a second.",
)
@seed_option("all random numbers")
@click.option(
    "--log",
    type=AnyPath,
    help="Write every event and all poses to this file, lines of JSON that `surefoot explore` plays.",
)
@click.option("--plot", type=AnyPath, help="Draw the path and the timeline to this .png.")
@click.option("--video", type=AnyPath, help="Film it to this .mp4 or .gif, with a map.")
@click.option("--overwrite", is_flag=True, help="Replace these files.")
@threads_option
def mission(
    file: Path,
    goals: tuple[str, ...],
    changes: tuple[str, ...],
    seconds: float,
    within: float,
    selector: str | None,
    rehearsal: Path | None,
    think_episodes: int,
    refine: int,
    cores: int,
    seed: int,
    log: Path | None,
    plot: Path | None,
    video: Path | None,
    overwrite: bool,
    threads: int | None,
) -> None:
    """Send the robot of the repertoire FILE to goals while things break.

    There is one simulation without resets. The robot notices that something is wrong, finds out
    what, and walks on with what works.
    """
    import surefoot
    from adapt.mission.events import header
    from adapt.mission.film import filmed
    from adapt.mission.plots import draw_mission
    from adapt.mission.poses import PoseRecorder
    from repertoire.storage.repertoires import fingerprint
    from surefoot.resuming import check_output

    check_different(file, log, plot, video)
    for path in filter(None, (log, plot, video)):
        check_output(file, path, overwrite)
    with ExitStack() as stack:
        add, recorder = None, PoseRecorder()

        def on_step(world: "SimulatedWorld") -> None:
            if add:
                add(world, made.latest)
            if log:
                recorder(world)

        made = surefoot.Mission(
            file,
            goals=goals,
            changes=changes,
            seconds=seconds,
            within=within,
            rehearsal=rehearsal,
            selector=selector,
            episodes=think_episodes,
            refinement=refine,
            cores=cores,
            seed=seed,
            threads=threads,
            on_step=on_step,
        )
        if video is not None:
            print_rendering_note()
            add = stack.enter_context(filmed(made.plan, video))
        lines = None if log is None else stack.enter_context(log.open("w", encoding="utf-8"))
        if lines:
            facts = {"robot": made.repertoire.robot.name, "repertoire": fingerprint(made.repertoire)}
            asked = {"goals": made.plan.goals, "changes": changes, "seconds": seconds, "within": within}
            ways = {"think_episodes": think_episodes, "refine": refine, "cores": cores, "seed": seed}
            lines.write(header({**facts, **asked, **ways, "selector": selector}) + "\n")
        console.print(f"each of {len(made.repertoire):,} gaits is simulated first, on the whole robot")
        events = []
        for event in made:
            events.append(event)
            console.print(f"{event.time:6.1f} s  {event.words}")
            if lines:
                lines.writelines(f"{line}\n" for line in (*recorder.lines(), event.line()))
                lines.flush()  # so that a log that is cut off can be read
    if plot is not None:
        draw_mission(events, made.plan, f"{made.repertoire.robot.name}: {made.result.words}", plot)
    for path in filter(None, (log, plot, video)):
        console.print(f"saved {path}")
