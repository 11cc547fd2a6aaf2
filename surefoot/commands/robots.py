"""`surefoot robots`."""

from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, console, print_rendering_note


@click.command()
@click.argument("name", required=False)
@click.option("--picture", type=AnyPath, help="Draw the robot NAME to this PNG.")
@click.option(
    "--check",
    is_flag=True,
    help="Try the robot NAME out, say what looks wrong, and draw it next to its YAML.",
)
@click.option(
    "--draft", type=AnyPath, metavar="XML", help="Write a first YAML for this MJCF, into its folder."
)
@click.option("--overwrite", is_flag=True, help="Replace the YAML that --draft writes if it is there.")
def robots(name: str | None, picture: Path | None, check: bool, draft: Path | None, overwrite: bool) -> None:
    """List the robots that come with the package, or print the facts of the robot NAME.

    NAME may also be the path of the YAML of your own robot: see docs/tutorials/own-robot.md.
    """
    if draft is not None:
        if name is not None or check or picture is not None:
            raise click.UsageError("--draft writes a YAML and does nothing else: leave out the rest")
        _draft(draft, overwrite)
    elif overwrite:
        raise click.UsageError("--overwrite belongs to --draft")
    elif name is not None:
        _show(name, picture, check)
    elif picture is not None or check:
        what, option = ("check", "--check") if check else ("draw", "--picture FILE.png")
        raise click.UsageError(f"say which robot to {what}: surefoot robots NAME {option}")
    else:
        _list()


def _list() -> None:
    """Two lines a robot."""
    from robots.catalogue import robot_names
    from robots.facts import size_words
    from robots.robot import load_robot

    for name in robot_names():
        robot = load_robot(name)
        console.print(f"{name:<16} {robot.description.title}")
        console.print(f"{'':<16} {size_words(robot)}")


def _draft(path: Path, overwrite: bool) -> None:
    """Write a first YAML."""
    from robots.importing.draft import draft_robot

    draft = draft_robot(path, overwrite=overwrite)
    _print_facts(draft.choices)
    for remark in draft.remarks:
        console.print(f"note: {remark}")
    console.print(f"written to {draft.path}: look through it, and then: surefoot robots {draft.path} --check")


def _show(name: str, picture: Path | None, check: bool) -> None:
    """Print a robot's facts, try it out and draw it."""
    from robots.catalogue import robot_names
    from robots.facts import robot_facts
    from robots.rendering.pictures import check_picture
    from robots.robot import find_robot

    robot = find_robot(name)
    if check and picture is None and name not in robot_names():
        picture = Path(name).with_suffix(".png")
    if picture is not None:
        check_picture(picture)
    _print_facts(robot_facts(robot))
    if check:
        _check(robot)
    if picture is not None:
        _draw(robot, picture)


def _check(robot: Any) -> None:
    """Say what there is to say about a robot beyond its description."""
    from robots.importing.checks import check_robot

    findings = check_robot(robot)
    _print_facts(findings.facts)
    for remark in findings.remarks:
        console.print(f"note: {remark}")
    if not findings.remarks:
        console.print("nothing looks wrong")


def _print_facts(facts: dict[str, list[str]]) -> None:
    """Print facts, each under its name."""
    for name, lines in facts.items():
        for number, line in enumerate(lines):
            console.print(f"{'' if number else name:<16} {line}")


def _draw(robot: Any, picture: Path) -> None:
    """Draw a robot."""
    from robots.rendering.pictures import draw_robot

    draw_robot(robot, picture)
    print_rendering_note()
    console.print(f"drawn to {picture}")
